/**
 * A storm: ten thousand monitors go down within a second. When the first message is sent, how many there are, how long the sender keeps its
 * thread at a time, and the same for the recovery. Hosts: one for each monitor, a hundred for all, or one.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { SYSTEM_ACTOR } from "../../model/actor.ts";
import { DEFAULT_RULE } from "../../model/alerting-rule.ts";
import { MONITOR_DEFAULTS } from "../../model/monitor.ts";
import { AlertSender } from "../../scheduler/alerts/sender.ts";
import { SYSTEM_CLOCKS } from "../../scheduler/clock.ts";
import { processLease } from "../../scheduler/process-lease.ts";
import { Sender } from "../../scheduler/webhooks/sender.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { SENDER_LEASE } from "../../store/sql/coordination/leases-port.ts";
import { type SinkWriter, startSinkWriter } from "../../store/sql/sink/writer.ts";
import { conditions } from "./conditions.ts";
import { Stalls } from "./stalls.ts";

const MONITORS = 10_000;
/** Incidents that one transaction of the sink opens, and the pause after it, ms: all within a second. */
const AT_ONCE = 500;
const PAUSE_MS = 50;
/** Of the sender, ms, as in the service. */
const TURN_MS = 500;
/** Between two messages of a group, s: shorter than the default, so that the bench ends soon. */
const INTERVAL_S = 10;
/** How long a first message is awaited, and a further one, ms. */
const LONGEST_MS = 120_000;
const AFTER_MS = INTERVAL_S * 1_000 + 3_000;

export async function run(): Promise<void> {
  console.log(`\n${MONITORS} monitors go down within a second, and come back\n  ${conditions()}; SQLite`);
  for (const hosts of [MONITORS, 100, 1]) await storm(hosts);
}

async function storm(hosts: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sonde-bench-alerts-"));
  const file = join(folder, "sonde.db");
  const controlPlane = await openControlPlane({ file }, { role: "sink" });
  // As in the service: the sink's thread writes, and moves the write-ahead log into the file, so that no commit of the sender's does.
  const sink = startSinkWriter(file);
  try {
    const ids = await fill(controlPlane, hosts);
    const sending = new Sending(controlPlane);
    const down = await sending.watch(() => apply(sink, ids, "open"));
    const up = await sending.watch(() => apply(sink, ids, "close"));
    console.log(`  ${hosts} hosts: down: ${down}\n      and back: ${up}`);
  } finally {
    await sink.close();
    await controlPlane.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(plane: ControlPlane, hosts: number): Promise<readonly number[]> {
  const nowMs = Date.now();
  const names = { email: "bench@test-site.org", userName: "b", workspaceName: "b", projectName: "b" };
  const first = await plane.accounts.createFirst({ ...names, plan: "business", nowMs });
  const channel = { projectId: first.projectId, kind: "ntfy", name: "phone", settings: {}, secretNames: [] };
  await plane.channels.create({ ...channel, sealed: null, active: true, nowMs }, 10);
  const { id: _, ...rule } = { ...DEFAULT_RULE, intervalS: INTERVAL_S };
  await plane.alerts.writeRules(first.projectId, 0, [{ ...rule, id: null }], nowMs);
  const base = {
    ...MONITOR_DEFAULTS,
    ...first,
    kind: "port" as const,
    settings: {},
    intervalS: 60,
    timeoutS: 10,
    nowMs,
  };
  const ids: number[] = [];
  for (let n = 0; n < MONITORS; n += 1) {
    const more = { name: `monitor ${n}`, host: `h${n % hosts}.test-site.org`, tags: ["edge"], maxRetries: 1 };
    ids.push((await plane.monitors.create({ ...base, ...more, heartbeatToken: null }, SYSTEM_ACTOR)).id);
  }
  return ids;
}

let seq = 0;

/** @returns when the last of them was stored, ms */
async function apply(sink: SinkWriter, ids: readonly number[], type: "open" | "close"): Promise<number> {
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const atMs = Date.now();
    const why = { message: "connection refused", category: "server_not_connected" as const, locations: ["any"] };
    const incidents = ids
      .slice(from, from + AT_ONCE)
      .map((monitorId) =>
        type === "open"
          ? ({ type, monitorId, atMs, startedAtMs: atMs, level: "down", ...why } as const)
          : ({ type, monitorId, atMs } as const),
      );
    seq += 1;
    await sink.apply({ spool: "bench", appliedSeq: seq, live: [], drainedInboxIds: [], incidents });
    await delay(PAUSE_MS);
  }
  return performance.now();
}

/** The sender of the service, with a channel that takes everything at once. */
class Sending {
  readonly #sender: Sender;
  readonly #alerts: AlertSender;
  readonly #sent: { readonly atMs: number; readonly title: string }[] = [];

  constructor(plane: ControlPlane) {
    const lease = processLease(plane, SENDER_LEASE, "bench");
    const log = pino({ level: "silent" });
    const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const secrets = { seal: (_: string, text: string) => text, open: (_: unknown, text: string) => text };
    const common = { lease, secrets, log, onEnded: () => undefined };
    const host = { clocks: SYSTEM_CLOCKS, random: Math.random, breathe };
    const post = async () => ({ statusCode: 200, error: null });
    this.#sender = new Sender({ ...common, outgoing: plane.outgoing, post, host });
    this.#alerts = new AlertSender({
      ...{ ...common, ...host, turns: plane.alertTurns, base: "https://sonde.test-site.org" },
      send: async ({ kind }, message) => {
        this.#sent.push({ atMs: performance.now(), title: message.title });
        return { delivered: true, statusCode: 200, reference: null, sent: kind, durationMs: 1 };
      },
    });
  }

  /** What is told of it, until nothing more comes. */
  async watch(happen: () => Promise<number>): Promise<string> {
    const [sentBefore, endedAtMs] = [this.#sent.length, await happen()];
    const stalls = new Stalls();
    const spent = { fanOut: 0, alerts: 0 };
    const isOver = (): boolean => {
      const lastMs = this.#sent.at(-1)?.atMs ?? 0;
      const sinceMs = performance.now() - Math.max(lastMs, endedAtMs);
      return sinceMs > (this.#sent.length > sentBefore ? AFTER_MS : LONGEST_MS);
    };
    while (!isOver()) {
      const before = performance.now();
      await stalls.watch(async () => {
        const atMs = processorMs();
        await this.#sender.turn();
        const betweenMs = processorMs();
        await this.#alerts.turn();
        spent.fanOut += betweenMs - atMs;
        spent.alerts += processorMs() - betweenMs;
      });
      await delay(Math.max(0, TURN_MS - (performance.now() - before)));
    }
    const sent = this.#sent.slice(sentBefore);
    const told = sent.map(({ atMs, title }) => `"${title}" after ${((atMs - endedAtMs) / 1_000).toFixed(1)} s`);
    return [
      `${sent.length} messages (${told.join(", ")}); thread kept at most ${stalls.longestMs.toFixed(0)} ms`,
      `(${stalls.longestOfProcessorMs.toFixed(0)} ms of it at work); events taken in ${spent.fanOut.toFixed(0)} ms,`,
      `told in ${spent.alerts.toFixed(0)} ms of the processor`,
    ].join(" ");
  }
}

/** Of this process, with the threads that compile and collect garbage. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
