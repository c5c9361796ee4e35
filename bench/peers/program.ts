/** A peer that is one program of Go: built from its sources, started with words and settings of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { build, type PeerSource } from "./build.ts";
import type { Peer, RunningPeer, Site } from "./peer.ts";

export interface ProgramPeer {
  readonly source: PeerSource;
  /** After its name, where the same program is measured in two ways. */
  readonly way?: string;
  readonly what: string;
  /** Words of the command line; writes its settings into the folder of the site. */
  readonly words: (site: Site) => readonly string[];
  readonly env?: (site: Site) => Readonly<Record<string, string>>;
  /** Asks it for checks where it does not schedule, until `isOver`. */
  readonly drive?: (site: Site, isOver: () => boolean) => Promise<void>;
  readonly warmUpS: (site: Site) => number;
}

/** Time for the program to listen before it is asked, ms. */
const LISTENS_AFTER_MS = 2_000;

export function programPeer(program: ProgramPeer): Peer {
  const { name, version } = program.source;
  return {
    name: [name, version, program.way].filter((word) => word !== undefined).join(" "),
    what: program.what,
    async prepare() {
      const built = await build(program.source);
      return "reason" in built ? built : { start: (site) => started(program, built.binary, site) };
    },
  };
}

async function started(program: ProgramPeer, binary: string, site: Site): Promise<RunningPeer> {
  const child = spawn(binary, program.words(site), { env: { PATH: "", ...program.env?.(site) }, stdio: "ignore" });
  await pause(LISTENS_AFTER_MS);
  let isOver = false;
  const driving = program.drive?.(site, () => isOver);
  return {
    pid: child.pid ?? 0,
    warmUpS: program.warmUpS(site),
    isUp: () => child.exitCode === null && child.signalCode === null,
    async stop() {
      isOver = true;
      await driving;
      await ended(child);
    },
  };
}

/** SIGKILL, and its end. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
