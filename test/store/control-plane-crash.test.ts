/** A writer is killed in the middle of its work, again and again: what it had acknowledged is there, once, and agrees. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SYSTEM_ACTOR } from "../../model/actor.ts";
import { DEFAULT_RULE } from "../../model/alerting-rule.ts";
import { openControlPlane, type SqlLocation } from "../../store/sql/control-plane/open.ts";
import { allThings } from "../../testkit/store/all-things.ts";
import { newMonitor } from "../../testkit/store/new-monitor.suite.ts";
import { bundled } from "../bundled.ts";
import { killRounds } from "../kill-rounds.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startPostgres } from "../servers/postgres.ts";

const DOCUMENT_WRITER = await bundled(fileURLToPath(new URL("../fixtures/document-writer.mjs", import.meta.url)));
const WRITER = await bundled(fileURLToPath(new URL("../fixtures/control-plane-writer.mjs", import.meta.url)));

beforeAll(() => {
  expect(
    existsSync(new URL("../../dist/store/sql/control-plane/open.js", import.meta.url)),
    "run `npm run build` first",
  ).toBe(true);
});

interface Ground {
  readonly place: SqlLocation;
  readonly projectId: number;
  readonly monitorId: number;
  readonly heartbeatId: number;
}

async function prepare(place: SqlLocation): Promise<Ground> {
  const plane = await openControlPlane(place, { role: "api" });
  const who = { email: "a@test-site.org", userName: "a", workspaceName: "w", projectName: "p" };
  const { organizationId, projectId } = await plane.accounts.createFirst({ ...who, plan: "business", nowMs: 1 });
  const common = newMonitor({ organizationId, projectId }, { tags: ["0"] });
  const monitor = await plane.monitors.create(common, SYSTEM_ACTOR);
  const token = { sealed: "s", hash: "h" };
  const heartbeat = await plane.monitors.create({ ...common, kind: "push", heartbeatToken: token }, SYSTEM_ACTOR);
  await plane.close();
  return { place, projectId, monitorId: monitor.id, heartbeatId: heartbeat.id };
}

/** Runs the writer until it has acknowledged so much, and kills it. @returns the last number of each kind */
async function killAfter(
  ground: Ground,
  fromSeq: number,
  fromBeat: number,
  lines: number,
): Promise<ReadonlyMap<string, number>> {
  const child = spawn(process.execPath, [WRITER, JSON.stringify({ ...ground, fromSeq, fromBeat })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  let seen = 0;
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk: string) => {
    text += chunk;
    seen += chunk.split("\n").length - 1;
    if (seen >= lines) child.kill("SIGKILL");
  });
  const signal = await new Promise((resolve) => child.once("close", (_code, signal) => resolve(signal)));
  expect(signal).toBe("SIGKILL");
  const last = new Map<string, number>();
  for (const line of text.split("\n").slice(0, -1)) {
    const [what = "", number] = line.split(" ");
    last.set(what, Number(number));
  }
  return last;
}

async function expectWhole(
  ground: Ground,
  acknowledged: ReadonlyMap<string, number>,
): Promise<{ seq: number; beat: number }> {
  const plane = await openControlPlane(ground.place, { role: "api" });
  const found = await plane.monitors.find(ground.projectId, ground.monitorId);
  const changes = Number(found?.monitor.tags[0]);
  expect(changes).toBeGreaterThanOrEqual(acknowledged.get("change") ?? 0);
  // A change and its history are one, and so is everything that the sink writes.
  expect((await plane.history.list(ground.monitorId, 1, 0)).total).toBe(changes + 1);
  const seq = await plane.sink.appliedSeq("spool");
  expect(seq).toBeGreaterThanOrEqual(acknowledged.get("applied") ?? 0);
  expect(found?.live.seq).toBe(seq);
  expect(found?.live.status).toBe(seq === 0 ? "unknown" : seq % 2 === 1 ? "down" : "healthy");
  const incidents = await plane.incidents.list(ground.projectId, { monitorId: ground.monitorId, limit: 1_000_000 });
  expect(incidents).toHaveLength(Math.ceil(seq / 2));
  expect(incidents.filter((one) => one.endedAtMs === null)).toHaveLength(seq % 2);
  const beats = (await plane.heartbeats.inbox(1_000_000)).map((row) => row.atMs);
  const beat = beats.at(-1) ?? 0;
  expect(beat).toBeGreaterThanOrEqual(acknowledged.get("beat") ?? 0);
  expect(beats).toEqual(Array.from({ length: beat }, (_, index) => index + 1));
  expect((await plane.heartbeats.lastCalls()).get(ground.heartbeatId)).toBe(beat === 0 ? undefined : beat);
  await plane.close();
  return { seq, beat };
}

