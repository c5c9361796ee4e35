/** The configuration that a command checks: text, the name of a file, or stdin; and the options that go with it. */
import { type Stats, statSync } from "node:fs";
import type { Command } from "commander";
import { type CommandError, usageError } from "../command.ts";
import { askSecret, readSecret } from "./secret.ts";
import { readStdin, readTextFile } from "./stdin.ts";
import type { LoginFields } from "./target.ts";

export interface LoginOptions {
  readonly host?: string;
  readonly username?: string;
  readonly passwordFile?: string;
  readonly pskFile?: string;
  readonly port?: number;
  readonly remoteId?: string;
  readonly localId?: string;
  readonly group?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly keyFile?: string;
  readonly pin?: string;
}

export interface CheckSource {
  readonly text: string;
  /** Null for what was no file. */
  readonly file: string | null;
}

/** Of a configuration file or stdin, bytes. */
const LARGEST_BYTES = 1024 * 1024;

export function addLoginOptions(command: Command): Command {
  return command
    .option("--username <name>", "openconnect, ikev2, openvpn: the username")
    .option("--password-file <file>", "its first line is the password; - for stdin; otherwise it is asked for")
    .option("--psk-file <file>", "ikev2 without a username: the pre-shared key")
    .option("--host <host>", "use this server instead of the file's (wireguard, amneziawg, openvpn)")
    .option("--port <n>", "use this port", portOf)
    .option("--remote-id <id>", "ikev2: the identity that the server must prove")
    .option("--local-id <id>", "ikev2: our own identity, when it is not the username")
    .option("--group <name>", "openconnect: the group to log in to")
    .option("--ca <file>", "openconnect, ikev2: PEM of the authorities to trust")
    .option("--cert <file>", "ikev2: PEM of our certificate, with --key-file instead of a login")
    .option("--key-file <file>", "ikev2: PEM of its private key, not encrypted")
    .option("--pin <pin>", "openconnect: pin-sha256:… of the server's key");
}

/** @param word text, the name of a file, or - for stdin */
export async function readSource(word: string, options: LoginOptions): Promise<CheckSource> {
  if (word === "-" && (options.passwordFile === "-" || options.pskFile === "-")) {
    throw usageError("stdin can be the configuration or the password, not both");
  }
  if (word === "-") return { text: await readStdin(LARGEST_BYTES, tooLarge("stdin")), file: null };
  const text = readText(word);
  if (!isFile(word)) return { text, file: null };
  const { wholeProfile } = await import("./whole-profile.ts");
  return { text: wholeProfile(text, word), file: word };
}

export async function loginOf(options: LoginOptions, protocol: string | null): Promise<LoginFields> {
  const { username, host, port, remoteId, localId, group, pin } = options;
  const isLogin = protocol === "openconnect" || protocol === "ikev2" || username !== undefined;
  const psk = options.pskFile === undefined ? undefined : await readSecret(options.pskFile);
  if (protocol === "openconnect" && username === undefined) throw usageError("openconnect needs --username");
  const hasSecret = [options.passwordFile, options.pskFile, options.keyFile].some((file) => file !== undefined);
  const password =
    options.passwordFile !== undefined
      ? await readSecret(options.passwordFile)
      : isLogin && !hasSecret
        ? await askSecret(username === undefined ? "pre-shared key" : `password of ${username}`)
        : undefined;
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(psk !== undefined && { psk }),
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(remoteId !== undefined && { remote_id: remoteId }),
    ...(localId !== undefined && { local_id: localId }),
    ...(group !== undefined && { group }),
    ...(pin !== undefined && { pin }),
    ...(options.ca !== undefined && { ca: readText(options.ca) }),
    ...(options.cert !== undefined && { cert: readText(options.cert) }),
    ...(options.keyFile !== undefined && { key: readKey(options.keyFile) }),
  };
}

/** Only from a file: what stands in a command line is seen by every user of the machine. */
function readKey(file: string): string {
  if (!isFile(file)) throw usageError("--key-file names no file");
  return readText(file);
}

/** An argument that names a file means its text; one that only looks like a file's name is not taken for a host. */
function readText(word: string): string {
  if (!isFile(word)) {
    const isPath = /^\.{0,2}\/|^[^:]*\.(?:conf|ovpn|txt|json|ya?ml|pem|crt)$/i.test(word);
    if (isPath && word.length < 4_096 && statOf(word) === undefined) throw usageError(`there is no file ${word}`);
    // Without a slash it may be a host that a folder is named after.
    if (word.includes("/") && statOf(word)?.isDirectory() === true)
      throw usageError(`${word} is a folder: sonde bulk checks the files of one`);
    return word;
  }
  try {
    if (statSync(word).size <= LARGEST_BYTES) return readTextFile(word);
  } catch (error) {
    throw usageError(`cannot read ${word} (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`);
  }
  throw tooLarge(word);
}

function tooLarge(word: string): CommandError {
  return usageError(`${word} is larger than 1 MiB: for a list use sonde bulk`);
}

function isFile(word: string): boolean {
  return statOf(word)?.isFile() === true;
}

/** Undefined for what names nothing that can be looked at. */
function statOf(word: string): Stats | undefined {
  try {
    return word.length < 4_096 ? statSync(word) : undefined;
  } catch {
    return undefined;
  }
}

function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > 65_535)
    throw usageError("--port must be 1 to 65535");
  return Number(text);
}
