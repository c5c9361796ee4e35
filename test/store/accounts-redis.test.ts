/** Leases on accounts over a real Redis: schedulers and APIs never use one at once. */
import { afterAll, afterEach, expect, it } from "vitest";
import { keyRingOf, newKeyLine } from "../../store/sealing/keys.ts";
import { sealingWith } from "../../store/sealing/sealing.ts";
import type { OpenAccountLeases } from "../../store/state/accounts.ts";
import type { CheckReply, OneOffCheck } from "../../store/state/checks.ts";
import { openAccountLeases, openCheckServer, openChecks } from "../../store/state/open.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startRedis } from "../servers/redis.ts";
import { eventually } from "../service.ts";

const server = await startRedis();
afterAll(async () => {
  if (!isMissing(server)) await server.stop();
});

const KEEP_MS = 60_000;
const CHECK: OneOffCheck = {
  kind: "openconnect",
  settings: {},
  host: "vpn.test-site.org",
  identity: "ada",
  timeoutMs: 5_000,
  organizationId: 1,
};

withServer("Redis", server, (running) => {
  const closing: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of closing.splice(0).reverse()) await one.close();
  });

  async function leases(): Promise<OpenAccountLeases> {
    const one = await openAccountLeases({ url: running.url });
    closing.push(one);
    return one;
  }

  it("are held by one use, renewed and released by it alone, and run out", async () => {
    const [a, b] = [await leases(), await leases()];
    expect(await a.hold("one", "a", KEEP_MS)).toBe(true);
    expect(await b.hold("one", "b", KEEP_MS)).toBe(false);
    expect(await b.hold("two", "b", KEEP_MS)).toBe(true);
    await b.release("one", "b");
    expect(await b.hold("one", "b", KEEP_MS)).toBe(false);
    // Renewed for a moment only.
    expect(await a.hold("one", "a", 20)).toBe(true);
    await eventually(async () => ((await b.hold("one", "b", KEEP_MS)) ? true : undefined));
    await a.release("one", "a");
    expect(await a.hold("one", "a", KEEP_MS)).toBe(false);
    await b.release("one", "b");
    expect(await a.hold("one", "a", KEEP_MS)).toBe(true);
  });

  it("keep a one-off check of one API from that of another, and from a scheduler's", async () => {
    const sealing = sealingWith(keyRingOf([newKeyLine()]));
    const reply: CheckReply = {
      type: "measured",
      result: { verdict: "ok", startedAtMs: 1, latencyMs: 1, connectMs: 1, peerAnswered: true, message: null },
    };
    let runningNow = 0;
    let most = 0;
    const end: (() => void)[] = [];
    const checker = await openCheckServer({ url: running.url }, sealing, {
      location: "any",
      room: { api: 10, public: 10 },
      async take() {
        runningNow += 1;
        most = Math.max(most, runningNow);
        await new Promise<void>((resolve) => end.push(resolve));
        runningNow -= 1;
        return reply;
      },
    });
    closing.push(checker);
    const apis = [
      await openChecks({ url: running.url }, () => sealing),
      await openChecks({ url: running.url }, () => sealing),
    ];
    closing.push(...apis);
    const scheduler = await leases();
    const answers = apis.map((api) => api.ask("api", "any", CHECK));
    const other = apis[0]?.ask("api", "any", { ...CHECK, identity: "bob" });
    // One of ada's, and bob's.
    await eventually(async () => (runningNow === 2 ? true : undefined));
    expect(await scheduler.hold("ada", "turn", KEEP_MS)).toBe(false);
    for (let ended = 0; ended < 3; ended += 1) {
      await eventually(async () => (end.length > 0 ? true : undefined));
      end.shift()?.();
    }
    expect(await Promise.all([...answers, other])).toEqual([reply, reply, reply]);
    expect(most).toBe(2);
    expect(await scheduler.hold("ada", "turn", KEEP_MS)).toBe(true);
  });
});
