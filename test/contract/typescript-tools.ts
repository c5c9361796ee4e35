/** The generator of TypeScript clients, with the compiler that it needs: installed once from clients/package-lock.json into a folder of their own. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProgram } from "../servers/server.ts";
import { takeInto } from "./tool-folder.ts";

const CLIENTS = fileURLToPath(new URL("clients/", import.meta.url));
const LISTS = ["package.json", "package-lock.json"];
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/sonde/", import.meta.url));
/** Thirty packages over a slow network. */
const INSTALL_WITHIN_MS = 300_000;

/** Installs them if they are not there yet. @returns why they cannot be had, in words that say what to do */
export function missingTypescriptTools(): string | undefined {
  if (existsSync(folder())) return undefined;
  if (findProgram("npm") === undefined) return "no npm on the PATH (Debian: npm)";
  const unfinished = `${folder()}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  for (const name of LISTS) cpSync(join(CLIENTS, name), join(unfinished, name));
  const words = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const install = spawnSync("npm", words, { cwd: unfinished, encoding: "utf8", timeout: INSTALL_WITHIN_MS });
  if (install.status !== 0) {
    rmSync(unfinished, { recursive: true, force: true });
    return `npm could not install ${CLIENTS}package-lock.json: ${install.stderr?.trim().split("\n").at(-1) ?? install.signal}`;
  }
  takeInto(unfinished, folder());
  return undefined;
}

/** Their `node_modules`. */
export function typescriptModules(): string {
  return join(folder(), "node_modules");
}

function folder(): string {
  const hash = createHash("sha256")
    .update(readFileSync(join(CLIENTS, "package-lock.json")))
    .digest("hex");
  return join(CACHE, `typescript-${hash.slice(0, 16)}`);
}
