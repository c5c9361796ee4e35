/** The thread of syncs: one that dies is started again, and what waited is done. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pino } from "pino";
import { afterAll, expect, it, vi } from "vitest";
import { startProvider } from "../engine/subscription/provider-server.suite.ts";
import { PLANS } from "../model/plan.ts";
import { startSyncs } from "../scheduler/subscriptions/start.ts";
import { temporaryFolder } from "../testkit/temporary-folder.ts";
import { cleanUp } from "./service.ts";

const HOLDER = fileURLToPath(new URL("./fixtures/syncs-holder.mjs", import.meta.url));
const WITHIN_MS = 60_000;

afterAll(cleanUp);

it("the thread of syncs is started again when it dies, and ends when it is told to", {
  timeout: WITHIN_MS,
}, async () => {
  const provider = await startProvider();
  provider.answer("/list", "vless://5ec2e700-1111-4222-8333-444455556666@127.0.0.1:9#n");
  const args = [HOLDER, temporaryFolder(), provider.url("/list")];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: WITHIN_MS - 5_000 });
  expect(stdout.trim().split("\n").at(0)).toBe("the thread of syncs has died and is started again");
  expect(stdout.trim().split("\n").at(-1)).toBe("success");
  await provider.close();
});

it("a list that is read without a pause ends its thread, which goes on without that list", {
  timeout: WITHIN_MS,
}, async () => {
  const lines: string[] = [];
  const log = pino({ level: "error" }, { write: (line: string) => void lines.push(line) });
  let asked = 0;
  const syncs = startSyncs({
    isNeeded: async () => ++asked > 1,
    sql: { file: "" },
    notices: { file: "" },
    sealingKeyFile: "",
    engine: { allowNets: [], ownEndpoints: [], resolvers: [], extraCaPem: null, rdapBootstrapUrl: null, canaries: [] },
    plans: PLANS,
    log,
    threadFile: new URL("./fixtures/sync-thread-that-spins.mjs", import.meta.url),
  });
  // The second thread counts the lists that rest.
  await vi.waitFor(async () => expect(await syncs.metrics()).toContain('sonde_syncs_total{outcome="success"} 1'), {
    timeout: WITHIN_MS - 5_000,
    interval: 50,
  });
  // It was not started before it was needed.
  expect(asked).toBe(2);
  expect(await syncs.metrics()).toContain("sonde_sync_thread_ends_total 1");
  expect(await syncs.metrics()).toContain("sonde_lists_resting 1");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { subscription: 8, workspace: 7, tooMuch: "2 s of computing at a stretch" },
    { subscription: 8, workspace: 7, msg: "the thread of syncs has died and is started again" },
  ]);
  await syncs.close();
});
