/**
 * Loads uWebSockets.js's binary, which runs inside the process that holds the keys: only one whose SHA-256 is known, and none of the package's
 * other code. What is hashed and what is loaded is one open file, so exchanging its name between the two changes nothing.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { closeSync, existsSync, fstatSync, openSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { UWS_PINS } from "./uws-pins.ts";

export type Uws = typeof import("uWebSockets.js");

/** A binary that the operator brings, SONDE_UWS and SONDE_UWS_SHA256. */
export interface UwsFile {
  /** Absolute. */
  readonly path: string;
  /** 64 hexadecimal digits. */
  readonly sha256: string;
}

/** One line: why it is not used. */
export class UwsRefused extends Error {
  override readonly name = "UwsRefused";
}

/** stat(2): every user may write. */
const WRITABLE_BY_ALL = 0o002;

const loaded = new Map<string, Uws>();

/**
 * @param chosen null: the package's own for this system and Node
 * @throws UwsRefused when there is none, it is not the one that is pinned, every user may change it, or it does not load here
 */
export function loadUws(chosen: UwsFile | null): Uws {
  const file = chosen ?? packaged();
  const key = `${file.path} ${file.sha256}`;
  const before = loaded.get(key);
  if (before !== undefined) return before;
  const uws = loadChecked(file);
  loaded.set(key, uws);
  return uws;
}

function packaged(): UwsFile {
  const { platform, arch, versions } = process;
  const name = `uws_${platform}_${arch}_${versions.modules}.node`;
  const sha256 = UWS_PINS[name];
  if (sha256 === undefined) throw new UwsRefused(`there is no pinned binary for this system and Node (${name})`);
  let folder: string;
  try {
    folder = dirname(createRequire(import.meta.url).resolve("uWebSockets.js/package.json"));
  } catch {
    throw new UwsRefused("the package is not installed");
  }
  return { path: join(folder, name), sha256 };
}

function loadChecked(file: UwsFile): Uws {
  const fd = opened(file.path);
  try {
    return loadOpened(file, fd);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function loadOpened({ path, sha256 }: UwsFile, fd: number): Uws {
  const name = basename(path);
  const { mode } = fstatSync(fd);
  if ((mode & WRITABLE_BY_ALL) !== 0) throw new UwsRefused(`${name} may be changed by every user of this machine`);
  const found = createHash("sha256").update(readFileSync(fd)).digest();
  const wanted = Buffer.from(sha256, "hex");
  if (wanted.length !== found.length || !timingSafeEqual(found, wanted))
    throw new UwsRefused(`${name} has SHA-256 ${found.toString("hex")}, and ${sha256} was expected`);
  // The open file itself. It stays open: the loader knows libraries by this name, so the number must never be another file's.
  const same = `/proc/self/fd/${fd}`;
  const module = { exports: {} as Uws };
  try {
    process.dlopen(module, existsSync(same) ? same : path);
  } catch (error) {
    throw new UwsRefused(`${name} does not load: ${(error as Error).message.split("\n")[0] ?? ""}`);
  }
  return module.exports;
}

function opened(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    throw new UwsRefused(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`);
  }
}
