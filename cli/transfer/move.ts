/** `sonde move`: carries everything from a data folder to servers, or back. */

import type { Config } from "../../config.ts";
import { createLog } from "../../log.ts";
import type { Moved } from "../../store/move/move.ts";
import type { OpenSide, Servers } from "../../store/move/sides.ts";
import { CommandError } from "../command.ts";
import { loadOwnConfig } from "../own-config.ts";
import { printJson } from "../service-options.ts";
import { ProgressLine } from "./progress.ts";
import { rowsOf } from "./words.ts";

export interface MoveCommandOptions {
  readonly to: string;
  readonly anew?: boolean;
  readonly json?: boolean;
}

export async function runMove({ to, anew, json }: MoveCommandOptions): Promise<void> {
  if (to !== "servers" && to !== "folder")
    throw new CommandError(
      `--to is servers or folder, not ${to}: servers are those of the settings, the folder is SONDE_DATA_DIR`,
    );
  const config = loadOwnConfig();
  const servers = serversOf(config);
  const startedAt = performance.now();
  const progress = new ProgressLine();
  try {
    const moved = await carry(to, config, servers, anew === true, progress);
    progress.close();
    const facts = factsOf(moved, to, (performance.now() - startedAt) / 1_000);
    if (json === true) printJson(facts);
    else process.stdout.write(textOf(facts));
  } finally {
    progress.close();
  }
}

interface AllServers extends Servers {
  readonly keyFile: string;
}

function serversOf({ databaseUrl, redisUrl, clickhouseUrl, sealingKeyFile }: Config): AllServers {
  const settings = {
    SONDE_DATABASE_URL: databaseUrl,
    SONDE_REDIS_URL: redisUrl,
    SONDE_CLICKHOUSE_URL: clickhouseUrl,
    SONDE_SEALING_KEY_FILE: sealingKeyFile,
  };
  if (databaseUrl === null || redisUrl === null || clickhouseUrl === null || sealingKeyFile === null) {
    const missing = Object.entries(settings).flatMap(([name, value]) => (value === null ? [name] : []));
    throw new CommandError(`a move needs the addresses of all servers and the sealing key: set ${missing.join(", ")}`);
  }
  return { databaseUrl, redisUrl, clickhouseUrl, keyFile: sealingKeyFile };
}

async function carry(
  to: "servers" | "folder",
  config: Config,
  servers: AllServers,
  isAnew: boolean,
  progress: ProgressLine,
): Promise<Moved> {
  const { openFolderSide, openServerSide, placeKey, refuseOtherKey } = await import("../../store/move/sides.ts");
  const { move } = await import("../../store/move/move.ts");
  const log = createLog(config.logLevel === "info" ? "warn" : config.logLevel, "move");
  progress.tell("opening the stores");
  const isToServers = to === "servers";
  const opened: OpenSide[] = [];
  const open = async (isFolder: boolean, use: "source" | "target"): Promise<OpenSide> => {
    const side = isFolder ? await openFolderSide(config.dataDir, use, log) : await openServerSide(servers, use, log);
    opened.push(side);
    return side;
  };
  try {
    const from = await open(isToServers, "source");
    await refuseOtherKey(from, servers.keyFile);
    const target = await open(!isToServers, "target");
    const moved = await move({ from, to: target, isAnew, nowMs: Date.now, progress: progress.tell });
    if (!isToServers) placeKey(servers.keyFile, config.dataDir);
    return moved;
  } finally {
    for (const side of opened.reverse()) await side.close();
  }
}

type Facts = ReturnType<typeof factsOf>;

function factsOf({ tables, results, counters, missed, isResumed }: Moved, to: string, seconds: number) {
  return {
    to,
    seconds: Math.round(seconds * 10) / 10,
    resumed: isResumed,
    tables,
    results,
    counters,
    missed: {
      since: missed.sinceMs === null ? null : new Date(missed.sinceMs).toISOString(),
      turns: missed.turns,
      monitors: missed.monitors,
      by_interval: missed.byInterval,
    },
  };
}

function textOf({ tables, results, missed, seconds, to }: Facts): string {
  const amount = (name: string, one: string): string => rowsOf(tables[name]?.rows ?? 0, one);
  const where = to === "servers" ? "on the servers" : "in the folder";
  const late = Object.entries(missed.by_interval).map(
    ([interval, { monitors, turns }]) =>
      `${rowsOf(turns, "turn")} of ${rowsOf(monitors, "monitor")} every ${interval} s`,
  );
  const lines = [
    `${amount("monitors", "monitor")}, ${amount("incidents", "incident")}, ${amount("api_keys", "key")} and ${rowsOf(results.results?.rows ?? 0, "result")} are ${where} now, alike on both sides, after ${seconds} s.`,
    missed.turns === 0
      ? "No turn was missed so far."
      : `Missed since the last check at ${missed.since ?? ""}: ${late.join(", ")}. The service counts them when it starts.`,
    "The source is as it was: do not start a service on it again.",
  ];
  return `${lines.join("\n")}\n`;
}
