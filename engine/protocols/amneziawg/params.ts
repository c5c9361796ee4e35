/**
 * AmneziaWG's own keys of all generations (1.0, 1.5, 2.0, 3.x): ranges checked, the generation inferred, because nothing on the wire tells
 * it. An obfuscation key that we do not know is refused: a client that ignores one fails without a word.
 */
import { TunnelConfigError } from "../../contract/tunnel.ts";
import { entryOf, type Section } from "../wireguard/ini.ts";
import { looseEntries } from "../wireguard/loose-entries.ts";
import { parseSignature, type SignaturePacket } from "./tags.ts";

/** What goes before an initiation, in packets and bytes (docs/decisions/0005-no-weapon.md: we are no weapon). */
const MAX_PREAMBLE_PACKETS = 16;
const MAX_PREAMBLE_BYTES = 2_048;
/** awg-tools, config.c: 16 bits. */
const MAX_JC = 0xffff;
/** A datagram that no path fragments. */
const MAX_PADDING = 1_400;
/** Header protection takes its nonce from the padding. */
const NONCE_BYTES = 12;

/** Both ends belong to it. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

export type AmneziaVersion = "plain" | "1.0" | "1.5" | "2.0" | "3.x";

export interface Junk {
  /** What a check sends: no more than the bounds above leave. */
  readonly count: number;
  /** Jc of the file. */
  readonly wanted: number;
  readonly least: number;
  readonly most: number;
}

export interface AmneziaParams {
  readonly version: AmneziaVersion;
  readonly junk: Junk;
  /** S1 to S4: random bytes before each kind of message. */
  readonly padding: {
    readonly initiation: number;
    readonly response: number;
    readonly cookie: number;
    readonly transport: number;
  };
  /** H1 to H4: what stands in the place of each kind's type. */
  readonly headers: {
    readonly initiation: Range;
    readonly response: Range;
    readonly cookie: Range;
    readonly transport: Range;
  };
  readonly signatures: readonly SignaturePacket[];
  /** Of times and counters in signatures. */
  readonly wordBytes: 4 | 8;
  readonly headerProtectionKey: Uint8Array | null;
  /** Messages may be followed by bytes that mean nothing. */
  readonly hasTrailers: boolean;
  readonly contentPadding: Range;
}

const NUMBERED = { paddings: ["S1", "S2", "S3", "S4"], headers: ["H1", "H2", "H3", "H4"] } as const;
const SIGNATURES = ["I1", "I2", "I3", "I4", "I5"] as const;
const CONTROLLED_JUNK = ["J1", "J2", "J3"] as const;
/** Timers of 3.x, which matter to clients that stay. */
const TIMERS = [
  "RekeyAfterTime",
  "RekeyTimeout",
  "RejectAfterTime",
  "KeepaliveTimeout",
  "MaxHandshakeAttempts",
] as const;
const SWITCHES = ["RandomTrailers", "DisableCookies"] as const;
const KEY = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/** All of them; in [Interface]. */
export const AMNEZIA_KEYS: readonly string[] = [
  "Jc",
  "Jmin",
  "Jmax",
  ...NUMBERED.paddings,
  ...NUMBERED.headers,
  ...SIGNATURES,
  ...CONTROLLED_JUNK,
  "Itime",
  "HeaderProtectionKey",
  "ContentPaddingAddition",
  ...TIMERS,
  ...SWITCHES,
];

/** @throws TunnelConfigError */
export function parseParams(section: Section): AmneziaParams {
  refuseUnknown(section);
  const ranges = NUMBERED.headers.map((name) => headerOf(section, name));
  requireApart(ranges);
  const version = versionOf(section, ranges);
  const wordBytes = version === "1.5" ? 8 : 4;
  const packets = (names: readonly string[]) =>
    names.flatMap((name) => {
      const text = entryOf(section, name);
      return text === undefined ? [] : [parseSignature(text, name, wordBytes)];
    });
  // J1 to J3 are sent on handshakes that the I set is not due for: never by who sends one.
  packets(CONTROLLED_JUNK);
  const signatures = packets(SIGNATURES).filter(({ sizeBytes }) => sizeBytes > 0);
  requireModest(signatures);
  const junk = junkOf(section, signatures);
  const padding = paddingOf(section);
  const headerProtectionKey = protectionKeyOf(section, padding);
  for (const name of TIMERS) rangeOf(section, name, 0xffff_ffff);
  if (entryOf(section, "Itime") !== undefined) countOf(section, "Itime", 0xffff_ffff);
  const hasTrailers = switchOf(section, "RandomTrailers");
  switchOf(section, "DisableCookies");
  return {
    version,
    junk,
    padding,
    headers: headersOf(ranges, version),
    signatures,
    wordBytes,
    headerProtectionKey,
    hasTrailers: hasTrailers || version === "3.x",
    contentPadding: rangeOf(section, "ContentPaddingAddition", 0xffff) ?? { first: 0, last: 0 },
  };
}

/** Whether anything goes out that no server has asked for. */
export function hasPreamble({ junk, signatures }: AmneziaParams): boolean {
  return junk.count > 0 || signatures.length > 0;
}

function refuseUnknown(section: Section): void {
  const known = new Set(AMNEZIA_KEYS.map((name) => name.toLowerCase()));
  for (const key of section.keys()) {
    if (/^(?:j[a-z]{0,4}\d*|[shi]\d+|itime\d*)$/.test(key) && !known.has(key)) {
      throw new TunnelConfigError(
        "config has an obfuscation key that is not known (Jc to Jmax, S1 to S4, H1 to H4, I1 to I5 and J1 to J3 are)",
      );
    }
  }
}

