/** `sonde cores`: the proxy cores that share links are checked through. */

import type { Command } from "commander";
import { loadCorePaths } from "../../config.ts";
import type { CorePaths } from "../../engine/cores/program.ts";
import type { Engine } from "../../model/subscription.ts";
import { CommandError } from "../command.ts";
import { printJson } from "../service-options.ts";
import { renderTable, tableOptions } from "../table.ts";

interface Options {
  readonly json?: boolean;
}

interface State {
  readonly core: Engine;
  readonly path: string | null;
  readonly from: string | null;
  readonly version: string | null;
  readonly wanted: string;
  /** null: there is no fault, or it was not checked. */
  readonly fault: string | null;
}

/** So often a line while Go builds, ms. */
const PROGRESS_MS = 10_000;

export function addCores(program: Command): void {
  const group = program
    .command("cores")
    .description(
      "install and list xray and sing-box, which check share links (vless, vmess, trojan, shadowsocks, hysteria2, tuic)",
    )
    .addHelpText("after", "\nExamples:\n  sonde cores install\n  sonde cores list\n  sonde cores verify --json\n");
  group
    .command("install")
    .argument("[core]", "xray or singbox; otherwise both")
    .option("--json", "print one JSON object")
    .description("build them from pinned sources into the data folder (needs Go, a few minutes)")
    .addHelpText("after", "\nExample:\n  sonde cores install xray\n")
    .action(async (core: string | undefined, options: Options) => show(await install(enginesOf(core)), options));
  group
    .command("list")
    .option("--json", "print one JSON object")
    .description("list their paths and versions")
    .addHelpText("after", "\nExample:\n  sonde cores list --json\n")
    .action(async (options: Options) => show(await states(false), options));
  group
    .command("verify")
    .option("--json", "print one JSON object")
    .description("verify that each has the right version, is unchanged, and accepts Sonde's configuration")
    .addHelpText("after", "\nExample:\n  sonde cores verify --json\n")
    .action(async (options: Options) => {
      const found = await states(true);
      show(found, options);
      const bad = found.filter(({ fault }) => fault !== null);
      if (bad.length > 0) throw new CommandError(bad.map(({ core, fault }) => `${core}: ${fault}`).join("; "));
    });
}

function enginesOf(word: string | undefined): readonly Engine[] {
  if (word === undefined) return ["xray", "singbox"];
  if (word === "xray" || word === "singbox") return [word];
  throw new CommandError("the core must be xray or singbox");
}

/** One after the other: each build takes all the processors that there are. */
async function install(engines: readonly Engine[]): Promise<readonly State[]> {
  const { installCore } = await import("../../engine/cores/install.ts");
  const paths = loadCorePaths();
  const installed: State[] = [];
  for (const engine of engines) {
    const startedMs = performance.now();
    const tell = (what: string): void => {
      process.stderr.write(`${engine}: ${what} (${Math.round((performance.now() - startedMs) / 1_000)} s)\n`);
    };
    tell("building");
    const timer = setInterval(() => tell("still building"), PROGRESS_MS);
    try {
      await installCore(engine, paths.dataDir);
    } catch (error) {
      throw new CommandError(`${engine}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      clearInterval(timer);
    }
    tell("installed");
    installed.push(await stateOf(engine, { ...paths, [engine]: null }, true));
  }
  return installed;
}

async function states(isThorough: boolean): Promise<readonly State[]> {
  const paths = loadCorePaths();
  return Promise.all(enginesOf(undefined).map((engine) => stateOf(engine, paths, isThorough)));
}

async function stateOf(core: Engine, paths: CorePaths, isThorough: boolean): Promise<State> {
  const { findCore, PROGRAMS, versionOf } = await import("../../engine/cores/program.ts");
  const { version: wanted, setting } = PROGRAMS[core];
  const found = findCore(core, paths);
  if (found === undefined) {
    const fault = `not found: run "sonde cores install ${core}", or set ${setting}`;
    return { core, path: null, from: null, version: null, wanted, fault };
  }
  const { faultOf } = await import("../../engine/cores/install.ts");
  const version = (await versionOf(found))?.version ?? null;
  const fault = isThorough ? ((await faultOf(found)) ?? null) : null;
  return { core, path: found.path, from: found.from, version, wanted, fault };
}

function show(found: readonly State[], options: Options): void {
  if (options.json === true) {
    printJson({ cores: found });
    return;
  }
  const rows = found.map(({ core, version, wanted, from, path, fault }) => [core, version, wanted, from, path, fault]);
  process.stdout.write(
    `${renderTable(["core", "version", { head: "needed", dropped: 2 }, { head: "from", dropped: 1 }, { head: "path", least: 12 }, { head: "fault", least: 20 }], rows, tableOptions())}\n`,
  );
}
