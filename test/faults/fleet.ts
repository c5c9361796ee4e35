/**
 * All roles apart on local targets: two APIs, two schedulers, a checker in each of three locations. Each fault is brought about and taken
 * back in turn, and every due time of that stretch is asked for: a result, or a counted skip.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ControlPlane } from "../../store/sql/control-plane.ts";
import { openControlPlane } from "../../store/sql/open.ts";
import type { ShardsView } from "../../store/sql/ports/shards.ts";
import { installation } from "../roles.ts";
import type { SharedServers } from "../servers/shared.ts";
import { ended, eventually, freePort, temporaryFolder } from "../service.ts";
import { createMonitors, reckon, untilDatabaseAnswers } from "./roles.ts";
import { type TrueRow, trueRows } from "./truth.ts";

export interface FleetSize {
  readonly monitors: number;
  readonly intervalS: number;
  /** Faults whose names hold one of these words; all when empty. */
  readonly only: readonly string[];
  readonly freezeMs: number;
}

/** A row of the table. */
export interface FaultLine {
  readonly fault: string;
  /** Due times of the stretch, and how many of them had a result. */
  readonly due: number;
  readonly run: number;
  /** Had none, and how many were counted as skipped. */
  readonly missing: number;
  readonly skipped: number;
  /** Missing and not counted. */
  readonly lost: number;
  readonly doubled: number;
  readonly latestMs: number;
  /** Results that call a target down. */
  readonly down: number;
  /** Until every shard had a living holder and every checker was there, after it was taken back. */
  readonly recoveredMs: number;
  /** Requests to the APIs that were alive: answered otherwise than 200, of all. */
  readonly refused: string;
}

export interface FleetOutcome {
  readonly lines: readonly FaultLine[];
  readonly incidents: number;
  readonly rows: readonly TrueRow[];
  readonly plane: ControlPlane;
  readonly projectId: number;
}

