/** What an OpenVPN profile asks for, made ready once for all of a monitor's checks, and one check of it. */
import { createSecureContext, type SecureContext } from "node:tls";
import type { Outcome, ProbeContext } from "../probe.ts";
import { requireCertificates } from "../protocols/certificates.ts";
import { readConfig } from "../protocols/openvpn/config.ts";
import { optionOf, type Scope } from "../protocols/openvpn/profile.ts";
import { neverDone, unknownLines } from "../protocols/openvpn/refusals.ts";
import { type SessionSettings, settingsOfScope, type TlsSettings } from "../protocols/openvpn/settings.ts";
import { NetworkFault } from "../transport/fault.ts";
import { TunnelConfigError, type TunnelFields } from "../tunnel.ts";
import { checkTunnel } from "./check-tunnel.ts";
import { type OpenvpnServer, OpenvpnTunnel } from "./openvpn-tunnel.ts";
import { targetsOf } from "./targets.ts";

export interface PreparedOpenvpn {
  readonly servers: readonly OpenvpnServer[];
  readonly login: { readonly username: string; readonly password: string } | null;
  readonly isShuffled: boolean;
  /** Options of the profile that a checker does not do, in words; null: none. */
  readonly leftOut: string | null;
  /** Lines of the profile that mean nothing to us, in words; null: none. */
  readonly unknown: string | null;
}

/** @throws NetworkFault `misconfigured` */
export function prepareOpenvpn(fields: TunnelFields): PreparedOpenvpn {
  try {
    const { profile, servers, login } = readConfig(fields);
    const made = new Map<Scope, Pick<OpenvpnServer, "settings" | "tlsContext" | "hasCertificate">>();
    const hasOwnList = (fields.servers ?? []).length > 0 || (fields.host ?? "").trim() !== "";
    return {
      servers: servers.map(({ host, port, proto, scope }, index) => {
        const ready = made.get(scope) ?? readyScope(scope);
        made.set(scope, ready);
        return { ...ready, host: index === 0 ? (fields.ip ?? host) : host, port, proto };
      }),
      login,
      isShuffled: !hasOwnList && profile !== null && optionOf(profile.options, "remote-random") !== undefined,
      leftOut: listed("Options of the profile that a checker never does", profile === null ? [] : neverDone(profile)),
      unknown: listed(
        "Lines of the profile with an option that is not known",
        profile === null ? [] : unknownLines(profile),
      ),
    };
  } catch (error) {
    if (!(error instanceof TunnelConfigError)) throw error;
    throw new NetworkFault("misconfigured", `Invalid VPN configuration: ${error.message}`, { cause: error });
  }
}

function listed(words: string, items: readonly (string | number)[]): string | null {
  return items.length === 0 ? null : `${words}: ${items.join(", ")}`;
}

function readyScope(scope: Scope): Pick<OpenvpnServer, "settings" | "tlsContext" | "hasCertificate"> {
  const settings = settingsOfScope(scope);
  const { tls } = settings;
  return { settings, tlsContext: secureContextOf(settings), hasCertificate: tls.cert !== null || tls.pfx !== null };
}

/** Reading certificates and keys costs as much as the handshake. @throws TunnelConfigError */
function secureContextOf({ tls, rules }: SessionSettings): SecureContext {
  if (tls.ca === null && tls.pfx === null && rules.fingerprints.length === 0) {
    throw new TunnelConfigError("missing <ca>: without it, or a peer-fingerprint, the server cannot be trusted");
  }
  if ((tls.cert === null) !== (tls.key === null)) throw new TunnelConfigError("<cert> and <key> go together");
  // Node passes over what is no certificate.
  for (const name of ["ca", "cert"] as const) if (tls[name] !== null) requireCertificates(tls[name], TAGS[name]);
  try {
    return createSecureContext(contextOptions(tls));
  } catch (error) {
    for (const name of ["ca", "cert", "key", "crl", "pfx"] as const) requireReadable(name, tls);
    requireAvailable(tls);
    throw new TunnelConfigError("<cert> and <key> do not belong together", { cause: error });
  }
}

const TAGS = { ca: "<ca>", cert: "<cert>", key: "<key>", crl: "<crl-verify>", pfx: "<pkcs12>" } as const;

/** Each by itself, so that the one that cannot be read is named. */
function requireReadable(name: keyof typeof TAGS, tls: TlsSettings): void {
  const value = tls[name];
  if (value === null) return;
  if (name === "key" && /BEGIN ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/.test(String(value))) {
    throw new TunnelConfigError("<key> is encrypted; a checker has nobody to type its password");
  }
  try {
    createSecureContext({ ciphers: "DEFAULT@SECLEVEL=0", [name]: value });
  } catch (error) {
    throw new TunnelConfigError(`${TAGS[name]} cannot be read`, { cause: error });
  }
}

