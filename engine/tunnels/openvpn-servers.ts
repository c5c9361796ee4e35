/** What an OpenVPN profile asks for, made ready once for all of a monitor's checks, and one check of it. */
import { createSecureContext, type SecureContext } from "node:tls";
import type { Outcome, ProbeContext } from "../probe.ts";
import { requireCertificates } from "../protocols/certificates.ts";
import { readConfig } from "../protocols/openvpn/config.ts";
import { optionOf, type Scope } from "../protocols/openvpn/profile.ts";
import { neverDone } from "../protocols/openvpn/refusals.ts";
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
  /** Options of the profile that a checker does not do; null: none. */
  readonly remark: string | null;
}

/** @throws NetworkFault `misconfigured` */
export function prepareOpenvpn(fields: TunnelFields): PreparedOpenvpn {
  try {
    const { profile, servers, login } = readConfig(fields);
    const made = new Map<Scope, Pick<OpenvpnServer, "settings" | "tlsContext" | "hasCertificate">>();
    const hasOwnList = (fields.servers ?? []).length > 0 || (fields.host ?? "").trim() !== "";
    const left = profile === null ? [] : neverDone(profile);
    return {
      servers: servers.map(({ host, port, proto, scope }, index) => {
        const ready = made.get(scope) ?? readyScope(scope);
        made.set(scope, ready);
        return { ...ready, host: index === 0 ? (fields.ip ?? host) : host, port, proto };
      }),
      login,
      isShuffled: !hasOwnList && profile !== null && optionOf(profile.options, "remote-random") !== undefined,
      remark: left.length === 0 ? null : `Options of the profile that a checker never does: ${left.join(", ")}`,
    };
  } catch (error) {
    if (!(error instanceof TunnelConfigError)) throw error;
    throw new NetworkFault("misconfigured", `Invalid VPN configuration: ${error.message}`, { cause: error });
  }
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
  for (const name of ["ca", "cert", "key", "crl", "pfx"] as const) requireReadable(name, tls);
  try {
    return createSecureContext(contextOptions(tls));
  } catch (error) {
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
  // Node passes over what is no certificate.
  if (name === "ca" || name === "cert") requireCertificates(String(value), TAGS[name]);
  try {
    createSecureContext({ ciphers: "DEFAULT@SECLEVEL=0", [name]: value });
  } catch (error) {
    throw new TunnelConfigError(`${TAGS[name]} cannot be read`, { cause: error });
  }
}

function contextOptions({ ca, cert, key, pfx, crl, minVersion, maxVersion, securityLevel }: TlsSettings) {
  return {
    // Without one, nobody's: Node would trust every public authority.
    ca: ca ?? [],
    minVersion,
    maxVersion,
    ...(cert !== null && { cert }),
    ...(key !== null && { key }),
    ...(pfx !== null && { pfx }),
    ...(crl !== null && { crl }),
    ...(securityLevel !== null && { ciphers: `DEFAULT@SECLEVEL=${securityLevel}` }),
  };
}

export async function checkOpenvpn(prepared: PreparedOpenvpn, context: ProbeContext): Promise<Outcome> {
  let tunnel: OpenvpnTunnel | undefined;
  const servers = prepared.isShuffled ? shuffled(prepared.servers, context.randomBytes) : prepared.servers;
  const outcome = await checkTunnel(
    {
      create: (withinMs) => {
        tunnel = new OpenvpnTunnel({ servers, login: prepared.login, withinMs }, context);
        return tunnel;
      },
      targets: (info) => targetsOf(info.dns, context.transport.tunnelTargets),
      tries: 1,
      stuckHint: `Look at forwarding, NAT and firewalls behind the server, and at compression and fragment of the profile${prepared.remark === null ? "" : `. ${prepared.remark}`}`,
      deadlineAtMs: context.deadlineAtMs,
      tellsAddress: true,
    },
    context,
  );
  const strayPackets = tunnel?.strayPackets ?? 0;
  if (outcome.verdict !== "stuck" || strayPackets === 0) return outcome;
  return {
    ...outcome,
    verdict: "misconfigured",
    message: `The tunnel is up, but ${strayPackets} packets of the server cannot be read: keys, compression or fragment differ`,
    hint: "cipher, auth, comp-lzo, compress and fragment must be the server's",
  };
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
