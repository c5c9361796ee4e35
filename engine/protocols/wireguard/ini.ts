/**
 * The file format of `wg` and `wg-quick`: [Interface] once, [Peer] once or more, `Key = value` with keys in any case, `#` begins a comment
 * anywhere. What wg-quick would execute (PostUp …) is never read.
 */
import { before, linesOf } from "../../../model/text.ts";
import { TunnelConfigError } from "../../contract/tunnel.ts";

/** Values by lowercased key, in the order of the file; a key may come again (Address, AllowedIPs). */
export type Section = ReadonlyMap<string, readonly string[]>;

export interface WireguardFile {
  readonly interface: Section;
  readonly peers: readonly Section[];
}

/** More than any client has; bounds the work on a hostile file. */
const MAX_PEERS = 256;

/** @throws TunnelConfigError naming the line by number: its text may be a key */
export function parseIni(text: string): WireguardFile {
  const interfaceSection = new Map<string, string[]>();
  const peers: Map<string, string[]>[] = [];
  let section: Map<string, string[]> | null = null;
  let hasInterface = false;
  for (const [index, raw] of linesOf(text.replace(/^\ufeff/, "")).entries()) {
    const line = before(raw, "#").trim();
    if (line === "") continue;
    const header = /^\[\s*([a-z]+)\s*\]$/i.exec(line)?.[1]?.toLowerCase();
    if (header === "interface") {
      hasInterface = true;
      section = interfaceSection;
    } else if (header === "peer") {
      if (peers.length === MAX_PEERS) throw new TunnelConfigError(`config has more than ${MAX_PEERS} peers`);
      section = new Map();
      peers.push(section);
    } else if (header !== undefined || line.startsWith("[")) {
      throw new TunnelConfigError(`config line ${index + 1}: only [Interface] and [Peer] are known`);
    } else {
      addEntry(section, line, index + 1);
    }
  }
  if (!hasInterface) throw new TunnelConfigError("missing [Interface]");
  return { interface: interfaceSection, peers };
}

function addEntry(section: Map<string, string[]> | null, line: string, number: number): void {
  const equals = line.indexOf("=");
  if (section === null || equals < 1) throw new TunnelConfigError(`config line ${number} is not understood`);
  const key = line.slice(0, equals).trim().toLowerCase();
  const value = line.slice(equals + 1).trim();
  const values = section.get(key);
  if (values === undefined) section.set(key, [value]);
  else values.push(value);
}

/** The last value of a key, undefined when it is absent or empty. */
export function entryOf(section: Section, key: string): string | undefined {
  const value = section.get(key.toLowerCase())?.at(-1);
  return value === undefined || value === "" ? undefined : value;
}

/** All items of a key that may be repeated and holds comma lists. */
export function itemsOf(section: Section, key: string): readonly string[] {
  const values = section.get(key.toLowerCase()) ?? [];
  return values.flatMap((value) => value.split(",").map((item) => item.trim())).filter((item) => item !== "");
}
