import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LEASE_MS } from "../../model/lease.ts";
import { RETRY_DELAYS_MS } from "../../model/webhook.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { SENDER_LEASE } from "../../store/sql/coordination/leases-port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { LeaseKeeper } from "../lease.ts";
import { ATTEMPT_MS, type PostOutcome } from "./post.ts";
import { Sender } from "./sender.ts";

const START_MS = 1_795_241_400_000;
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const GOOD: PostOutcome = { statusCode: 200, error: null };

const breathe = (): Promise<void> => new Promise((settled) => setImmediate(settled));

/** An attempt under way: the test says what comes of it. */
interface Attempt {
  readonly url: string;
  readonly id: string;
  end(outcome: PostOutcome): Promise<void>;
}

interface World {
  readonly plane: ControlPlane;
  readonly projectId: number;
  nowMs: number;
}

let world: World;
let folder: string;

beforeEach(async () => {
  folder = temporaryFolder();
  const plane = await openControlPlane({ file: join(folder, "control.sqlite") }, { role: "sink" });
  const first = await plane.accounts.createFirst({
    email: "owner@test-site.org",
    userName: "Owner",
    workspaceName: "Acme",
    plan: "business",
    projectName: "Production",
    nowMs: START_MS,
  });
  world = { plane, projectId: first.projectId, nowMs: START_MS };
});
afterEach(async () => {
  await world.plane.close();
});

async function hook(url: string): Promise<number> {
  const input = { projectId: world.projectId, url, events: null, secretSealed: SECRET, nowMs: START_MS };
  return (await world.plane.webhooks.create(input))?.id ?? 0;
}

/** A sender whose attempts end when the test says so. */
function sender(isSoleOwner = true) {
  const attempts: Attempt[] = [];
  const clocks = { wallNowMs: () => world.nowMs, monotonicNowMs: () => world.nowMs };
  const { leases, outgoing } = world.plane;
  const lease = new LeaseKeeper({
    leases,
    name: SENDER_LEASE,
    holder: "me",
    isSoleOwner,
    monotonicNowMs: clocks.monotonicNowMs,
  });
  const made = new Sender({
    outgoing,
    lease,
    host: { clocks, random: () => 0.5, breathe },
    post: (url, headers) =>
      new Promise((resolve) => {
        const end = async (outcome: PostOutcome): Promise<void> => {
          resolve(outcome);
          // The sender hears of it in the next turns of the loop.
          await new Promise((settled) => setImmediate(settled));
        };
        attempts.push({ url, id: headers["webhook-id"] ?? "", end });
      }),
    secrets: { open: (_where, sealed) => sealed },
    log: pino({ level: "silent" }),
    onEnded() {},
  });
  return { sender: made, attempts, lease };
}

/** Attempts that began in this turn. */
async function turn({ sender, attempts }: { sender: Sender; attempts: Attempt[] }): Promise<readonly Attempt[]> {
  const before = attempts.length;
  await sender.turn();
  return attempts.slice(before);
}

