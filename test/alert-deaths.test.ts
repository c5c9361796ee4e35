/**
 * Alerts over the deaths of their sender: a process that kills itself with SIGKILL at one step after the other, on the same database file. What
 * was told and what was recorded are compared with what the receiver got: nothing is lost, and a death repeats no message more than once, also
 * where the clock of the one that died was ahead.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listen } from "../demo/loopback.ts";
import { SYSTEM_ACTOR } from "../model/actor.ts";
import { DEFAULT_RULE } from "../model/alerting-rule.ts";
import type { IncidentChange } from "../model/incident.ts";
import { openControlPlane } from "../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../store/sql/control-plane/port.ts";
import { batch } from "../testkit/store/ground.suite.ts";
import { newMonitor } from "../testkit/store/new-monitor.suite.ts";
import { temporaryFolder } from "../testkit/temporary-folder.ts";
import { bundled } from "./bundled.ts";

const SENDER = await bundled(fileURLToPath(new URL("fixtures/alert-sender.mjs", import.meta.url)));
/** Rounds of a going down and a coming back, each with a death; by hand more: SONDE_ALERT_DEATHS=20. */
const ROUNDS = Number(process.env.SONDE_ALERT_DEATHS ?? "3");
/** Steps of the sender between two rounds' deaths: the last of them is beyond the last step of a going down. */
const STRIDE = Math.max(1, Math.round(120 / ROUNDS));
/** More members than are written in one piece. */
const LARGE = 520;
const HOSTS = ["h1", "h2", "h3"];
const WAIT_MS = 60_000;
const HOUR_MS = 3_600_000;

let folder = "";
let plane: ControlPlane;
let channelId = 0;
const monitorIds: number[] = [];
const got: string[] = [];
const receiver = createServer(async (request, response) => {
  // A sender may be killed while it sends.
  const body = await json(request).catch(() => null);
  if (body === null) return;
  got.push((body as { readonly title: string }).title);
  response.end('{"id":"x"}');
});

beforeAll(async () => {
  if (!existsSync(new URL("../dist/scheduler/alerts/sender.js", import.meta.url)))
    throw new Error("dist is missing: run `npm run build` first");
  folder = temporaryFolder();
  plane = await openControlPlane({ file: join(folder, "sonde.db") }, { role: "sink" });
  const names = { email: "a@test-site.org", userName: "A", workspaceName: "W", projectName: "P" };
  const first = await plane.accounts.createFirst({ ...names, plan: "business", nowMs: Date.now() });
  const server = `http://127.0.0.1:${await listen(receiver)}`;
  const channel = { projectId: first.projectId, kind: "ntfy", name: "Phone", secretNames: [], sealed: null };
  const settings = { server, topic: "sonde", priority: 3, priority_down: 5 };
  const made = await plane.channels.create({ ...channel, settings, active: true, nowMs: Date.now() }, 10);
  if (made === undefined || typeof made === "string") throw new Error("no channel");
  channelId = made.id;
  const { id: _, ...rule } = { ...DEFAULT_RULE, waitS: 0, intervalS: 1 };
  await plane.alerts.writeRules(first.projectId, 0, [{ ...rule, id: null }], Date.now());
  for (let n = 0; n < LARGE + HOSTS.length; n += 1) {
    const monitor = newMonitor(first, { name: `m${n}`, host: HOSTS[n - LARGE] ?? "large" });
    monitorIds.push((await plane.monitors.create(monitor, SYSTEM_ACTOR)).id);
  }
}, WAIT_MS);
afterAll(async () => {
  await plane.close();
  receiver.closeAllConnections();
  receiver.close();
});

function startSender(step: number, aheadMs = 0) {
  const words = [SENDER, join(folder, "sonde.db"), String(step), String(aheadMs)];
  const child = spawn(process.execPath, words, {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return { child, exited: once(child, "exit") as Promise<[number | null, string | null]> };
}

let seq = 0;

async function change(type: "open" | "close"): Promise<void> {
  const atMs = Date.now();
  const why = { message: "refused", category: "server_not_connected" as const, locations: ["any"] };
  const incidents = monitorIds.map(
    (monitorId): IncidentChange =>
      type === "open" ? { type, monitorId, atMs, startedAtMs: atMs, level: "down", ...why } : { type, monitorId, atMs },
  );
  seq += 1;
  await plane.sink.apply(batch(seq, { incidents }));
}

/** Every message is recorded, and each of the hosts was told of in this way. */
async function isAllTold(isTold: (title: string) => boolean): Promise<boolean> {
  const told = await plane.alerts.ofChannel(channelId, 20);
  const newest = told.slice(0, HOSTS.length + 1);
  return (
    (await plane.alertTurns.pending()) === 0 &&
    newest.length === HOSTS.length + 1 &&
    newest.every(({ title, state }) => state === "delivered" && isTold(title ?? ""))
  );
}

interface Death {
  readonly step: number;
  /** By so much the clock of the one that dies is ahead of the other's, ms. */
  readonly aheadMs: number;
}

/** Kills a sender at a step, and lets a second one end what it left. @returns what was received, by title without its numbers */
async function overDeath(
  { step, aheadMs }: Death,
  isTold: (title: string) => boolean,
): Promise<ReadonlyMap<string, number>> {
  got.length = 0;
  const dying = startSender(step, aheadMs);
  const second = dying.exited.then(([, signal]) => {
    expect(signal).toBe("SIGKILL");
    return startSender(0);
  });
  await expect.poll(() => isAllTold(isTold), { timeout: WAIT_MS, interval: 50 }).toBe(true);
  // A sender that has nothing left to do goes through its steps all the same, and so comes to its death.
  const { child, exited } = await second;
  await once(child.stdout, "data");
  child.kill("SIGTERM");
  await exited;
  const counts = new Map<string, number>();
  for (const title of got) counts.set(wordsOf(title), (counts.get(wordsOf(title)) ?? 0) + 1);
  return counts;
}

function wordsOf(title: string): string {
  return /^(large|m\d+)/.exec(title)?.[0] ?? title;
}

const EXPECTED = [LARGE, LARGE + 1, LARGE + 2]
  .map((n) => `m${n}`)
  .concat("large")
  .sort();

test("nothing is lost, and a death repeats a message once at most", { timeout: ROUNDS * 4 * WAIT_MS }, async () => {
  let repeated = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const type of ["open", "close"] as const) {
      await change(type);
      const isTold = (title: string): boolean => / again after /.test(title) === (type === "close");
      const counts = await overDeath({ step: 1 + round * STRIDE, aheadMs: round % 2 === 0 ? 0 : HOUR_MS }, isTold);
      expect([...counts.keys()].sort(), `round ${round}, ${type}`).toEqual(EXPECTED);
      for (const [words, count] of counts) expect(count, `${words}, round ${round}, ${type}`).toBeLessThanOrEqual(2);
      repeated += [...counts.values()].filter((count) => count === 2).length;
      expect(got.filter((title) => !isTold(title))).toEqual([]);
    }
  }
  process.stdout.write(`${2 * ROUNDS} deaths, ${repeated} messages repeated\n`);
});
