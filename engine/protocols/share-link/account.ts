/** The account of a config at its server, and what its protocol lets a client choose. */
import { before } from "../../../model/text.ts";
import { TunnelConfigError } from "../../contract/tunnel.ts";
import {
  bytesOf,
  type Ignore,
  isTrue,
  lineOf,
  mappedUuid,
  numberOf,
  oneOf,
  type Parameters,
  paramOf,
  refuse,
  uuidOf,
  wordOf,
} from "./field.ts";
import { requireCredential, requireUserId, type ShareLink } from "./link.ts";
import { pluginOf } from "./plugin.ts";
import type { Account, Obfs } from "./proxy-config.ts";

const VMESS_CIPHERS = ["auto", "aes-128-gcm", "chacha20-poly1305", "none", "zero"] as const;
/** Those that some core has; sing-box's older ones included. */
const SHADOWSOCKS_METHODS = new Set([
  "none",
  "aes-128-gcm",
  "aes-192-gcm",
  "aes-256-gcm",
  "chacha20-ietf-poly1305",
  "xchacha20-ietf-poly1305",
  "2022-blake3-aes-128-gcm",
  "2022-blake3-aes-256-gcm",
  "2022-blake3-chacha20-poly1305",
  "aes-128-ctr",
  "aes-192-ctr",
  "aes-256-ctr",
  "aes-128-cfb",
  "aes-192-cfb",
  "aes-256-cfb",
  "rc4-md5",
  "chacha20-ietf",
  "xchacha20",
]);
const METHOD_ALIASES: Readonly<Record<string, string>> = {
  "chacha20-poly1305": "chacha20-ietf-poly1305",
  "xchacha20-poly1305": "xchacha20-ietf-poly1305",
  "aead-aes-128-gcm": "aes-128-gcm",
  "aead-aes-192-gcm": "aes-192-gcm",
  "aead-aes-256-gcm": "aes-256-gcm",
  "aead-chacha20-poly1305": "chacha20-ietf-poly1305",
  plain: "none",
};
/** Shadowsocks 2022, SIP022 3.1.1: keys of identities stand before the user's own, only with AES. */
const KEY_BYTES_2022: Readonly<Record<string, { size: number; keys: number }>> = {
  "2022-blake3-aes-128-gcm": { size: 16, keys: 8 },
  "2022-blake3-aes-256-gcm": { size: 32, keys: 8 },
  "2022-blake3-chacha20-poly1305": { size: 32, keys: 1 },
};
const CONGESTION = { "": "cubic", bbr: "bbr", cubic: "cubic", newreno: "new_reno", reno: "new_reno" } as const;
/** hysteria 2, gecko: sizes of packets it pads to, bytes. */
const GECKO_BYTES = [512, 1_200] as const;
const MAX_GECKO_BYTES = 2_048;

/** @param parameters the link's, by the names that are read here. @throws TunnelConfigError */
export function accountOf(link: ShareLink, parameters: Parameters, ignore: Ignore): Account {
  const { credential } = link;
  switch (link.protocol) {
    case "vless":
      return vlessOf(mappedUuid(requireUserId(credential.uuid ?? "")), parameters);
    case "vmess":
      return vmessOf(mappedUuid(requireUserId(credential.uuid ?? "")), parameters);
    case "trojan":
      return { protocol: "trojan", password: requiredPasswordOf(credential.password) };
    case "shadowsocks":
      return shadowsocksOf(link, parameters, ignore);
    case "hysteria2":
      return hysteria2Of(link, parameters);
    case "tuic":
      return {
        protocol: "tuic",
        uuid: uuidOf(credential.uuid ?? ""),
        password: requiredPasswordOf(credential.password),
        ...tuicOf(parameters),
      };
    default:
      throw new TunnelConfigError("the link is of no proxy protocol");
  }
}

function passwordOf(text: string | undefined): string {
  return lineOf(text ?? "", "the link's password", 1_024);
}

/** For links and for entries of structured lists alike: a link that is written of an entry without a password could not be read. */
function requiredPasswordOf(text: string | undefined): string {
  return requireCredential(passwordOf(text), "password");
}

function vlessOf(uuid: string, parameters: Parameters): Account {
  const flow = wordOf(paramOf(parameters, "flow")) || (paramOf(parameters, "xtls") === "2" ? "xtls-rprx-vision" : "");
  if (flow !== "" && flow !== "xtls-rprx-vision" && flow !== "xtls-rprx-vision-udp443") {
    throw refuse("flow", "must be xtls-rprx-vision or xtls-rprx-vision-udp443");
  }
  const encryption = paramOf(parameters, "encryption") || "none";
  if (encryption !== "none" && !isVlessEncryption(encryption)) {
    throw refuse("encryption", "must be none or mlkem768x25519plus with its keys");
  }
  return { protocol: "vless", uuid, flow, encryption };
}

/** A client's keys are 32 bytes (X25519) or 1184 (ML-KEM-768, FIPS 203 table 3); before them stand paddings. */
function isVlessEncryption(text: string): boolean {
  const [method, look = "", round = "", ...rest] = text.split(".");
  if (method !== "mlkem768x25519plus" || !["native", "xorpub", "random"].includes(look)) return false;
  if (!["1rtt", "0rtt"].includes(round) || rest.length === 0 || rest.length > 16) return false;
  return rest.every(
    (part) => /^\d{1,5}(?:-\d{1,5}){1,2}$/.test(part) || [32, 1_184].includes(bytesOf(part)?.length ?? 0),
  );
}

