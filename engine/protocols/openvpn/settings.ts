/** What a profile means for the handshake: protection, TLS, whom to trust, ciphers. Pure; made once for all of a monitor's checks. */
import { before } from "../../../model/text.ts";
import { TunnelConfigError } from "../../contract/tunnel.ts";
import { type Compression, compressionOf } from "./control-text.ts";
import { type DigestName, dataCipherOf, digestOf } from "./data-channel.ts";
import { optionOf, type Scope } from "./profile.ts";
import type { ProtectionKeys } from "./protection.ts";
import { type PullFilter, pullFiltersOf } from "./pull-filter.ts";
import { KeyFileError, parseClientKeyV2, parseStaticKey } from "./static-key.ts";
import { cipherListOf, suiteListOf } from "./tls-settings.ts";
import { type PeerRules, rulesOf } from "./verify.ts";

export type TlsVersion = "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";

/** For tls.createSecureContext(). */
export interface TlsSettings {
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
  readonly pfx: Buffer | null;
  readonly crl: string | null;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** Of TLS up to 1.2, for OpenSSL; null: the library's. */
  readonly ciphers: string | null;
  /** Of TLS 1.3; null: the library's. */
  readonly suites: string | null;
  /** For the key exchange; null: those of every check (transport/tls-bounds.ts). */
  readonly groups: string | null;
  /** OpenSSL's security level, where the profile asks for a lower one than the library has. */
  readonly securityLevel: 0 | 1 | null;
}

export interface SessionSettings {
  readonly protection: ProtectionKeys;
  readonly tls: TlsSettings;
  readonly rules: PeerRules;
  /** Offered, by OpenVPN's names. */
  readonly ciphers: readonly string[];
  /** Of servers that choose none. */
  readonly fallbackCipher: string;
  /** Whether the profile names a cipher, but nothing that current servers take for an offer. */
  readonly hasCipherAlone: boolean;
  readonly digest: DigestName;
  readonly compression: Compression;
  readonly hasFragments: boolean;
  /** Where servers push none. */
  readonly addresses: readonly string[];
  readonly pullFilters: readonly PullFilter[];
  /** What servers compare with their own for a warning (options.c options_string). */
  occ(proto: "udp" | "tcp"): string;
}

const STANDARD_CIPHERS = "AES-256-GCM:AES-128-GCM:CHACHA20-POLY1305";
/** Of OpenVPN up to 2.3, which no library of today has. */
const OLDEST_CIPHER = "BF-CBC";
const STANDARD_MTU = 1_500;
const VERSIONS: ReadonlyMap<string, TlsVersion> = new Map([
  ["1.0", "TLSv1"],
  ["1.1", "TLSv1.1"],
  ["1.2", "TLSv1.2"],
  ["1.3", "TLSv1.3"],
]);

/** @throws TunnelConfigError */
export function settingsOfScope(scope: Scope): SessionSettings {
  const { options } = scope;
  const word = (name: string): string | undefined => optionOf(options, name)?.[0];
  const digest = digestNamed(word("auth"));
  const asked = word("data-ciphers") ?? word("ncp-ciphers");
  const cipher = word("cipher")?.toUpperCase();
  const fragment = word("fragment");
  const hasFragments = fragment !== undefined && fragment !== "0";
  const compress = optionOf(options, "compress");
  const isCompressed =
    (options.some(({ name }) => name === "comp-lzo") || compress !== undefined) && compress?.[0] !== "migrate";
  const ciphers = offered(asked);
  const tls = tlsOf(scope);
  const rules = rulesOf(scope);
  requireTrust(tls, rules);
  return {
    protection: protectionOf(scope, digest),
    tls,
    rules,
    ciphers,
    fallbackCipher: (word("data-ciphers-fallback") ?? cipher ?? OLDEST_CIPHER).toUpperCase(),
    hasCipherAlone: asked === undefined && cipher !== undefined && !ciphers.includes(cipher),
    digest,
    compression: isCompressed ? (compressionOf(compress, optionOf(options, "comp-lzo")) ?? "none") : "none",
    hasFragments,
    addresses: [word("ifconfig"), before(word("ifconfig-ipv6") ?? "", "/") || undefined].filter(
      (text) => text !== undefined,
    ),
    pullFilters: pullFiltersOf(options),
    occ: (proto) =>
      [
        "V4,dev-type tun",
        `link-mtu ${STANDARD_MTU + 49}`,
        `tun-mtu ${STANDARD_MTU}`,
        `proto ${proto === "udp" ? "UDPv4" : "TCPv4_CLIENT"}`,
        ...(isCompressed ? ["comp-lzo"] : []),
        ...(hasFragments ? ["mtu-dynamic"] : []),
        // Only what is offered too: otherwise a server would take it for this client's choice (options.c, 2.6).
        ...(cipher !== undefined && ciphers.includes(cipher) ? [`cipher ${cipher}`] : []),
        `auth ${digest.name.toUpperCase()}`,
        "key-method 2",
        "tls-client",
      ].join(","),
  };
}

