/**
 * Keys of the AmneziaVPN app, `vpn://…`: base64url of a length of four bytes and zlib of JSON, as Qt's qCompress() writes it. The JSON lists
 * containers; each has the text of the client's own file (amnezia-client: exportController, containers_defs).
 */
import { inflateSync } from "node:zlib";
import type { TunnelProtocol } from "../../../model/kind.ts";
import { isFields } from "../../../model/plain-values.ts";
import { TunnelConfigError, type TunnelFields } from "../../contract/tunnel.ts";

const SCHEME = "vpn://";
/** Of the JSON, unpacked: the longest config of the contract is 102,400 bytes, and it stands there as text within text. */
const MAX_BYTES = 512 * 1024;
/** Of the file within: that of a file which is sent as it is (engine/contract/tunnel-fields.ts). Packed, it is a key of 2 KB. */
const MAX_CONFIG_BYTES = 102_400;
/** What stands for the servers' own names in the file. */
const NAME_SERVERS = [
  ["$PRIMARY_DNS", "dns1"],
  ["$SECONDARY_DNS", "dns2"],
] as const;
/** By the name of a container's part. */
const PROTOCOLS = [
  ["awg", "amneziawg"],
  ["wireguard", "wireguard"],
  ["openvpn", "openvpn"],
] as const;

export interface AmneziaKey {
  readonly protocol: TunnelProtocol;
  /** The client's file. */
  readonly config: string;
}

export function isAmneziaKey(text: unknown): text is string {
  return typeof text === "string" && text.trimStart().slice(0, SCHEME.length).toLowerCase() === SCHEME;
}

/** The fields with the key's file in the place of the key. @throws TunnelConfigError */
export function withOpenedKey(protocol: TunnelProtocol, fields: TunnelFields): TunnelFields {
  if (!isAmneziaKey(fields.config)) return fields;
  const key = parseAmneziaKey(fields.config);
  if (key.protocol !== protocol) throw new TunnelConfigError(`the key is ${key.protocol}, the protocol is ${protocol}`);
  return { ...fields, config: key.config };
}

/** @throws TunnelConfigError */
export function parseAmneziaKey(text: string): AmneziaKey {
  const document = objectOf(jsonOf(unpacked(text.trim().slice(SCHEME.length))));
  const containers = Array.isArray(document.containers) ? document.containers.map(objectOf) : [];
  const chosen = containers.find(({ container }) => container === document.defaultContainer) ?? containers[0];
  if (chosen === undefined)
    throw new TunnelConfigError("the key names no server: it is one of a service of AmneziaVPN");
  if (chosen.cloak !== undefined)
    throw new TunnelConfigError("the key is OpenVPN inside Cloak, which is not supported");
  const [part, protocol] = PROTOCOLS.find(([name]) => chosen[name] !== undefined) ?? [];
  if (part === undefined || protocol === undefined) {
    throw new TunnelConfigError("the key's server is not of WireGuard, AmneziaWG or OpenVPN");
  }
  const { last_config: last } = objectOf(chosen[part]);
  const { config } = objectOf(typeof last === "string" ? jsonOf(last) : last);
  if (typeof config !== "string" || config.trim() === "") {
    throw new TunnelConfigError("the key has no configuration of a client: it is shared for administration");
  }
  return { protocol, config: bounded(withNameServers(config, document)) };
}

function bounded(config: string): string {
  if (Buffer.byteLength(config) > MAX_CONFIG_BYTES) {
    throw new TunnelConfigError(`the key's configuration is longer than ${MAX_CONFIG_BYTES} bytes`);
  }
  if (config.includes("\0")) throw new TunnelConfigError("the key's configuration has a character that none can have");
  return config;
}

type Members = Readonly<Record<string, unknown>>;

function objectOf(value: unknown): Members {
  return Object.assign(Object.create(null), isFields(value) ? value : {}) as Members;
}

function unpacked(letters: string): string {
  if (!/^[A-Za-z0-9_-]+={0,2}$/.test(letters)) throw new TunnelConfigError("the key is not base64");
  const bytes = Buffer.from(letters, "base64url");
  // Keys of older versions are not packed.
  if (bytes[0] === 0x7b) return bytes.toString();
  try {
    return inflateSync(bytes.subarray(4), { maxOutputLength: MAX_BYTES }).toString();
  } catch {
    throw new TunnelConfigError(`the key cannot be unpacked, or holds more than ${MAX_BYTES / 1024} KiB`);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TunnelConfigError("the key cannot be read");
  }
}

/** Without the line where the key names none. */
function withNameServers(config: string, document: Members): string {
  let text = config;
  for (const [mark, name] of NAME_SERVERS) {
    const address = document[name];
    text = text.replaceAll(mark, typeof address === "string" && /^[0-9a-f.:]{2,45}$/i.test(address) ? address : "");
  }
  const lines = text.split("\n").map((line) => (/^DNS[ \t]*=/.test(line) ? withoutLastComma(line) : line));
  return lines.filter((line) => !/^DNS[ \t]*=[ \t,]*$/.test(line)).join("\n");
}

function withoutLastComma(line: string): string {
  const kept = line.trimEnd();
  return kept.endsWith(",") ? kept.slice(0, -1) : line;
}
