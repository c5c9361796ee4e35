/** Schemathesis, a validator of another lineage and a generator of Python clients, from PyPI: installed once into a folder of their own, pinned in requirements.txt. */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProgram } from "../servers/server.ts";
import { takeInto } from "./tool-folder.ts";

const REQUIREMENTS = fileURLToPath(new URL("requirements.txt", import.meta.url));
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/sonde/", import.meta.url));
/** Fifty wheels over a slow network. */
const INSTALL_WITHIN_MS = 300_000;

/** Installs them if they are not there yet. @returns why they cannot be had, in words that say what to do */
export function missingPythonTools(): string | undefined {
  const python = findProgram("python3");
  if (python === undefined) return "no python3 on the PATH (Debian: python3, python3-pip)";
  if (existsSync(folderOf(python))) return undefined;
  if (spawnSync(python, ["-m", "pip", "--version"]).status !== 0) return "python3 has no pip (Debian: python3-pip)";
  const unfinished = `${folderOf(python)}.${process.pid}`;
  const words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
  const install = spawnSync(python, [...words, "--target", unfinished, "-r", REQUIREMENTS], {
    encoding: "utf8",
    timeout: INSTALL_WITHIN_MS,
  });
  if (install.status !== 0) {
    rmSync(unfinished, { recursive: true, force: true });
    return `pip could not install ${REQUIREMENTS}: ${install.stderr?.trim().split("\n").at(-1) ?? install.signal}`;
  }
  takeInto(unfinished, folderOf(python));
  return undefined;
}

/** What runs a module of theirs, and where it finds it. */
export function pythonModule(name: string): {
  readonly command: readonly string[];
  readonly env: { PYTHONPATH: string };
} {
  const python = findProgram("python3") ?? "python3";
  return { command: [python, "-m", name], env: { PYTHONPATH: folderOf(python) } };
}

/** Of this list for this Python: native modules are built for one. */
function folderOf(python: string): string {
  const version = execFileSync(python, ["--version"], { encoding: "utf8" }).trim();
  const hash = createHash("sha256").update(readFileSync(REQUIREMENTS)).update(version).digest("hex");
  return join(CACHE, `python-${hash.slice(0, 16)}`);
}