async function writeRounds(place: SqlLocation, rounds: number): Promise<void> {
  const ground = await prepare(place);
  let [seq, beat] = [0, 0];
  for (let round = 0; round < rounds; round++) {
    // Another moment each time.
    const acknowledged = await killAfter(ground, seq + 1, beat + 1, 20 + round * 37);
    ({ seq, beat } = await expectWhole(ground, acknowledged));
  }
  expect(seq).toBeGreaterThan(rounds);
}

/** Monitors of the document that a writer applies. */
const THINGS = 60;

/** Lets a writer apply a document whole, and kills it in the middle of the next one. @param share of the time that the first took */
async function killApply(ground: DocumentGround, share: number): Promise<void> {
  const child = spawn(process.execPath, [DOCUMENT_WRITER, JSON.stringify(ground)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  let isDue = false;
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk: string) => {
    text += chunk;
    const [, took] = /^end (\d+)\nbegin /m.exec(text) ?? [];
    if (took === undefined || isDue) return;
    isDue = true;
    setTimeout(() => child.kill("SIGKILL"), Number(took) * share);
  });
  const signal = await new Promise((resolve) => child.once("close", (_code, signal) => resolve(signal)));
  expect(signal).toBe("SIGKILL");
}

interface DocumentGround {
  readonly place: SqlLocation;
  readonly projectId: number;
  readonly organizationId: number;
  readonly monitor: object;
  readonly rule: object;
  readonly things: number;
}

async function prepareDocument(place: SqlLocation): Promise<DocumentGround> {
  const plane = await openControlPlane(place, { role: "api" });
  const who = { email: "a@test-site.org", userName: "a", workspaceName: "w", projectName: "p" };
  const { organizationId, projectId } = await plane.accounts.createFirst({ ...who, plan: "business", nowMs: 1 });
  await plane.close();
  const monitor = newMonitor({ organizationId, projectId }, { tags: ["many"] });
  return { place, projectId, organizationId, monitor, rule: DEFAULT_RULE, things: THINGS };
}

async function expectAllOrNothing({ place, projectId }: DocumentGround): Promise<void> {
  const plane = await openControlPlane(place, { role: "api" });
  const things = (await allThings(plane.documents, projectId)).filter((one) => one.isThere);
  const idsOf = (kind: string) => things.flatMap((one) => (one.kind === kind ? [one.thingId] : []));
  const ids = idsOf("monitor");
  const monitors = [];
  for await (const some of plane.documents.monitors(projectId)) monitors.push(...some);
  expect(monitors.map(({ monitor }) => monitor.id)).toEqual([...ids].sort((one, other) => one - other));
  expect([0, THINGS]).toContain(ids.length);
  const channels = (await plane.channels.list(projectId)).map(({ id }) => id);
  const { items } = await plane.alerts.rules(projectId);
  expect([channels, items.map(({ id }) => id)]).toEqual([idsOf("channel"), idsOf("alert_rule")]);
  expect(channels.length).toBe(ids.length === 0 ? 0 : 1);
  for (const rule of items) {
    expect(rule.channels).toEqual(channels);
    for (const id of rule.match.select?.ids ?? []) expect(ids).toContain(id);
  }
  await plane.close();
}

async function applyRounds(place: SqlLocation, rounds: number): Promise<void> {
  const ground = await prepareDocument(place);
  for (let round = 0; round < rounds; round++) {
    await killApply(ground, round / rounds);
    await expectAllOrNothing(ground);
  }
}

it("SQLite has a document whole or not at all over twenty SIGKILLs", { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "sonde-crash-"));
  try {
    await applyRounds({ file: join(folder, "sonde.db") }, 20);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it("SQLite keeps what it acknowledged over twelve SIGKILLs", { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "sonde-crash-"));
  try {
    await writeRounds({ file: join(folder, "sonde.db") }, 12);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const server = await startPostgres();

afterAll(async () => {
  if (!isMissing(server)) await server.stop();
});

withServer("PostgreSQL", server, (running) => {
  it("PostgreSQL keeps what it acknowledged over SIGKILLs of its client", { timeout: 120_000 }, async () => {
    const { url, drop } = await running.createDatabase();
    await writeRounds({ url }, 5);
    await drop();
  });

  const rounds = killRounds(5);
  it("PostgreSQL has a document whole or not at all over SIGKILLs", { timeout: rounds * 60_000 }, async () => {
    const { url, drop } = await running.createDatabase();
    await applyRounds({ url }, rounds);
    await drop();
  });
});