/** As openvpn does at its start (options.c, options_postprocess_verify_ce). @throws TunnelConfigError */
function requireTrust({ ca, pfx, cert, key }: TlsSettings, { fingerprints }: PeerRules): void {
  if (ca === null && pfx === null && fingerprints.length === 0) {
    throw new TunnelConfigError("missing <ca>: without it, or a peer-fingerprint, the server cannot be trusted");
  }
  if ((cert === null) !== (key === null)) throw new TunnelConfigError("<cert> and <key> go together");
}

/** What we have of the list; names with `?` may be missing anywhere (openvpn(8), data-ciphers). */
function offered(asked: string | undefined): readonly string[] {
  const names = (asked ?? STANDARD_CIPHERS)
    .split(":")
    .map((name) => name.replace(/^\?/, "").toUpperCase())
    .flatMap((name) => (name === "DEFAULT" ? STANDARD_CIPHERS.split(":") : [name]));
  const known = [...new Set(names.filter((name) => dataCipherOf(name) !== undefined))];
  if (known.length === 0) throw new TunnelConfigError("data-ciphers has no cipher that is supported");
  return known;
}

function digestNamed(name: string | undefined): DigestName {
  // AEAD ciphers need none, so `none` is taken for the standard one (a CBC cipher without any is refused by servers).
  const digest = digestOf(name === undefined || name.toLowerCase() === "none" ? "SHA1" : name);
  if (digest === undefined) throw new TunnelConfigError("auth names a digest that is not supported");
  return digest;
}

function protectionOf({ options, inline }: Scope, digest: DigestName): ProtectionKeys {
  const v2 = inline.get("tls-crypt-v2");
  if (v2 !== undefined) return { kind: "tls-crypt-v2", client: keyFile("tls-crypt-v2", () => parseClientKeyV2(v2)) };
  const crypt = inline.get("tls-crypt");
  if (crypt !== undefined) return { kind: "tls-crypt", key: keyFile("tls-crypt", () => parseStaticKey(crypt)) };
  const auth = inline.get("tls-auth");
  if (auth === undefined) return { kind: "none" };
  const direction = optionOf(options, "key-direction")?.[0] ?? optionOf(options, "tls-auth")?.[1];
  return {
    kind: "tls-auth",
    key: keyFile("tls-auth", () => parseStaticKey(auth)),
    digest: digest.name,
    digestBytes: digest.sizeBytes,
    direction: direction === "1" ? 1 : direction === "0" ? 0 : null,
  };
}

function keyFile<Key>(tag: string, read: () => Key): Key {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error;
    throw new TunnelConfigError(`<${tag}> ${error.message}`);
  }
}

function tlsOf({ options, inline }: Scope): TlsSettings {
  const pkcs12 = inline.get("pkcs12");
  const profile = optionOf(options, "tls-cert-profile")?.[0];
  const minVersion = versionOf(optionOf(options, "tls-version-min")?.[0]) ?? "TLSv1.2";
  const maxVersion = versionOf(optionOf(options, "tls-version-max")?.[0]) ?? "TLSv1.3";
  if (minVersion > maxVersion) throw new TunnelConfigError("tls-version-min is above tls-version-max");
  const isOld = minVersion < "TLSv1.2" || profile === "insecure";
  const extra = inline.get("extra-certs");
  const cert = inline.get("cert");
  return {
    ca: inline.get("ca") ?? null,
    cert: cert === undefined ? null : extra === undefined ? cert : `${cert}\n${extra}`,
    key: inline.get("key") ?? null,
    pfx: pkcs12 === undefined ? null : Buffer.from(pkcs12.replace(/\s/g, ""), "base64"),
    crl: inline.get("crl-verify") ?? null,
    minVersion,
    maxVersion,
    ciphers: cipherListOf(optionOf(options, "tls-cipher")?.[0]),
    suites: suiteListOf(optionOf(options, "tls-ciphersuites")?.[0]),
    groups: optionOf(options, "tls-groups")?.[0] ?? null,
    securityLevel: isOld ? 0 : profile === "legacy" ? 1 : null,
  };
}

function versionOf(text: string | undefined): TlsVersion | undefined {
  if (text === undefined) return undefined;
  const version = VERSIONS.get(text);
  if (version === undefined) throw new TunnelConfigError("tls-version-min and -max are 1.0, 1.1, 1.2 or 1.3");
  return version;
}
