/** What every part of the bench has: servers of a realistic mix, a target, and the engine ready to be opened. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadCorePaths } from "../../config.ts";
import { findCore, PROGRAMS } from "../../engine/cores/program.ts";
import { type Direct, openDirect } from "../../engine/direct/direct.ts";
import type { Engine } from "../../model/subscription.ts";
import { type Mix, startMix } from "./mix.ts";
import { makeAuthority, startTarget, stopProcess, type Target } from "./processes.ts";

export interface LinksBenchOptions {
  readonly configs: number;
  readonly inFlight: number;
  readonly rawInFlight: number;
  readonly rounds: number;
  readonly timeoutMs: number;
}

/** What every part has. */
export interface Rig {
  readonly programs: Readonly<Record<Engine, string>>;
  readonly mix: Mix;
  readonly target: Target;
  readonly extraCaPem: string;
  readonly options: LinksBenchOptions;
  /** Processes of the bench itself. */
  readonly others: readonly number[];
  open(inFlight: number): Promise<Direct>;
}

export async function withRig(
  options: LinksBenchOptions,
  parts: readonly ((rig: Rig) => Promise<void>)[],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sonde-bench-"));
  const programs = { xray: programOf("xray"), singbox: programOf("singbox") };
  const authority = makeAuthority(folder, "bench.test");
  const target = await startTarget();
  const mix = await startMix(programs.singbox, authority);
  const engine = {
    allowNets: ["127.0.0.0/8"],
    ownEndpoints: [],
    resolvers: ["127.0.0.1:9"],
    extraCaPem: authority.pem,
    rdapBootstrapUrl: null,
    canaries: [],
    verifyUrls: [`http://127.0.0.1:${target.port}/verify#token`],
    cores: { ...loadCorePaths(), ...programs },
  };
  const log = (fields: object, message: string): void => console.log(`  ${message} ${JSON.stringify(fields)}`);
  const open = (concurrency: number): Promise<Direct> =>
    openDirect({
      engine,
      workers: 1,
      concurrency,
      log: { info: () => {}, warn: log, error: log },
      onFatal: (error) => console.log(String(error)),
    });
  const others = [target.child, mix.server].flatMap(({ pid }) => pid ?? []);
  try {
    for (const run of parts) await run({ programs, mix, target, extraCaPem: authority.pem, options, others, open });
  } finally {
    await stopProcess(mix.server);
    await stopProcess(target.child);
    rmSync(folder, { recursive: true, force: true });
  }
}

function programOf(engine: Engine): string {
  const found = findCore(engine, loadCorePaths());
  if (found === undefined) throw new Error(`${PROGRAMS[engine].file} is missing: npx sonde cores install`);
  return found.path;
}
