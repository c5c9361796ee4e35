import { defineConfig } from "vitest/config";
import { LongestFirst } from "./testkit/longest-first.ts";

/** Starves itself with two busy loops and then judges: nothing of ours is beside it. */
const STARVED = ["test/faults/freeze.test.ts"];
/** Judge what a cut-off machine says of healthy targets, and wait most of their time: beside them only what gives way to them. */
const CUT_OFF = ["test/faults/{cut-network,roles-*}.test.ts"];
/** Wait for schedules, time-outs and processes that come and go for a third of their time or more. */
const PATIENT = [
  "test/{contract/stores,fuzz/fuzz,pool}.test.ts",
  "test/e2e/{bulk,locations,subscriptions-embedded,systemd-units,terminal,tunnels,uptime-*,webhooks}.test.ts",
  "test/faults/{disk-full,sink-crash,stores,webhooks}.test.ts",
];
/** Put modules of their own in the place of ours, or failed beside many others (the embedded ClickHouse runs at a low priority): they share nothing. */
const ALONE = [
  "test/store/results-faults.test.ts",
  "test/lab/core-network.test.ts",
  "engine/transport/native-exchange.test.ts",
];
const ROOMS = "{roles,model,native,engine,store,scheduler,checker,api,cli,demo,bench,testkit,web}";

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration from the default export
export default defineConfig({
  test: {
    // Embedded ClickHouse and native modules do not survive the end of a worker thread.
    pool: "forks",
    // No assertion on time: only what hangs ends here, also on a machine that is busy with other things.
    testTimeout: 180_000,
    hookTimeout: 240_000,
    sequence: { sequencer: LongestFirst },
    // Of every project.
    setupFiles: ["testkit/folders-end.ts"],
    // Groups load the same sources: each file is transformed once for all of them, and again when its text changes.
    experimental: { fsModuleCache: true },
    projects: [
      {
        // Beside the code they test: need nothing but their module, share what is loaded, and wait a fourth of their time: one more at a time than cores.
        extends: true,
        test: {
          name: "unit",
          include: [`${ROOMS}/**/*.test.ts`, "*.test.ts"],
          exclude: [...ALONE, "**/node_modules/**"],
          setupFiles: ["testkit/property-seed.ts"],
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Real servers on loopback or in namespaces of their own, and products at work, which wait a third of their time: three at a time on two cores. With four the embedded ClickHouse starves.
        extends: true,
        test: {
          name: "servers",
          include: ["test/**/*.test.ts"],
          exclude: [...STARVED, ...CUT_OFF, ...PATIENT, ...ALONE],
          // Loading what a file imports costs more than many a file: it is loaded once for each worker.
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "alone",
          include: ALONE,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: "starved",
          include: STARVED,
          sequence: { groupOrder: 3 },
        },
      },
      {
        // One file at a time. `npm test` has these and the next ones beside the units, which give way (scripts/test.mjs).
        extends: true,
        test: {
          name: "cut-off",
          include: CUT_OFF,
          fileParallelism: false,
          sequence: { groupOrder: 4 },
        },
      },
      {
        extends: true,
        test: {
          name: "patient",
          include: PATIENT,
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
});
