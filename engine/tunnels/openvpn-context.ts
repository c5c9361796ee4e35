/** What OpenSSL is given for the TLS of an OpenVPN profile: made once for all of a monitor's checks, of keys that were bounded before. */
import { createSecureContext, type SecureContext } from "node:tls";
import type { ProbeContext } from "../contract/probe.ts";
import { TunnelConfigError } from "../contract/tunnel.ts";
import type { OpenedKey } from "../key-opener/key-opener.ts";
import { NetworkFault } from "../net/fault.ts";
import { boundCertificate, boundPrivateKey } from "../protocols/keys/key-bounds.ts";
import { readPem } from "../protocols/keys/pem.ts";
import { type KeyFiles, keyFilesOf } from "../protocols/openvpn/key-files.ts";
import type { SessionSettings, TlsSettings } from "../protocols/openvpn/settings.ts";
import { boundedGroups, WATCHED_TLS } from "../transport/tls-bounds.ts";
import { openForeignKey } from "./foreign-key.ts";
import { RecentlyUsed } from "./recently-used.ts";

const TAGS = { ca: "<ca>", cert: "<cert>", key: "<key>", crl: "<crl-verify>" } as const;

/** Contexts that are kept in a prober: each holds 30 kB of OpenSSL's. Reading certificates and keys again costs as much as the handshake. */
const recent = new RecentlyUsed(1_024);

/** Of one scope of a profile. */
export class OpenvpnContext {
  readonly #tls: TlsSettings;
  readonly #untried: KeyFiles["untried"];
  readonly #ref = new WeakRef(this);
  #made: SecureContext | null = null;

  /** @throws TunnelConfigError */
  constructor({ tls }: SessionSettings) {
    this.#tls = tls;
    const files = keyFilesOf(tls);
    this.#untried = files.untried;
    // What is wrong with it is known before anything is dialled.
    if (files.untried === null) this.#use(secureContextOf(tls, files));
  }

  /** Whether its key has to be opened first. */
  get isLocked(): boolean {
    return this.#untried !== null && this.#made === null;
  }

  /** For the TLS that begins now: silent servers never need it. It must not be locked. @throws TunnelConfigError */
  ready(): SecureContext {
    return this.#use(this.#made ?? secureContextOf(this.#tls, keyFilesOf(this.#tls)));
  }

  /** Makes it anew when it is wanted next. */
  forget(): void {
    this.#made = null;
  }

  /** @throws NetworkFault `misconfigured` for what cannot be opened, `unfit` when it was not in time, `unsupported` where nothing opens keys */
  async unlock(context: ProbeContext): Promise<void> {
    const untried = this.#untried;
    if (untried === null) throw new Error("nothing is to be opened");
    const tag = untried.kind === "pkcs12" ? "<pkcs12>" : TAGS.key;
    this.#take(await openForeignKey(untried, tag, context));
  }

  #use(context: SecureContext): SecureContext {
    this.#made = context;
    // A key that another process had to open is expensive, by as much as its file demands.
    if (this.#untried === null) recent.use(this.#ref);
    return context;
  }

  #take({ keyPem, certificatePems }: OpenedKey): void {
    // What comes back is loaded in this thread.
    for (const { der } of readPem(keyPem)) boundPrivateKey(der, "PRIVATE KEY");
    for (const { der } of certificatePems.flatMap(readPem)) boundCertificate(der);
    const files = keyFilesOf(this.#tls);
    const { ca, cert } = files;
    const isAlone = certificatePems.length === 0;
    try {
      this.#made ??= secureContextOf(this.#tls, {
        ...files,
        key: keyPem,
        cert: isAlone ? cert : certificatePems.join(""),
        // The authorities of a PKCS #12 file are trusted beside those of <ca> (openvpn(8), pkcs12).
        ca: isAlone ? ca : [ca ?? "", ...certificatePems.slice(1)].join("") || null,
      });
    } catch (error) {
      if (!(error instanceof TunnelConfigError)) throw error;
      throw new NetworkFault("misconfigured", `Invalid VPN configuration: ${error.message}`, { cause: error });
    }
  }
}

/** Reading certificates and keys costs as much as the handshake. @throws TunnelConfigError */
function secureContextOf(tls: TlsSettings, files: KeyFiles): SecureContext {
  try {
    return createSecureContext(contextOptions(tls, files));
  } catch (error) {
    for (const name of ["ca", "cert", "key", "crl"] as const) requireReadable(name, files[name]);
    requireAvailable(tls);
    throw new TunnelConfigError("<cert> and <key> do not belong together", { cause: error });
  }
}

/** Each by itself, so that the one that cannot be read is named. */
function requireReadable(name: keyof typeof TAGS, pem: string | null): void {
  if (pem === null) return;
  try {
    createSecureContext({ ciphers: "DEFAULT@SECLEVEL=0", [name]: pem });
  } catch (error) {
    throw new TunnelConfigError(`${TAGS[name]} cannot be read`, { cause: error });
  }
}

/** Each by itself, so that the one that nothing is left of is named. */
function requireAvailable({ ciphers, suites, groups }: TlsSettings): void {
  const lists = [
    ["tls-cipher", cipherOptions(ciphers, null, null)],
    ["tls-ciphersuites", cipherOptions(null, suites, null)],
    ["tls-groups", groups === null ? {} : { ecdhCurve: boundedGroups(groups) }],
  ] as const;
  for (const [name, options] of lists) {
    if (Object.keys(options).length === 0) continue;
    try {
      createSecureContext(options);
    } catch (error) {
      throw new TunnelConfigError(`${name} has nothing that is supported`, { cause: error });
    }
  }
}

function contextOptions(
  { minVersion, maxVersion, securityLevel, ciphers, suites, groups }: TlsSettings,
  { ca, cert, key, crl }: KeyFiles,
) {
  return {
    // Without a CA none is trusted: with undefined Node would trust every public authority.
    ca: ca ?? [],
    minVersion,
    maxVersion,
    ...(cert !== null && { cert }),
    ...(key !== null && { key }),
    ...(crl !== null && { crl }),
    ...WATCHED_TLS,
    ...(groups !== null && { ecdhCurve: boundedGroups(groups) }),
    ...cipherOptions(ciphers, suites, securityLevel),
  };
}

/** Node names the suites of TLS 1.3 in the same list; without a list its own defaults apply. */
function cipherOptions(
  ciphers: string | null,
  suites: string | null,
  level: TlsSettings["securityLevel"],
): { readonly ciphers?: string } {
  if (ciphers === null && suites === null && level === null) return {};
  const older = `${ciphers ?? "DEFAULT"}${level === null ? "" : `:@SECLEVEL=${level}`}`;
  return { ciphers: suites === null ? older : `${suites}:${older}` };
}
