/** TLS and REALITY of a config. */

import { TunnelConfigError } from "../../contract/tunnel.ts";
import { literalOf } from "../../net/literal.ts";
import {
  bytesOf,
  hostOf,
  type Ignore,
  isTrue,
  keyOf,
  lineOf,
  listOf,
  type Parameters,
  paramOf,
  plainHostHeader,
  refuse,
  sentNameOf,
  wordOf,
} from "./field.ts";
import {
  FINGERPRINTS,
  type Fingerprint,
  type ProxyProtocol,
  type RealitySecurity,
  type Security,
  type TlsSecurity,
  type Transport,
} from "./proxy-config.ts";
import { hostHeader } from "./transport.ts";

/** RFC 8032 keys have 32 bytes; FIPS 204, table 2: an ML-DSA-65 public key has 1952. */
const X25519_BYTES = 32;
const MLDSA65_BYTES = 1_952;
const SHORT_ID_BYTES = 8;
const SHA256_BYTES = 32;
const MAX_NAMES = 16;

/** Carried by QUIC, which has no form without TLS. */
const ALWAYS_TLS: ReadonlySet<ProxyProtocol> = new Set(["hysteria2", "tuic"]);

/** @param transport its Host is a name to fall back to. @throws TunnelConfigError */
export function securityOf(
  protocol: ProxyProtocol,
  server: string,
  transport: Transport,
  parameters: Parameters,
  ignore: Ignore,
): Security {
  const kind = kindOf(protocol, parameters);
  if (kind === "none") return { kind };
  const sni = sniOf(server, hostHeader(transport), parameters, ignore);
  if (kind === "tls") return tlsOf(sni, transport, parameters, ignore);
  if (ALWAYS_TLS.has(protocol)) throw refuse("security", `must be tls for ${protocol}`);
  if (sni === null) throw refuse("sni", "is missing: REALITY needs a name");
  return realityOf(sni, parameters);
}

function kindOf(protocol: ProxyProtocol, parameters: Parameters): Security["kind"] {
  if (ALWAYS_TLS.has(protocol)) return parameters.get("security")?.toLowerCase() === "reality" ? "reality" : "tls";
  const word = wordOf(paramOf(parameters, "security"));
  if (word === "xtls") throw refuse("security", "xtls no longer exists");
  if (word === "none" || word === "tls" || word === "reality") return word;
  if (word !== "") throw refuse("security", "must be one of none, tls, reality");
  if (paramOf(parameters, "pbk", "publickey") !== "") return "reality";
  if (isTrue(parameters, "tls", "overtls") || paramOf(parameters, "tls") === "tls") return "tls";
  return protocol === "trojan" ? "tls" : "none";
}

function sniOf(server: string, host: string, parameters: Parameters, ignore: Ignore): string | null {
  const named = paramOf(parameters, "sni", "peer", "servername", "tlsservername", "tlshost");
  if (named.trim() !== "") return sentNameOf(named, "sni", ignore);
  const header = (plainHostHeader(host) ?? "").replace(/:\d+$/, "");
  if (header !== "" && literalOf(header) === undefined) return header;
  return literalOf(server) === undefined ? server : null;
}

function tlsOf(sni: string | null, { type }: Transport, parameters: Parameters, ignore: Ignore): TlsSecurity {
  return {
    kind: "tls",
    sni,
    alpn: alpnOf(type, parameters, ignore),
    fingerprint: fingerprintOf(parameters),
    isInsecure:
      isTrue(parameters, "allowinsecure", "insecure", "skipcertverify") ||
      ["0", "false"].includes(paramOf(parameters, "verifycert").toLowerCase()),
    hasNoSni: isTrue(parameters, "disablesni"),
    pins: pinsOf(paramOf(parameters, "pcs", "pinsha256", "pinnedpeercertsha256")),
    verifyNames: verifyNamesOf(paramOf(parameters, "vcn")),
    ech: echOf(paramOf(parameters, "ech")),
  };
}

/** HTTP/1.1 for sockets and HTTP/2 for grpc: what else a link says decides nothing there. */
const FIXED_ALPN: ReadonlySet<Transport["type"]> = new Set(["ws", "httpupgrade", "grpc"]);

function alpnOf(type: Transport["type"], parameters: Parameters, ignore: Ignore): readonly string[] {
  const alpn = listOf(paramOf(parameters, "alpn"));
  if (alpn.length <= 8 && alpn.every((word) => /^[a-z0-9./-]{1,32}$/i.test(word))) return alpn;
  if (!FIXED_ALPN.has(type)) throw refuse("alpn", "must be at most 8 protocol names");
  ignore("alpn", "holds no protocol names, and is left out");
  return [];
}

function realityOf(sni: string, parameters: Parameters): RealitySecurity {
  const publicKey = paramOf(parameters, "pbk", "publickey");
  if (publicKey === "") throw new TunnelConfigError("missing pbk");
  const shortId = wordOf(paramOf(parameters, "sid", "shortid"));
  if (!/^(?:[0-9a-f]{2})*$/.test(shortId) || shortId.length > 2 * SHORT_ID_BYTES) {
    throw refuse("sid", `must be at most ${SHORT_ID_BYTES} bytes in hex`);
  }
  const mldsa65 = paramOf(parameters, "pqv");
  return {
    kind: "reality",
    sni,
    fingerprint: fingerprintOf(parameters) ?? "chrome",
    publicKey: keyOf(publicKey, "pbk", X25519_BYTES),
    shortId,
    mldsa65: mldsa65 === "" ? null : keyOf(mldsa65, "pqv", MLDSA65_BYTES),
  };
}

/** Names of a version become its browser; what is unknown becomes chrome, as other clients do: it decides nothing about reachability. */
function fingerprintOf(parameters: Parameters): Fingerprint | null {
  const word = wordOf(paramOf(parameters, "fp", "clientfingerprint", "fingerprint"));
  if (word === "" || word === "none") return null;
  const plain = word.replace(/^hello/, "");
  return FINGERPRINTS.find((name) => plain === name) ?? FINGERPRINTS.find((name) => plain.startsWith(name)) ?? "chrome";
}

function pinsOf(text: string): readonly string[] {
  if (text === "") return [];
  const pins = listOf(text).map((pin) => pin.replace(/[:-]/g, "").toLowerCase());
  if (pins.length > MAX_NAMES || !pins.every((pin) => /^[0-9a-f]*$/.test(pin) && pin.length === 2 * SHA256_BYTES)) {
    throw refuse("pinSHA256", "must be SHA-256 digests in hex");
  }
  return pins;
}

function verifyNamesOf(text: string): readonly string[] {
  if (text === "") return [];
  const names = listOf(text).map((name) => hostOf(name, "vcn"));
  if (names.length > MAX_NAMES) throw refuse("vcn", `has more than ${MAX_NAMES} names`);
  return names;
}

/** Only the list itself: one that is looked up would make the core ask a server that the link names. */
function echOf(text: string): string | null {
  if (text === "") return null;
  const bytes = bytesOf(lineOf(text, "ech", 4_096));
  if (bytes === undefined) throw refuse("ech", "must be an ECHConfigList in base64");
  return bytes.toString("base64");
}