describe("the sender", () => {
  it("sends an event to each of the project's webhooks, and again under the same id until it arrives", async () => {
    const a = await hook("https://a.test-site.org/");
    await hook("https://b.test-site.org/");
    await world.plane.webhooks.test(a, START_MS);
    const it = sender();
    const [first] = await turn(it);
    expect(first?.url).toBe("https://a.test-site.org/");
    expect(await turn(it)).toEqual([]);
    const waits: number[] = [];
    let attempt = first;
    for (const delayMs of RETRY_DELAYS_MS) {
      await attempt?.end({ statusCode: 500, error: "HTTP 500" });
      await turn(it);
      const failedAtMs = world.nowMs;
      world.nowMs += delayMs - 1;
      expect(await turn(it)).toEqual([]);
      world.nowMs += 1;
      [attempt] = await turn(it);
      waits.push(world.nowMs - failedAtMs);
      expect(attempt?.id).toBe(first?.id);
    }
    expect(waits).toEqual(RETRY_DELAYS_MS);
    await attempt?.end(GOOD);
    await turn(it);
    expect(await world.plane.webhooks.deliveries(a, 9)).toMatchObject([{ state: "delivered" }]);
    expect(it.sender.counts).toEqual({ delivered: 1, failed: RETRY_DELAYS_MS.length });
    expect(it.sender.inFlight).toBe(0);
  });

  it("leaves room for those that answer, however many hang", async () => {
    const hanging: number[] = [];
    for (let index = 0; index < 200; index++) hanging.push(await hook(`https://h${index}.test-site.org/`));
    for (const id of hanging) for (let count = 0; count < 3; count++) await world.plane.webhooks.test(id, START_MS);
    const it = sender();
    // It is not known yet that they hang: each has a first place, and the further ones are gone.
    await turn(it);
    expect(it.sender.inFlight).toBe(200 + 128);
    expect(new Set(it.attempts.map(({ url }) => url)).size).toBe(200);
    const good = await hook("https://good.test-site.org/");
    for (let count = 0; count < 7; count++) await world.plane.webhooks.test(good, world.nowMs);
    const [first, ...rest] = await turn(it);
    expect([first?.url, rest]).toEqual(["https://good.test-site.org/", []]);
    await first?.end(GOOD);
    expect(await turn(it)).toHaveLength(1);
    // By now it is known.
    world.nowMs += 15_000;
    for (const attempt of it.attempts.splice(0)) {
      await attempt.end(attempt.url.includes("//h") ? { statusCode: null, error: "no answer within 15 s" } : GOOD);
    }
    world.nowMs += 10_000;
    await turn(it);
    const perHook = new Map<string, number>();
    for (const { url } of it.attempts) perHook.set(url, (perHook.get(url) ?? 0) + 1);
    expect(perHook.get("https://good.test-site.org/")).toBe(4);
    perHook.delete("https://good.test-site.org/");
    expect([perHook.size, new Set(perHook.values())]).toEqual([128, new Set([1])]);
  });

  it("sends again what was under way when it died, under the same id", async () => {
    const id = await hook("https://a.test-site.org/");
    await world.plane.webhooks.test(id, START_MS);
    const dead = sender();
    const [lost] = await turn(dead);
    const next = sender();
    const [again] = await turn(next);
    expect(again?.id).toBe(lost?.id);
    // What the dead one would still say is not written down.
    await lost?.end({ statusCode: 410, error: "HTTP 410" });
    expect(await turn(dead)).toEqual([]);
    await again?.end(GOOD);
    await turn(next);
    expect(await world.plane.webhooks.find(id)).toMatchObject({ active: true });
    expect(await world.plane.webhooks.deliveries(id, 9)).toMatchObject([
      { state: "delivered", attempts: [{ statusCode: 200 }] },
    ]);
  });

  it("is one of several: another takes over when the holder is silent, at once when it left", async () => {
    const id = await hook("https://a.test-site.org/");
    const [one, other] = [sender(false), sender(false)];
    await turn(one);
    await world.plane.webhooks.test(id, START_MS);
    for (let second = 0; second < 60; second++) {
      world.nowMs += 1_000;
      await one.sender.turn();
      await other.sender.turn();
    }
    expect(other.attempts).toEqual([]);
    expect(one.attempts).toHaveLength(1);
    await one.attempts[0]?.end({ statusCode: 500, error: "HTTP 500" });
    await one.sender.turn();
    // The holder stands still: no sender sends until its lease is over, then the other alone.
    world.nowMs += LEASE_MS - 1_000;
    expect(await turn(other)).toEqual([]);
    world.nowMs += 1_000;
    expect(await turn(other)).toHaveLength(1);
    expect(one.lease.mayBegin(ATTEMPT_MS)).toBe(false);
    await world.plane.webhooks.test(id, world.nowMs);
    expect(await turn(one)).toEqual([]);
    expect(await turn(one)).toEqual([]);
    await other.attempts[0]?.end(GOOD);
    await other.sender.turn();
    await other.lease.release();
    expect(await turn(one)).toHaveLength(1);
  });

  it("begins nothing when it was not able to beat for long: another sender may begin", async () => {
    const id = await hook("https://a.test-site.org/");
    const it = sender(false);
    await turn(it);
    await world.plane.webhooks.test(id, START_MS);
    world.nowMs += LEASE_MS / 2;
    expect(it.lease.mayBegin(ATTEMPT_MS)).toBe(false);
    // A beat that succeeds gives the right back.
    expect(await turn(it)).toHaveLength(1);
  });

  it("takes out thousands of events in one go and loses none when no receiver listens", async () => {
    const id = await hook("https://a.test-site.org/");
    for (let count = 0; count < 450; count++) await world.plane.webhooks.test(id, START_MS);
    await world.plane.webhooks.remove(id);
    const kept = await hook("https://b.test-site.org/");
    await world.plane.webhooks.test(kept, START_MS);
    const it = sender();
    expect(await turn(it)).toHaveLength(1);
    expect(await world.plane.outgoing.pending()).toBe(1);
  });

  it("records a secret that does not open as a failure, and goes on", async () => {
    const id = await hook("https://a.test-site.org/");
    await world.plane.webhooks.test(id, START_MS);
    const { leases, outgoing } = world.plane;
    const clocks = { wallNowMs: () => world.nowMs, monotonicNowMs: () => world.nowMs };
    const lease = new LeaseKeeper({
      leases,
      name: SENDER_LEASE,
      holder: "me",
      isSoleOwner: true,
      monotonicNowMs: clocks.monotonicNowMs,
    });
    const broken = new Sender({
      outgoing,
      lease,
      host: { clocks, random: Math.random, breathe },
      post: () => Promise.reject(new Error("not reached")),
      secrets: {
        open() {
          throw new Error("another key");
        },
      },
      log: pino({ level: "silent" }),
      onEnded() {},
    });
    await broken.turn();
    await new Promise((settled) => setImmediate(settled));
    await broken.turn();
    expect(await world.plane.webhooks.deliveries(id, 9)).toMatchObject([
      { state: "pending", attempts: [{ statusCode: null, error: "the webhook's secret does not open" }] },
    ]);
  });
});
