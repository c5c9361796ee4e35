/**
 * Landlock rulesets: which files a process may touch, to which TCP ports it may connect, whom it may send signals. A ruleset is made here, and
 * taken by the child between fork and exec (confined.ts). What the kernel does not know yet is left out, by its version (landlock(7)).
 */
import { closeSync, constants, openSync, statSync } from "node:fs";
import { loadKernel } from "./kernel.ts";

/**
 * `read` files and folders; `run` also starts programs there; `write` everything within a folder, but starting programs; `device` reads and
 * writes what is there, makes nothing.
 */
export type FileAccess = "read" | "run" | "write" | "device";

export interface FileRule {
  readonly path: string;
  readonly access: FileAccess;
}

export interface Rules {
  /** What is not there is left out. */
  readonly files: readonly FileRule[];
  /** Ports that it may listen on, 0 for one that the kernel chooses; null: any. */
  readonly listens: readonly number[] | null;
  /** Ports that it may connect to; null: any. */
  readonly connects: readonly number[] | null;
}

/** What the kernel's version of Landlock can hold back (landlock(7), "Landlock ABI versions"). */
export interface LandlockPowers {
  readonly abi: number;
  readonly hasTcp: boolean;
  readonly hasSignals: boolean;
}

const EXECUTE = 1;
const WRITE_FILE = 1 << 1;
const READ_FILE = 1 << 2;
const READ_DIR = 1 << 3;
const TRUNCATE = 1 << 14;
const IOCTL_DEV = 1 << 15;
const REFER = 1 << 13;
/** Of the first version: up to MAKE_SYM. */
const FIRST_RIGHTS = (1 << 13) - 1;
/** What can be said of a file that is no folder. */
const FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;
const BIND_TCP = 1;
const CONNECT_TCP = 2;
const ABSTRACT_UNIX_SOCKET = 1;
const SIGNAL = 2;
const RULE_PATH_BENEATH = 1;
const RULE_NET_PORT = 2;
/** landlock_create_ruleset(2): ask for the version. */
const CREATE_VERSION = 1;
const TCP_SINCE = 4;
const SCOPES_SINCE = 6;
/** fcntl.h of Linux, the same on x86-64 and arm64: a handle on a path that opens nothing. */
const O_PATH = 0x20_0000;

let found: LandlockPowers | null | undefined;

/** Null where the kernel has none, or was started without it. */
export function landlockPowers(): LandlockPowers | null {
  if (found !== undefined) return found;
  const abi = loadKernel()?.landlockCreateRuleset(null, 0, CREATE_VERSION) ?? -1;
  found = abi < 1 ? null : { abi, hasTcp: abi >= TCP_SINCE, hasSignals: abi >= SCOPES_SINCE };
  return found;
}

/** @returns its descriptor; the caller closes it. @throws Error when the kernel refuses */
export function openRuleset(rules: Rules): number {
  const kernel = loadKernel();
  const powers = landlockPowers();
  if (kernel === null || powers === null) throw new Error("this kernel has no Landlock");
  const { abi } = powers;
  const handled = rightsOf(abi);
  const net = (rules.listens === null ? 0 : BIND_TCP) | (rules.connects === null ? 0 : CONNECT_TCP);
  const attributes = Buffer.alloc(24);
  attributes.writeBigUInt64LE(BigInt(handled), 0);
  attributes.writeBigUInt64LE(BigInt(net), 8);
  attributes.writeBigUInt64LE(BigInt(ABSTRACT_UNIX_SOCKET | SIGNAL), 16);
  const size = abi >= SCOPES_SINCE ? 24 : abi >= TCP_SINCE ? 16 : 8;
  const ruleset = kernel.landlockCreateRuleset(attributes, size, 0);
  if (ruleset < 0) throw new Error(`landlock_create_ruleset failed (errno ${kernel.errno()})`);
  try {
    for (const rule of rules.files) addFile(ruleset, rule, handled);
    if (powers.hasTcp) {
      addPorts(ruleset, rules.listens ?? [], BIND_TCP);
      addPorts(ruleset, rules.connects ?? [], CONNECT_TCP);
    }
    return ruleset;
  } catch (error) {
    closeSync(ruleset);
    throw error;
  }
}

/** Everything about files that this version can hold back. */
function rightsOf(abi: number): number {
  return FIRST_RIGHTS | (abi >= 2 ? REFER : 0) | (abi >= 3 ? TRUNCATE : 0) | (abi >= 5 ? IOCTL_DEV : 0);
}

const RIGHTS: Readonly<Record<FileAccess, number>> = {
  read: READ_FILE | READ_DIR,
  run: READ_FILE | READ_DIR | EXECUTE,
  write: ~(EXECUTE | IOCTL_DEV),
  device: READ_FILE | WRITE_FILE | IOCTL_DEV,
};

function addFile(ruleset: number, { path, access }: FileRule, handled: number): void {
  let handle: number;
  let isFolder: boolean;
  try {
    isFolder = statSync(path).isDirectory();
    handle = openSync(path, O_PATH | constants.O_RDONLY);
  } catch {
    // What is not there, or not ours to see, cannot be given.
    return;
  }
  try {
    const rule = Buffer.alloc(12);
    rule.writeBigUInt64LE(BigInt(RIGHTS[access] & handled & (isFolder ? handled : FILE_RIGHTS)), 0);
    rule.writeInt32LE(handle, 8);
    addRule(ruleset, RULE_PATH_BENEATH, rule);
  } finally {
    closeSync(handle);
  }
}

function addPorts(ruleset: number, ports: readonly number[], right: number): void {
  for (const port of new Set(ports)) {
    const rule = Buffer.alloc(16);
    rule.writeBigUInt64LE(BigInt(right), 0);
    rule.writeBigUInt64LE(BigInt(port), 8);
    addRule(ruleset, RULE_NET_PORT, rule);
  }
}

function addRule(ruleset: number, type: number, rule: Buffer): void {
  const kernel = loadKernel();
  if (kernel?.landlockAddRule(ruleset, type, rule) === 0) return;
  throw new Error(`landlock_add_rule failed (errno ${kernel?.errno() ?? 0})`);
}
