import { defineConfig } from "vitest/config";

const SERVERS = [
  "test/lab/**/*.test.ts",
  "test/contract/**/*.test.ts",
  "test/store/**/*.test.ts",
  "test/e2e/**/*.test.ts",
  "test/node24.test.ts",
];
const ROOMS = "{model,native,engine,store,scheduler,api,cli,demo,bench}";

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration from the default export
export default defineConfig({
  test: {
    // Embedded ClickHouse and native modules do not survive the end of a worker thread.
    pool: "forks",
    testTimeout: 30_000,
    hookTimeout: 120_000,
    projects: [
      {
        // Beside the code they test: need nothing but their module, and run two at a time.
        extends: true,
        test: {
          name: "unit",
          include: [`${ROOMS}/**/*.test.ts`, "*.test.ts"],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Real servers on loopback or in namespaces of their own, and products at work, which wait more than they do: two at a time.
        extends: true,
        test: {
          name: "servers",
          include: SERVERS,
          maxWorkers: 2,
          retry: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Killed processes, frozen threads and cut networks: one file at a time, so that none disturbs another's judgement.
        extends: true,
        test: {
          name: "system",
          include: ["test/**/*.test.ts"],
          exclude: SERVERS,
          fileParallelism: false,
          // Machines are shared: what a neighbour starved is looked at once more, as we do with targets. Failing twice is failing.
          retry: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
