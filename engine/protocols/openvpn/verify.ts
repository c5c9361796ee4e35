/**
 * What a profile asks of the server's certificate beyond its chain: name, purpose, fingerprint (openvpn(8), "TLS Mode Options"; ssl_verify.c).
 * Pure.
 */

import type { X509Certificate } from "node:crypto";
import { before } from "../../../model/text.ts";
import { TunnelConfigError } from "../../contract/tunnel.ts";
import { optionOf, type Scope } from "./profile.ts";
import { commonName, slashedSubject, subjectText } from "./subject.ts";

export interface PeerRules {
  readonly name: PeerName | null;
  /** Extended key usages that it must have, as OIDs. */
  readonly purposes: readonly string[];
  /** It must say what it is for at all. */
  readonly needsKeyUsage: boolean;
  /** Accepted values of its key usage bits; empty: any. */
  readonly keyUsages: readonly number[];
  /** SHA-256 of the server's own certificate, uppercase hex; empty: any. With one, no authority is needed. */
  readonly fingerprints: readonly string[];
  /** SHA-1 or SHA-256 of its issuer's; empty: any. */
  readonly issuerFingerprints: readonly string[];
}

interface PeerName {
  readonly option: "verify-x509-name" | "tls-remote";
  readonly text: string;
  readonly kind: "subject" | "slashed-subject" | "name" | "name-prefix";
}

const SERVER_PURPOSE = "1.3.6.1.5.5.7.3.1";
const PURPOSES: ReadonlyMap<string, string> = new Map([
  ["TLS Web Server Authentication", SERVER_PURPOSE],
  ["serverAuth", SERVER_PURPOSE],
  ["TLS Web Client Authentication", "1.3.6.1.5.5.7.3.2"],
  ["clientAuth", "1.3.6.1.5.5.7.3.2"],
]);

/** @throws TunnelConfigError */
export function rulesOf({ options, inline }: Scope): PeerRules {
  const [role] = optionOf(options, "remote-cert-tls") ?? [];
  if (role !== undefined && role !== "server") throw new TunnelConfigError("remote-cert-tls must be server");
  const [purpose] = optionOf(options, "remote-cert-eku") ?? [];
  const isServer = role === "server" || optionOf(options, "ns-cert-type")?.[0] === "server";
  return {
    name: peerNameOf(options) ?? oldPeerNameOf(options),
    purposes: [
      ...(isServer ? [SERVER_PURPOSE] : []),
      ...(purpose === undefined ? [] : [PURPOSES.get(purpose) ?? purpose]),
    ],
    needsKeyUsage: role === "server",
    keyUsages: (optionOf(options, "remote-cert-ku") ?? [])
      .map((text) => Number.parseInt(text, 16))
      .filter(Number.isInteger),
    fingerprints: fingerprintsOf("peer-fingerprint", { options, inline }),
    issuerFingerprints: fingerprintsOf("verify-hash", { options, inline }),
  };
}

/** @throws TunnelConfigError */
function peerNameOf(options: Scope["options"]): PeerName | null {
  const [text, kind = "subject"] = optionOf(options, "verify-x509-name") ?? [];
  if (kind !== "subject" && kind !== "name" && kind !== "name-prefix") {
    throw new TunnelConfigError("verify-x509-name is by subject, name or name-prefix");
  }
  if (text === "") throw new TunnelConfigError("verify-x509-name has an empty name");
  return text === undefined ? null : { option: "verify-x509-name", text, kind };
}

/** `tls-remote` of before 2.4, which OpenVPN Connect knows still: a subject in either form, else the beginning of a name (2.3 options.c). @throws TunnelConfigError */
function oldPeerNameOf(options: Scope["options"]): PeerName | null {
  const [text] = optionOf(options, "tls-remote") ?? [];
  if (text === undefined) return null;
  if (text === "") throw new TunnelConfigError("tls-remote has an empty name");
  const isSubject = text.includes("=") && text.includes(", ");
  const kind = text.startsWith("/") ? "slashed-subject" : isSubject ? "subject" : "name-prefix";
  return { option: "tls-remote", text, kind };
}