/** Words that no core knows any more are `auto`, as both cores treat them. */
function vmessOf(uuid: string, parameters: Parameters): Account {
  const word = wordOf(paramOf(parameters, "encryption")).replace("chacha20-ietf-poly1305", "chacha20-poly1305");
  const cipher = VMESS_CIPHERS.find((known) => known === word) ?? "auto";
  const aid = paramOf(parameters, "aid", "alterid").trim();
  return { protocol: "vmess", uuid, cipher, alterId: aid === "" ? 0 : numberOf(aid, "aid", 0, 65_535) };
}

function shadowsocksOf(link: ShareLink, parameters: Parameters, ignore: Ignore): Account {
  const password = requiredPasswordOf(link.credential.password);
  const folded = wordOf(link.credential.method ?? "").replaceAll("_", "-");
  const method = METHOD_ALIASES[folded] ?? folded;
  if (!SHADOWSOCKS_METHODS.has(method)) throw refuse("method", "is a cipher that no core has");
  const keys = KEY_BYTES_2022[method];
  if (keys !== undefined) require2022Keys(password, keys);
  return {
    protocol: "shadowsocks",
    method,
    password,
    plugin: pluginOf(link, parameters, ignore),
    isUdpOverTcp: isTrue(parameters, "uot", "udpovertcp"),
  };
}

/** The cores take padded base64 of the standard alphabet only, and let spare bits of its last letter be. */
function require2022Keys(password: string, { size, keys }: { size: number; keys: number }): void {
  const parts = password.split(":");
  const isKey = (part: string): boolean =>
    /^[A-Za-z0-9+/]+={0,2}$/.test(part) && part.length % 4 === 0 && bytesOf(part)?.length === size;
  if (parts.length > keys || !parts.every(isKey)) {
    throw refuse(
      "the link's password",
      `must be ${keys > 1 ? "one or more keys" : "a key"} of ${size} bytes in base64`,
    );
  }
}

function hysteria2Of({ credential, port, ports }: ShareLink, parameters: Parameters): Account {
  const interval = intervalOf(paramOf(parameters, "hopinterval", "mporthopint"));
  const isOnePort = ports.length === 1 && ports[0]?.[0] === port && ports[0][1] === port;
  return {
    protocol: "hysteria2",
    password: passwordOf(credential.password),
    hops: isOnePort ? [] : ports,
    hopIntervalS: interval === "" ? null : numberOf(interval, "hop-interval", 5, 3_600),
    obfs: obfsOf(parameters),
  };
}

/** Of a range the least; `30s` is 30. */
function intervalOf(text: string): string {
  return text.includes("-") ? before(text, "-") : text.replace(/s$/, "");
}

function obfsOf(parameters: Parameters): Obfs | null {
  const password = lineOf(paramOf(parameters, "obfspassword"), "obfs-password", 1_024);
  const word = wordOf(paramOf(parameters, "obfs")) || (password === "" ? "none" : "salamander");
  const type = oneOf(word, ["none", "salamander", "gecko"], "obfs");
  if (type === "none") return null;
  // salamander's key is at least 4 bytes (hysteria, extras/obfs).
  if (Buffer.byteLength(password) < 4) throw refuse("obfs-password", "must be at least 4 bytes");
  if (type === "salamander") return { type, password, sizesBytes: null };
  const least = numberOf(
    paramOf(parameters, "minpacketsize") || String(GECKO_BYTES[0]),
    "minPacketSize",
    1,
    MAX_GECKO_BYTES,
  );
  const most = paramOf(parameters, "maxpacketsize") || String(Math.max(least, GECKO_BYTES[1]));
  return { type, password, sizesBytes: [least, numberOf(most, "maxPacketSize", least, MAX_GECKO_BYTES)] };
}

function tuicOf(parameters: Parameters) {
  const word = paramOf(parameters, "congestioncontrol", "congestioncontroller", "congestion")
    .toLowerCase()
    .replace("_", "");
  const congestion = Object.hasOwn(CONGESTION, word) ? CONGESTION[word as keyof typeof CONGESTION] : undefined;
  if (congestion === undefined) throw refuse("congestion_control", "must be one of bbr, cubic, new_reno");
  return {
    congestion,
    udpRelay: oneOf(paramOf(parameters, "udprelaymode") || "native", ["native", "quic"], "udp_relay_mode"),
    isZeroRtt: isTrue(parameters, "reducertt", "zerortt", "zerortthandshake", "0rtt"),
    heartbeatMs: heartbeatOf(paramOf(parameters, "heartbeat", "heartbeatinterval").trim()),
  };
}

/** `10s`, or milliseconds. */
function heartbeatOf(text: string): number | null {
  if (text === "") return null;
  const [, amount = "", unit = "ms"] = /^(\d{1,6})(s|ms)?$/.exec(text) ?? [];
  return numberOf(unit === "s" ? `${amount}000` : amount, "heartbeat", 100, 3_600_000);
}
