/** AmneziaWG configurations: WireGuard's with the keys of obfuscation, whose ranges are checked here. */
import { type ParsedTunnel, TunnelConfigError, type TunnelFields } from "../../tunnel.ts";
import { readConfig, tunnelOf } from "../wireguard/config.ts";
import { entryOf, type Section } from "../wireguard/ini.ts";

/** Junk packets that are sent before an initiation, and their bytes (design 8: we are no weapon). */
const MOST_JUNK_PACKETS = 16;
const MOST_JUNK_BYTES = 2_048;
/** A datagram that no path fragments. */
const MOST_PADDING = 1_400;

const COUNTS: Readonly<Record<string, number>> = {
  Jc: MOST_JUNK_PACKETS,
  Jmin: MOST_PADDING,
  Jmax: MOST_PADDING,
  S1: MOST_PADDING,
  S2: MOST_PADDING,
  S3: MOST_PADDING,
  S4: MOST_PADDING,
};
const HEADERS = ["H1", "H2", "H3", "H4"] as const;
const PACKETS = ["I1", "I2", "I3", "I4", "I5"] as const;
/** Tags of a signature packet, of every generation. */
const TAG = /^(?:b\s+(?:0x)?[0-9a-f\s]+|(?:r|rc|rd|dz|wt)\s+\d{1,4}|t|c|d|ds)$/i;
const HEADER_PROTECTION_KEY = /^[A-Za-z0-9+/]{43}=$/;

/** @throws TunnelConfigError */
export function parseAmneziawg(fields: TunnelFields): ParsedTunnel {
  const config = readConfig(fields);
  const { interface: own } = config.file;
  for (const [name, most] of Object.entries(COUNTS)) countOf(own, name, most);
  requireJunkBounds(own);
  requireHeaders(own);
  for (const name of PACKETS) requirePacket(own, name);
  const key = entryOf(own, "HeaderProtectionKey");
  if (key !== undefined && !HEADER_PROTECTION_KEY.test(key)) {
    throw new TunnelConfigError("HeaderProtectionKey is not a key of 32 bytes in base64");
  }
  return tunnelOf("amneziawg", fields, config);
}

function countOf(section: Section, name: string, most: number): number {
  const text = entryOf(section, name);
  if (text === undefined) return 0;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  if (value < 0 || value > most) throw new TunnelConfigError(`${name} must be a number from 0 to ${most}`);
  return value;
}

function requireJunkBounds(section: Section): void {
  const count = countOf(section, "Jc", MOST_JUNK_PACKETS);
  const least = countOf(section, "Jmin", MOST_PADDING);
  const most = countOf(section, "Jmax", MOST_PADDING);
  if (least > most && entryOf(section, "Jmax") !== undefined) throw new TunnelConfigError("Jmin is above Jmax");
  if (count * least > MOST_JUNK_BYTES) {
    throw new TunnelConfigError(`Jc packets of Jmin bytes are more than ${MOST_JUNK_BYTES} bytes of junk`);
  }
}

/** Numbers of 32 bits or ranges of them, which must not overlap. */
function requireHeaders(section: Section): void {
  const ranges = HEADERS.flatMap((name) => {
    const text = entryOf(section, name)?.replace(/\s/g, "");
    if (text === undefined) return [];
    const [, from = "", to = from] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(text) ?? [];
    const [first, last] = [Number(from), Number(to)];
    if (from === "" || first > last || last > 0xffff_ffff) {
      throw new TunnelConfigError(`${name} must be a number of 32 bits or a range of them`);
    }
    return [{ first, last }];
  });
  ranges.sort((a, b) => a.first - b.first);
  for (const [index, range] of ranges.entries()) {
    const next = ranges[index + 1];
    if (next !== undefined && next.first <= range.last) throw new TunnelConfigError("H1 to H4 overlap");
  }
}

function requirePacket(section: Section, name: string): void {
  const text = entryOf(section, name);
  if (text === undefined) return;
  const tags = [...text.matchAll(/<([^<>]*)>/g)].map((match) => (match[1] ?? "").trim());
  for (const tag of tags) {
    if (!TAG.test(tag)) throw new TunnelConfigError(`${name} has a tag that is not known`);
    if (Number(/\s(\d{1,4})$/.exec(tag)?.[1] ?? 0) > MOST_PADDING && !/^b\b/i.test(tag)) {
      throw new TunnelConfigError(`${name} has a tag of more than ${MOST_PADDING} bytes`);
    }
  }
}