/** Each by itself, so that the one that nothing is left of is named. */
function requireAvailable({ ciphers, suites, groups }: TlsSettings): void {
  const lists = [
    ["tls-cipher", cipherOptions(ciphers, null, null)],
    ["tls-ciphersuites", cipherOptions(null, suites, null)],
    ["tls-groups", groups === null ? {} : { ecdhCurve: groups }],
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

function contextOptions({
  ca,
  cert,
  key,
  pfx,
  crl,
  minVersion,
  maxVersion,
  securityLevel,
  ciphers,
  suites,
  groups,
}: TlsSettings) {
  return {
    // Without one, nobody's: Node would trust every public authority.
    ca: ca ?? [],
    minVersion,
    maxVersion,
    ...(cert !== null && { cert }),
    ...(key !== null && { key }),
    ...(pfx !== null && { pfx }),
    ...(crl !== null && { crl }),
    ...(groups !== null && { ecdhCurve: groups }),
    ...cipherOptions(ciphers, suites, securityLevel),
  };
}

/** Node tells suites of TLS 1.3 by their names; without a list those of its own standing are meant. */
function cipherOptions(
  ciphers: string | null,
  suites: string | null,
  level: TlsSettings["securityLevel"],
): { readonly ciphers?: string } {
  if (ciphers === null && suites === null && level === null) return {};
  const older = `${ciphers ?? "DEFAULT"}${level === null ? "" : `:@SECLEVEL=${level}`}`;
  return { ciphers: suites === null ? older : `${suites}:${older}` };
}

export async function checkOpenvpn(prepared: PreparedOpenvpn, context: ProbeContext): Promise<Outcome> {
  let tunnel: OpenvpnTunnel | undefined;
  const servers = prepared.isShuffled ? shuffled(prepared.servers, context.randomBytes) : prepared.servers;
  const { leftOut, unknown } = prepared;
  const stuckHint =
    "Look at forwarding, NAT and firewalls behind the server, and at compression and fragment of the profile";
  const outcome = await checkTunnel(
    {
      create: (withinMs) => {
        tunnel = new OpenvpnTunnel({ servers, login: prepared.login, withinMs }, context);
        return tunnel;
      },
      targets: (info) => targetsOf(info.dns, context.transport.tunnelTargets),
      tries: 1,
      stuckHint: sentences(stuckHint, leftOut, unknown),
      deadlineAtMs: context.deadlineAtMs,
      tellsAddress: true,
    },
    context,
  ).catch((error: unknown) => {
    throw told(error, unknown);
  });
  const strayPackets = tunnel?.strayPackets ?? 0;
  if (outcome.verdict !== "stuck" || strayPackets === 0) return outcome;
  return {
    ...outcome,
    verdict: "misconfigured",
    message: `The tunnel is up, but ${strayPackets} packets of the server cannot be read: keys, compression or fragment differ`,
    hint: "cipher, auth, comp-lzo, compress and fragment must be the server's",
  };
}

/** What the two ends do not agree on may be what we do not know; a refusal speaks for itself. */
function told(error: unknown, remark: string | null): unknown {
  if (remark === null || !(error instanceof NetworkFault)) return error;
  const { verdict, message, peerAnswered, peer, hint, cause } = error;
  if (verdict === "auth-failed" || verdict === "cert-invalid" || verdict === "cancelled") return error;
  return new NetworkFault(verdict, message, {
    ...(peerAnswered !== undefined && { peerAnswered }),
    ...(peer !== undefined && { peer }),
    hint: sentences(hint ?? null, remark),
    cause,
  });
}

function sentences(...texts: readonly (string | null)[]): string {
  return texts.filter((text) => text !== null).join(". ");
}

/** `remote-random`: Fisher and Yates, with a byte for each of at most 16 servers. */
function shuffled<Item>(items: readonly Item[], randomBytes: ProbeContext["randomBytes"]): readonly Item[] {
  const random = randomBytes(items.length);
  const order = [...items];
  for (let last = order.length - 1; last > 0; last--) {
    const other = (random[last] ?? 0) % (last + 1);
    const [one, two] = [order[last], order[other]];
    if (one === undefined || two === undefined) continue;
    order[last] = two;
    order[other] = one;
  }
  return order;
}
