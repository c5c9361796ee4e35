/** Checks without a scheduler, in real threads of the built files: bounds, accounts, prober deaths, and the end. */
import { existsSync } from "node:fs";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Direct, DirectOptions } from "../engine/direct/direct.ts";
import { openWireguardWorld } from "./command.ts";
import { startTcp, startWebsite } from "./targets.ts";

const DIRECT = new URL("../dist/engine/direct/direct.js", import.meta.url);
const ENGINE: DirectOptions["engine"] = {
  allowNets: ["127.0.0.0/8"],
  ownEndpoints: [],
  resolvers: [],
  extraCaPem: null,
  rdapBootstrapUrl: null,
  canaries: [],
  tunnelTargets: ["icmp:1.1.1.1"],
};

let openDirect: (options: DirectOptions) => Promise<Direct>;
beforeAll(async () => {
  if (!existsSync(DIRECT)) throw new Error("dist is missing: run `npm run build` first");
  ({ openDirect } = await import(DIRECT.href));
});

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
afterAll(() => expect(process.getActiveResourcesInfo()).not.toContain("Worker"));

async function start(concurrency: number, engine = ENGINE): Promise<Direct> {
  const silent = { info: () => {}, warn: () => {}, error: () => {} };
  const onFatal = (error: Error): void => {
    throw error;
  };
  const direct = await openDirect({ engine, workers: 1, concurrency, log: silent, onFatal });
  closers.push(() => direct.close());
  return direct;
}

test("a thousand checks, all answered; never more in flight than may be", async () => {
  const site = await startWebsite();
  closers.push(() => site.close());
  const direct = await start(20);
  let most = 0;
  const checks: Promise<{ readonly verdict: string }>[] = [];
  for (let check = 0; check < 1_000; check++) {
    if (!direct.hasRoom) await direct.room();
    most = Math.max(most, direct.state().running);
    checks.push(direct.check({ kind: "http", settings: { url: site.url }, timeoutMs: 30_000 }));
  }
  const verdicts = (await Promise.all(checks)).map(({ verdict }) => verdict);
  expect(new Set(verdicts)).toEqual(new Set(["ok"]));
  expect(site.requests()).toBe(1_000);
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(20);
  expect(direct.state()).toMatchObject({ running: 0, waiting: 0, undecided: 0 });
});

test("one account is never used twice at once", async () => {
  const world = await openWireguardWorld(2);
  closers.push(() => world.server.close());
  const direct = await start(50);
  const check = (client: number) =>
    direct.check({ kind: "wireguard", settings: { config: world.file(client) }, timeoutMs: 20_000 });
  const same = Array.from({ length: 5 }, () => check(0));
  const other = check(1);
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  expect(direct.state()).toMatchObject({ running: 2, waiting: 4 });
  const outcomes = await Promise.all([...same, other]);
  expect(outcomes.map(({ verdict }) => verdict)).toEqual(Array(6).fill("ok"));
  const [first, second] = outcomes.slice(0, 5).sort((one, two) => one.startedAtMs - two.startedAtMs);
  // Both are whole ms.
  expect((second?.startedAtMs ?? 0) + 1).toBeGreaterThanOrEqual((first?.startedAtMs ?? 0) + (first?.durationMs ?? 0));
});

test("what cannot be checked is told, and a setting that cannot be used refuses the start", async () => {
  const direct = await start(5);
  const [kind, settings] = await Promise.all([
    direct.check({ kind: "push", settings: {}, timeoutMs: 1_000 }),
    direct.check({ kind: "vless", settings: { url: "vless://nope" }, timeoutMs: 1_000 }),
  ]);
  expect(kind).toMatchObject({ verdict: "unsupported" });
  expect(settings).toMatchObject({
    verdict: "misconfigured",
    message: expect.stringContaining("no server after an @"),
  });
  for (const wrong of [
    { allowNets: ["nonsense"] },
    { resolvers: ["x:y:z"] },
    { canaries: ["x"] },
    { tunnelTargets: ["x"] },
  ]) {
    await expect(start(5, { ...ENGINE, ...wrong })).rejects.toThrow(/nonsense|x/);
  }
});

test("closing ends what runs and what waits, and what is asked for afterwards", async () => {
  const held: Socket[] = [];
  const mute = await startTcp((socket) => held.push(socket));
  closers.push(async () => {
    for (const socket of held) socket.destroy();
    await mute.close();
  });
  const direct = await start(2);
  const check = () =>
    direct.check({ kind: "http", settings: { url: `http://127.0.0.1:${mute.port}/` }, timeoutMs: 60_000 });
  const checks = [check(), check(), check()];
  while (held.length < 2) await new Promise((resolve) => setImmediate(resolve));
  const room = direct.room();
  await Promise.all([direct.close(), direct.close()]);
  await room;
  checks.push(check());
  const outcomes = await Promise.all(checks);
  expect(outcomes.map(({ verdict }) => verdict)).toEqual(Array(4).fill("cancelled"));
});
