/** The cores' programs on this machine: their paths, their versions, and their own check of a config file. */

import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Engine } from "../../model/subscription.ts";
import { GARBAGE_PERCENT } from "./core.ts";

/** What is built, and how its program is found and asked. */
export const PROGRAMS = {
  xray: {
    file: "xray",
    setting: "SONDE_XRAY",
    package: "github.com/xtls/xray-core/main",
    /** As the program tells it. The module's own number is v1.260327.0. */
    version: "26.3.27",
    tags: [],
    linked: "-s -w -buildid=",
    check: ["run", "-test", "-c", "stdin:"],
    run: ["run", "-c", "stdin:"],
    /** All of it: xray's file has no such setting. */
    environment: [`GOGC=${GARBAGE_PERCENT}`],
  },
  singbox: {
    file: "sing-box",
    setting: "SONDE_SING_BOX",
    package: "github.com/sagernet/sing-box/cmd/sing-box",
    version: "1.14.1",
    tags: ["with_quic", "with_utls", "with_grpc"],
    linked: "-s -w -buildid= -X github.com/sagernet/sing-box/constant.Version=1.14.1",
    check: ["check", "-c", "stdin"],
    run: ["run", "-c", "stdin", "--disable-color"],
    environment: [],
  },
} as const satisfies Record<Engine, object>;

export const ENGINES = ["xray", "singbox"] as const satisfies readonly Engine[];

/** Where programs are looked for, in this order. */
export interface CorePaths {
  /** Absolute; null: not set. */
  readonly xray: string | null;
  readonly singbox: string | null;
  /** Absolute; what is installed lies in `cores/` of it. */
  readonly dataDir: string;
  /** Folders as in PATH. */
  readonly path: string;
}

export interface FoundCore {
  readonly engine: Engine;
  readonly path: string;
  readonly from: "setting" | "data folder" | "PATH";
}

export interface CoreVersion {
  readonly version: string;
  readonly tags: readonly string[];
}

/** Long enough for a busy machine, ms. */
const ANSWER_MS = 60_000;

export function coresFolder(dataDir: string): string {
  return join(dataDir, "cores");
}

/** A setting that leads nowhere is not replaced by another program in silence: it is found, and fails where it is used. */
export function findCore(engine: Engine, paths: CorePaths): FoundCore | undefined {
  const set = paths[engine];
  if (set !== null) return { engine, path: set, from: "setting" };
  const { file } = PROGRAMS[engine];
  const downloaded = join(coresFolder(paths.dataDir), file);
  if (isExecutable(downloaded)) return { engine, path: downloaded, from: "data folder" };
  const path = paths.path
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, file))
    .find(isExecutable);
  return path === undefined ? undefined : { engine, path, from: "PATH" };
}

/** @param path as it was set; null: it was not. @throws an Error of one line */
export function requireProgram(path: string | null): void {
  if (path === null || (isExecutable(path) && statSync(path).isFile())) return;
  throw new Error(`there is no program that may be run at ${path}`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @returns undefined when the program does not answer as this core does */
export async function versionOf({ engine, path }: FoundCore): Promise<CoreVersion | undefined> {
  const { code, output } = await ask(path, ["version"], "");
  const [, version] = (engine === "xray" ? /^Xray (\S+)/m : /^sing-box version (\S+)/m).exec(output) ?? [];
  if (code !== 0 || version === undefined) return undefined;
  const [, tags = ""] = /^Tags: *(\S+)$/m.exec(output) ?? [];
  return { version, tags: tags.split(",").filter((tag) => tag !== "") };
}

/** The core's own check. @returns its error output; undefined when it accepts the file */
export async function errorOutputAbout({ engine, path }: FoundCore, file: string): Promise<string | undefined> {
  const { code, output } = await ask(path, PROGRAMS[engine].check, file);
  return code === 0 ? undefined : output.trim() || `ended with ${code}`;
}

/** By stdin, in an empty environment: foreign configs can name variables. */
function ask(path: string, args: readonly string[], input: string): Promise<{ code: number | string; output: string }> {
  return new Promise((resolve) => {
    const options = { env: {}, timeout: ANSWER_MS, maxBuffer: 16 * 1024 * 1024 };
    const child = execFile(path, [...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code ?? error.signal ?? "a signal"), output: stdout + stderr });
    });
    // A program that ends before it has read says why by its exit.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}
