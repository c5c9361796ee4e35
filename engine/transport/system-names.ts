/** This machine's settings for names: /etc/hosts (hosts(5)) and /etc/resolv.conf (resolv.conf(5)). Pure, except SystemNames, which reads them. */

import { readFileSync, statSync } from "node:fs";
import { before } from "../../model/text.ts";
import { parseIpv4, parseIpv6 } from "../net/ip.ts";
import { literalOf } from "../net/literal.ts";
import { toAsciiName } from "../protocols/dns/name.ts";
import type { Address } from "./transport.ts";

/** glibc's default; it takes no more than 15. */
const NDOTS = 1;
const NDOTS_LIMIT = 15;
/** glibc's MAXNS and the bound of its search list before 2.26. */
const SERVER_LIMIT = 3;
const SEARCH_LIMIT = 6;
/** The files are read again after this long, ms. */
const LOOK_AGAIN_MS = 5_000;
/** A hosts file may be a large block list; one above this size is ignored, bytes. */
const FILE_BYTES = 16 * 1024 * 1024;

export interface ResolvConf {
  /** As written: `ip`, for link-local ones with a zone. */
  readonly nameservers: readonly string[];
  /** Suffixes for names with fewer dots than `ndots`. */
  readonly search: readonly string[];
  readonly ndots: number;
}

export type Hosts = ReadonlyMap<string, readonly Address[]>;

export function parseResolvConf(text: string): ResolvConf {
  const nameservers: string[] = [];
  let search: readonly string[] = [];
  let ndots = NDOTS;
  for (const line of text.split("\n")) {
    const [keyword, ...words] = before(line, "#;").trim().split(/\s+/);
    const [first] = words;
    if (keyword === "nameserver" && first !== undefined && isStrictAddress(first)) nameservers.push(first);
    // The last of `search` and `domain` wins.
    if (keyword === "search" || keyword === "domain") search = words.flatMap((word) => toAsciiName(word) ?? []);
    const option = keyword === "options" ? words.find((word) => /^ndots:\d+$/.test(word)) : undefined;
    if (option !== undefined) ndots = Math.min(Number(option.slice("ndots:".length)), NDOTS_LIMIT);
  }
  return { nameservers: nameservers.slice(0, SERVER_LIMIT), search: search.slice(0, SEARCH_LIMIT), ndots };
}

function isStrictAddress(text: string): boolean {
  return parseIpv4(text) >= 0 || parseIpv6(text.split("%", 1)[0] ?? "") !== undefined;
}

export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, Address[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...names] = before(line, "#").trim().split(/\s+/);
    const literal = literalOf(address);
    if (literal === undefined || literal.hasZone) continue;
    for (const each of names) {
      const name = each.toLowerCase().replace(/\.$/, "");
      const known = hosts.get(name) ?? [];
      if (!known.some(({ ip }) => ip === literal.ip)) known.push({ ip: literal.ip, family: literal.family });
      hosts.set(name, known);
    }
  }
  return hosts;
}

/**
 * Which names to ask for, in order. Unlike glibc, a name with enough dots is asked as it stands and no other way: a monitor must not
 * become healthy because a search domain answers for names that do not exist.
 */
export function searchedNames(name: string, isAbsolute: boolean, { search, ndots }: ResolvConf): readonly string[] {
  const dots = name.split(".").length - 1;
  if (isAbsolute || dots >= ndots) return [name];
  return [...search.map((suffix) => `${name}.${suffix}`), name];
}

/** The two files, read when first asked for and again after they changed. */
export class SystemNames {
  readonly #hosts: WatchedFile<Hosts>;
  readonly #resolvConf: WatchedFile<ResolvConf>;

  constructor(hostsPath = "/etc/hosts", resolvConfPath = "/etc/resolv.conf") {
    this.#hosts = new WatchedFile(hostsPath, parseHosts);
    this.#resolvConf = new WatchedFile(resolvConfPath, parseResolvConf);
  }

  hosts(nowMs: number): Hosts {
    return this.#hosts.read(nowMs);
  }

  resolvConf(nowMs: number): ResolvConf {
    return this.#resolvConf.read(nowMs);
  }
}

class WatchedFile<Parsed> {
  readonly #path: string;
  readonly #parse: (text: string) => Parsed;
  #parsed: Parsed;
  #version = "";
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(path: string, parse: (text: string) => Parsed) {
    this.#path = path;
    this.#parse = parse;
    this.#parsed = parse("");
  }

  /** A file that is missing or cannot be read is empty. */
  read(nowMs: number): Parsed {
    if (nowMs - this.#lookedAtMs < LOOK_AGAIN_MS) return this.#parsed;
    this.#lookedAtMs = nowMs;
    const version = versionOf(this.#path);
    if (version !== this.#version) {
      this.#version = version;
      this.#parsed = this.#parse(textOf(this.#path));
    }
    return this.#parsed;
  }
}

function versionOf(path: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch {
    return "none";
  }
}

function textOf(path: string): string {
  try {
    const bytes = readFileSync(path);
    return bytes.length > FILE_BYTES ? "" : bytes.toString("utf8");
  } catch {
    return "";
  }
}