interface Process {
  readonly name: string;
  start(): Promise<void>;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

interface Fault {
  readonly name: string;
  /** Whose answers are not asked for meanwhile. */
  readonly hits: string | null;
  bring(): Promise<void>;
  takeBack(): Promise<void>;
}

/** As `sonde scheduler` has it. */
const LEASE_MS = 30_000;
const RECOVERED_WITHIN_MS = 3 * LEASE_MS;
const LOCATIONS = ["any", "de", "nl"] as const;
const SHARDS = 16;
/** An age that no living process of a fleet has between two signs, ms. */
const SIGN_MS = 25_000;
const ASK_EVERY_MS = 250;

export async function runFleet(servers: SharedServers, size: FleetSize): Promise<FleetOutcome> {
  const stores = await servers.stores();
  const whole = installation(stores);
  const website = await startWebsite();
  const apis = [apiOf("api 1"), apiOf("api 2")];
  await apis[0]?.start();
  const plane = await openControlPlane({ url: stores.databaseUrl }, { role: "api" });
  // Of the first start.
  const given = { projectId: 1, organizationId: 1 };
  const monitors = await createMonitors(plane, given, size.monitors, size.intervalS, website.url, locationsOf);
  const roles = [apis[1], ...["scheduler 1", "scheduler 2"].map(schedulerOf), ...LOCATIONS.map(checkerOf)];
  for (const role of roles) await role?.start();
  const processes = [apis[0], ...roles].filter((one) => one !== undefined);
  const asker = askApis(apis.map(({ name, url }) => ({ name, url })));
  await untilWell(plane, monitors, size.intervalS);
  await pause(2 * size.intervalS * 1_000);

  const marks: { name: string; fromMs: number; untilMs: number; skips: number[]; recoveredMs: number; asked: Asked }[] =
    [];
  for (const fault of faultsOf(processes, servers, stores.databaseUrl, size.freezeMs)) {
    if (size.only.length > 0 && !size.only.some((word) => fault.name.includes(word))) continue;
    const before = skipsOf(await plane.shards.view());
    const fromMs = Date.now();
    asker.begin(fault.hits);
    await fault.bring();
    await fault.takeBack();
    const recoveredMs = await untilWell(plane, monitors, size.intervalS);
    // What was missed a moment ago is still made up for.
    await pause(2 * size.intervalS * 1_000);
    const untilMs = Date.now() - size.intervalS * 1_000;
    const skips = skipsOf(await plane.shards.view()).map((count, shard) => count - (before[shard] ?? 0));
    marks.push({ name: fault.name, fromMs, untilMs, skips, recoveredMs, asked: asker.end() });
    console.info(`${fault.name}: recovered after ${recoveredMs} ms, ${skips.reduce((a, b) => a + b, 0)} turns skipped`);
  }
  asker.stop();
  // In the order of their need: what runs ends while somebody takes it, and what waits reaches ClickHouse.
  for (const one of [...processes].reverse()) await one.end("SIGTERM");
  website.close();
  const rows = await trueRows(stores.clickhouseUrl);
  const lines = marks.map((mark) => lineOf(mark));
  const incidents = (await plane.incidents.list(given.projectId, { monitorId: null, limit: 1_000 })).length;
  return { lines, incidents, rows, plane, projectId: given.projectId };

  function lineOf({ name, fromMs, untilMs, skips, recoveredMs, asked }: (typeof marks)[number]): FaultLine {
    const { due, run, missing, doubled, latestMs, missingByShard } = reckon(monitors, rows, fromMs, untilMs, SHARDS);
    const lost = [...missingByShard].reduce((sum, [shard, count]) => sum + Math.max(0, count - (skips[shard] ?? 0)), 0);
    const isWithin = (row: TrueRow): boolean =>
      Number(row.tested_at_ms) >= fromMs && Number(row.tested_at_ms) < untilMs;
    const down = rows.filter((row) => row.status === "down" && isWithin(row)).length;
    const skipped = skips.reduce((a, b) => a + b, 0);
    const refused = `${asked.refused}/${asked.all}`;
    return { fault: name, due, run, missing, skipped, lost, doubled, latestMs, down, recoveredMs, refused };
  }

  function apiOf(name: string): Process & { url(): string } {
    const dataDir = `${temporaryFolder()}/data`;
    let running: Awaited<ReturnType<typeof whole.startApi>> | undefined;
    let port: number | undefined;
    const base = processOf(name, async () => {
      port ??= await freePort();
      running = await whole.startApi({ dataDir, port });
      return running.child;
    });
    return { ...base, url: () => running?.url ?? "" };
  }

  function schedulerOf(name: string): Process {
    const dataDir = `${temporaryFolder()}/data`;
    return processOf(name, async () => (await whole.startScheduler({ dataDir })).child);
  }

  function checkerOf(location: string): Process {
    const dataDir = `${temporaryFolder()}/data`;
    return processOf(`checker ${location}`, async () => (await whole.startChecker(location, { dataDir })).child);
  }
}

type Child = Parameters<typeof ended>[0];

function processOf(name: string, begin: () => Promise<Child>): Process {
  let child: Child | undefined;
  const running = (): Child => {
    if (child === undefined) throw new Error(`${name} was not started`);
    return child;
  };
  return {
    name,
    async start() {
      child = await begin();
    },
    signal: (signal) => void running().kill(signal),
    end: async (signal) => void (await ended(running(), () => running().kill(signal))),
  };
}

/** Most from the general pool; every location alone, and all of them together. */
function locationsOf(index: number): readonly string[] {
  const places = [["any", "de", "nl"], ["de"], ["de"], ["nl"], ["nl"]];
  return places[index % 10] ?? ["any"];
}

function faultsOf(
  processes: readonly Process[],
  { postgres, redis }: SharedServers,
  databaseUrl: string,
  freezeMs: number,
): readonly Fault[] {
  const kills = processes.map(
    (one): Fault => ({
      name: `kill ${one.name}`,
      hits: one.name,
      async bring() {
        await one.end("SIGKILL");
        // Away for long enough that the others must take over what it had.
        if (one.name.startsWith("scheduler")) await pause(LEASE_MS + 5_000);
      },
      takeBack: () => one.start(),
    }),
  );
  const freezes = processes.map(
    (one): Fault => ({
      name: `freeze ${one.name}`,
      hits: one.name,
      async bring() {
        one.signal("SIGSTOP");
        await pause(freezeMs);
      },
      takeBack: async () => one.signal("SIGCONT"),
    }),
  );
  const restarts: Fault[] = [
    { name: "restart redis", hits: "all", bring: () => redis.kill(), takeBack: () => redis.restart() },
    {
      name: "restart postgres",
      hits: "all",
      bring: () => postgres.kill(),
      takeBack: () => postgres.restart().then(() => untilDatabaseAnswers(databaseUrl)),
    },
  ];
  return [...kills, ...freezes, ...restarts];
}

function skipsOf({ shards }: ShardsView): number[] {
  return shards.map(({ skipped }) => skipped);
}

/** Every shard has a holder that beats, and results of every location come in. @returns how long that took, ms */
async function untilWell(
  plane: ControlPlane,
  monitors: ReadonlyMap<number, { readonly locations: readonly string[] }>,
  intervalS: number,
): Promise<number> {
  const startedAtMs = performance.now();
  const beats = new Map<string, number>();
  const sample = [...monitors].filter(([, { locations }]) => locations.length === 3).map(([id]) => id);
  await eventually(async () => {
    const view = await plane.shards.view().catch(() => undefined);
    if (view === undefined) return undefined;
    const moving = view.schedulers.filter(({ id, beat }) => (beats.get(id) ?? beat) !== beat).map(({ id }) => id);
    for (const { id, beat } of view.schedulers) if (!beats.has(id)) beats.set(id, beat);
    const share = view.shards.length / 2;
    const isHeld = [...new Set(moving)].length === 2 && moving.every((id) => heldBy(view, id) === share);
    if (!isHeld) return undefined;
    for (const id of sample.slice(0, 5)) {
      const live = (await plane.monitors.recall(id))?.live;
      for (const location of LOCATIONS) {
        const at = live?.locations[location]?.lastCheckAtMs ?? 0;
        if (Date.now() - at > Math.min(SIGN_MS, 2 * intervalS * 1_000)) return undefined;
      }
    }
    return true;
  }, RECOVERED_WITHIN_MS);
  return Math.round(performance.now() - startedAtMs);
}

function heldBy({ shards }: ShardsView, id: string): number {
  return shards.filter(({ holder }) => holder === id).length;
}

interface Asked {
  readonly all: number;
  readonly refused: number;
}

/** Asks both APIs all the time, but one that is hit by a fault. */
function askApis(apis: readonly { readonly name: string; url(): string }[]) {
  let hits: string | null = "all";
  let asked = { all: 0, refused: 0 };
  const timer = setInterval(() => {
    for (const { name, url } of apis) {
      if (hits === "all" || hits === name) continue;
      asked.all += 1;
      const mine = asked;
      fetch(`${url()}/api/v1/health`, { signal: AbortSignal.timeout(5_000) }).then(
        (response) => {
          if (response.status !== 200) mine.refused += 1;
        },
        () => {
          mine.refused += 1;
        },
      );
    }
  }, ASK_EVERY_MS);
  return {
    begin(whom: string | null) {
      hits = whom;
      asked = { all: 0, refused: 0 };
    },
    end(): Asked {
      hits = "all";
      return asked;
    },
    stop: () => clearInterval(timer),
  };
}

async function startWebsite(): Promise<{ url(index: number): string; close(): void }> {
  const server: Server = createServer((_request, response) => response.end("all is well"));
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (index) => `http://127.0.0.1:${port}/${index}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** As people read it. */
export function tableOf(lines: readonly FaultLine[]): string {
  const columns = Object.keys(lines[0] ?? {}) as (keyof FaultLine)[];
  const rows = [columns as readonly string[], ...lines.map((line) => columns.map((column) => String(line[column])))];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  ")).join("\n");
}