function fingerprintsOf(name: string, { options, inline }: Scope): readonly string[] {
  const texts = [optionOf(options, name)?.[0] ?? "", ...(inline.get(name) ?? "").split("\n")];
  return texts
    .map((text) => before(text, "#").replace(/[\s:]/g, "").toUpperCase())
    .filter((text) => text !== "" && text !== "[INLINE]");
}

export interface PeerChain {
  readonly certificate: X509Certificate;
  /** Asked for only by rules that need it. */
  readonly issuer: () => X509Certificate | null;
}

/** @returns what is wrong with it, in words; null: nothing */
export function refusalOf({ certificate, issuer: findIssuer }: PeerChain, rules: PeerRules): string | null {
  if (rules.fingerprints.length > 0 && !rules.fingerprints.includes(plainHex(certificate.fingerprint256))) {
    return "The server's certificate is none of those of peer-fingerprint";
  }
  if (rules.issuerFingerprints.length > 0) {
    const issuer = findIssuer();
    const found = issuer === null ? [] : [plainHex(issuer.fingerprint), plainHex(issuer.fingerprint256)];
    if (!found.some((hash) => rules.issuerFingerprints.includes(hash))) {
      return "The issuer of the server's certificate is not the one of verify-hash";
    }
  }
  if (rules.name !== null && !hasName(certificate, rules.name))
    return `The server's certificate is for another name than ${rules.name.option} says`;
  const usage = keyUsageOf(certificate.raw);
  if (rules.needsKeyUsage && usage === null)
    return "The server's certificate has no key usage, which remote-cert-tls asks for";
  if (rules.keyUsages.length > 0 && !rules.keyUsages.some((wanted) => usage !== null && (usage & wanted) === wanted)) {
    return "The server's certificate has another key usage than remote-cert-ku says";
  }
  // Node's name for extended key usages.
  const purposes = certificate.keyUsage ?? [];
  return rules.purposes.every((purpose) => purposes.includes(purpose))
    ? null
    : "The server's certificate is not one for servers, as remote-cert-tls or remote-cert-eku asks";
}

function hasName({ raw }: X509Certificate, { text, kind }: PeerName): boolean {
  const wanted = Buffer.from(text);
  if (kind === "slashed-subject") return plain(slashedSubject(raw)) === plain(wanted);
  if (kind === "subject") return subjectText(raw).equals(wanted);
  const found = commonName(raw);
  return (kind === "name" ? found : found?.subarray(0, wanted.length))?.equals(wanted) === true;
}

/** Signs that 2.3 wrote as `_` in such a subject, where the profile may have them as they are (string_mod, X509_NAME_CHAR_CLASS). */
function plain(subject: Buffer): string {
  return subject.toString("latin1").replace(/[^\w.@:/=-]/g, "_");
}

function plainHex(fingerprint: string): string {
  return fingerprint.replaceAll(":", "").toUpperCase();
}

/** 2.5.29.15, as it is written in a certificate. */
const KEY_USAGE = Buffer.from("0603551d0f", "hex");
const CRITICAL = Buffer.from("0101ff", "hex");

/** Its bits as openvpn counts them (`remote-cert-ku`), the first byte low; null: the certificate has none. RFC 5280 section 4.2.1.3. */
function keyUsageOf(der: Buffer): number | null {
  const at = der.indexOf(KEY_USAGE);
  if (at < 0) return null;
  let rest = der.subarray(at + KEY_USAGE.length);
  if (rest.subarray(0, CRITICAL.length).equals(CRITICAL)) rest = rest.subarray(CRITICAL.length);
  // An octet string that holds a bit string: 04 length 03 length unused bits.
  const [octets, , bitString, length = 0, , first = 0, second = 0] = rest;
  if (octets !== 4 || bitString !== 3 || length < 2) return null;
  return first + (length > 2 ? second << 8 : 0);
}
