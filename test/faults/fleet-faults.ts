/** What may befall a fleet: each fault is brought about, and taken back. */
import { setTimeout as pause } from "node:timers/promises";
import { SHARD_LEASE_MS } from "../../model/shards.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { SharedServers } from "../servers/shared.ts";
import { eventually } from "../service.ts";
import type { Member } from "./fleet.ts";
import type { Way } from "./links.ts";
import { type Pause, pauseMany } from "./pauses.ts";
import { untilDatabaseAnswers } from "./reckoning.ts";

export interface Fault {
  readonly name: string;
  /** APIs whose answers are not asked for meanwhile. */
  readonly hits: (member: Member) => boolean;
  /** @returns how long a scheduler's shards took to find another holder, ms; null where none must */
  bring(): Promise<number | null>;
  takeBack(): Promise<void>;
}

export interface FaultsOptions {
  readonly plane: ControlPlane;
  readonly servers: SharedServers;
  readonly databaseUrl: string;
  /** How long a process is frozen and a link cut, ms; a scheduler's until its shards have moved. */
  readonly lastsMs: number;
  /** How many pauses of schedulers, and where each is written down. */
  readonly pauses: number;
  readonly onPause: (pause: Pause) => void;
}

/**
 * On top of a lease: a scheduler that was cut off in the middle of a transaction holds its shards until the database ends that (10 s), and a
 * machine may be busy with something else.
 */
const MOVE_MARGIN_MS = 60_000;

/** What each role cannot work without. */
const NEEDS: Readonly<Record<Member["role"], readonly Way[]>> = {
  api: ["redis", "postgres", "web"],
  scheduler: ["redis", "postgres", "web"],
  checker: ["redis", "web"],
};

export function faultsOf(members: readonly Member[], options: FaultsOptions): readonly Fault[] {
  const { servers, databaseUrl, lastsMs } = options;
  const isIt = (one: Member) => (other: Member) => one === other;
  /** Away for as long as it takes the others to have what it had. */
  const moved = (one: Member, act: () => Promise<void>): Promise<number | null> =>
    one.role === "scheduler" ? untilMoved(one, act, options) : act().then(() => null);

  const kills = members.map(
    (one): Fault => ({
      name: `kill ${one.name}`,
      hits: isIt(one),
      bring: () => moved(one, () => one.end("SIGKILL")),
      takeBack: () => one.start(),
    }),
  );
  const stops = members.map(
    (one): Fault => ({
      name: `stop ${one.name}`,
      hits: isIt(one),
      bring: () => moved(one, () => one.end("SIGTERM")),
      takeBack: () => one.start(),
    }),
  );
  const freezes = members.map(
    (one): Fault => ({
      name: `freeze ${one.name}`,
      hits: isIt(one),
      async bring() {
        const startedAtMs = performance.now();
        const tookMs = await moved(one, async () => one.signal("SIGSTOP"));
        await pause(Math.max(0, lastsMs - (performance.now() - startedAtMs)));
        return tookMs;
      },
      takeBack: async () => one.signal("SIGCONT"),
    }),
  );
  const schedulers = members.filter(({ role }) => role === "scheduler");
  const pauses: Fault = {
    name: "pauses of schedulers",
    hits: () => false,
    bring: () => pauseMany(schedulers, options).then(() => null),
    takeBack: async () => {
      for (const one of schedulers) one.signal("SIGCONT");
    },
  };
  const cuts = members.flatMap((one) =>
    [...NEEDS[one.role].map((way) => [way]), NEEDS[one.role]].map(
      (ways): Fault => ({
        name: `cut ${one.name} from ${wordOf(one, ways)}`,
        hits: isIt(one),
        async bring() {
          const startedAtMs = performance.now();
          const cut = async (): Promise<void> => {
            for (const way of ways) one.station.cut(way);
          };
          const tookMs = await (ways.includes("postgres") ? moved(one, cut) : cut().then(() => null));
          await pause(Math.max(0, lastsMs - (performance.now() - startedAtMs)));
          return tookMs;
        },
        async takeBack() {
          for (const way of ways) one.station.mend(way);
        },
      }),
    ),
  );
  const restarts: Fault[] = [
    {
      name: "redis away",
      hits: () => true,
      async bring() {
        await servers.redis.kill();
        await pause(lastsMs);
        return null;
      },
      takeBack: () => servers.redis.restart(),
    },
    {
      name: "postgres away",
      hits: () => true,
      async bring() {
        await servers.postgres.kill();
        await pause(lastsMs);
        return null;
      },
      takeBack: () => servers.postgres.restart().then(() => untilDatabaseAnswers(databaseUrl)),
    },
    {
      name: "restart redis",
      hits: () => true,
      bring: () => servers.redis.kill().then(() => null),
      takeBack: () => servers.redis.restart(),
    },
    {
      name: "restart postgres",
      hits: () => true,
      bring: () => servers.postgres.kill().then(() => null),
      takeBack: () => servers.postgres.restart().then(() => untilDatabaseAnswers(databaseUrl)),
    },
  ];
  return [...kills, ...stops, ...freezes, pauses, ...restarts, ...cuts];
}

function wordOf({ role }: Member, ways: readonly Way[]): string {
  const [way = "web", ...others] = ways;
  if (others.length > 0) return "everything";
  if (way !== "web") return way;
  return role === "checker" ? "targets" : "clickhouse";
}

/** Until others hold every shard of a scheduler. @returns how long that took, ms */
async function untilMoved(one: Member, act: () => Promise<void>, { plane }: FaultsOptions): Promise<number> {
  const { shards, schedulers } = await plane.shards.view();
  const id = schedulers.find(({ name }) => name.endsWith(` ${one.pid}`))?.id;
  const held = shards.filter(({ holder }) => holder !== null && holder === id);
  if (held.length === 0) throw new Error(`${one.name} holds no shard`);
  const startedAtMs = performance.now();
  const acted = act();
  await eventually(async () => {
    const now = (await plane.shards.view()).shards;
    return held.every(({ shard, epoch }) => (now[shard]?.epoch ?? 0) > epoch && now[shard]?.holder !== null)
      ? true
      : undefined;
  }, SHARD_LEASE_MS + MOVE_MARGIN_MS);
  const tookMs = Math.round(performance.now() - startedAtMs);
  await acted;
  return tookMs;
}