function countOf(section: Section, name: string, most: number): number {
  const text = entryOf(section, name);
  if (text === undefined) return 0;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  if (value < 0 || value > most) throw new TunnelConfigError(`${name} must be a number from 0 to ${most}`);
  return value;
}

/** No server looks at junk, so a file with more of it than a check sends is checked with less (files of Jc = 120 are common). */
function junkOf(section: Section, signatures: readonly SignaturePacket[]): Junk {
  const wanted = countOf(section, "Jc", MAX_JC);
  const least = countOf(section, "Jmin", MAX_PADDING);
  const most = entryOf(section, "Jmax") === undefined ? least : countOf(section, "Jmax", MAX_PADDING);
  if (least > most) throw new TunnelConfigError("Jmin is above Jmax");
  const leftBytes = MAX_PREAMBLE_BYTES - bytesOf(signatures);
  const places = MAX_PREAMBLE_PACKETS - signatures.length;
  return { count: Math.min(wanted, places, Math.floor(leftBytes / Math.max(1, least))), wanted, least, most };
}

function bytesOf(signatures: readonly SignaturePacket[]): number {
  return signatures.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

function requireModest(signatures: readonly SignaturePacket[]): void {
  if (bytesOf(signatures) > MAX_PREAMBLE_BYTES) {
    throw new TunnelConfigError(`I1 to I5 are more than ${MAX_PREAMBLE_BYTES} bytes`);
  }
}

/** What junk may be long so that all of it stays within the limit. */
export function junkBytesOf({ junk, signatures }: AmneziaParams): Range {
  const share = junk.count === 0 ? 0 : Math.floor((MAX_PREAMBLE_BYTES - bytesOf(signatures)) / junk.count);
  return { first: junk.least, last: Math.max(junk.least, Math.min(junk.most, share)) };
}

function paddingOf(section: Section): AmneziaParams["padding"] {
  const [initiation = 0, response = 0, cookie = 0, transport = 0] = NUMBERED.paddings.map((name) =>
    countOf(section, name, MAX_PADDING),
  );
  return { initiation, response, cookie, transport };
}

/** Null for one that is not there. */
function headerOf(section: Section, name: string): Range | null {
  const text = entryOf(section, name)?.replace(/\s/g, "");
  if (text === undefined) return null;
  const [, from = "", to = from] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(text) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (from === "" || first > last || last > 0xffff_ffff) {
    throw new TunnelConfigError(`${name} must be a number of 32 bits or a range of them`);
  }
  return { first, last };
}

function requireApart(ranges: readonly (Range | null)[]): void {
  const sorted = ranges.filter((range) => range !== null).sort((one, other) => one.first - other.first);
  for (const [index, range] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next !== undefined && next.first <= range.last) throw new TunnelConfigError("H1 to H4 overlap");
  }
}

/** In 1.0 and 1.5 a value up to 4 means "as in WireGuard". */
function headersOf(ranges: readonly (Range | null)[], version: AmneziaVersion): AmneziaParams["headers"] {
  const isOld = version === "plain" || version === "1.0" || version === "1.5";
  const at = (index: number): Range => {
    const range = ranges[index] ?? null;
    const isStandard = range === null || (isOld && range.last <= 4);
    return isStandard ? { first: index + 1, last: index + 1 } : range;
  };
  return { initiation: at(0), response: at(1), cookie: at(2), transport: at(3) };
}

function versionOf(section: Section, ranges: readonly (Range | null)[]): AmneziaVersion {
  const hasAny = (names: readonly string[]) => names.some((name) => entryOf(section, name) !== undefined);
  if (hasAny(["HeaderProtectionKey", "ContentPaddingAddition", ...TIMERS, ...SWITCHES])) return "3.x";
  if (hasAny([...CONTROLLED_JUNK, "Itime"])) return "1.5";
  const hasRange = ranges.some((range) => range !== null && range.first !== range.last);
  if (hasRange || hasAny(["S3", "S4", ...SIGNATURES])) return "2.0";
  return hasAny(["Jc", "Jmin", "Jmax", ...NUMBERED.paddings, ...NUMBERED.headers]) ? "1.0" : "plain";
}

function protectionKeyOf(section: Section, padding: AmneziaParams["padding"]): Uint8Array | null {
  const text = entryOf(section, "HeaderProtectionKey")?.replace(/\s/g, "");
  if (text === undefined) return null;
  if (!KEY.test(text)) throw new TunnelConfigError("HeaderProtectionKey is not a key of 32 bytes in base64");
  if (Object.values(padding).some((size) => size < NONCE_BYTES)) {
    throw new TunnelConfigError(`HeaderProtectionKey needs S1 to S4 of at least ${NONCE_BYTES}`);
  }
  return Uint8Array.from(Buffer.from(text, "base64"));
}

function rangeOf(section: Section, name: string, most: number): Range | null {
  const text = entryOf(section, name)?.replace(/\s/g, "");
  if (text === undefined) return null;
  const [, from = "", to = from] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(text) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (from === "" || first > last || last > most) {
    throw new TunnelConfigError(`${name} must be a number from 0 to ${most} or a range of them`);
  }
  return { first, last };
}

function switchOf(section: Section, name: string): boolean {
  const text = entryOf(section, name)?.toLowerCase();
  if (text === undefined) return false;
  if (!["on", "off", "true", "false", "1", "0", "yes", "no"].includes(text)) {
    throw new TunnelConfigError(`${name} must be on or off`);
  }
  return ["on", "true", "1", "yes"].includes(text);
}

/** Whether a file asks for junk packets before a handshake (docs/decisions/0005-no-weapon.md). */
export function sendsJunk(config: string): boolean {
  return looseEntries(config).some(([key, value]) =>
    key === "jc" ? /^0*[1-9]/.test(value) : /^(?:i[1-5]|j[1-3])$/.test(key) && value !== "",
  );
}
