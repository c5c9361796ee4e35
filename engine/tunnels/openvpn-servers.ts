/** What an OpenVPN profile asks for, made ready once for all of a monitor's checks, and one check of it. */
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import { TunnelConfigError, type TunnelFields } from "../contract/tunnel.ts";
import { targetsOf } from "../contract/tunnel-targets.ts";
import { NetworkFault } from "../net/fault.ts";
import { configOf } from "../protocols/openvpn/config.ts";
import { optionOf, type Scope } from "../protocols/openvpn/profile.ts";
import { neverDone, unknownLines } from "../protocols/openvpn/refusals.ts";
import { settingsOfScope } from "../protocols/openvpn/settings.ts";
import { checkTunnel } from "./check-tunnel.ts";
import { OpenvpnContext } from "./openvpn-context.ts";
import { type OpenvpnServer, OpenvpnTunnel } from "./openvpn-tunnel.ts";
import { withOwnAge } from "./own-certificate-age.ts";

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
    const { profile, servers, login } = configOf(fields);
    const made = new Map<Scope, ReadyScope>();
    const hasOwnList = (fields.servers ?? []).length > 0 || (fields.host ?? "").trim() !== "";
    return {
      servers: servers.map(({ host, port, proto, family, scope }, index) => {
        const ready = made.get(scope) ?? readyScope(scope);
        made.set(scope, ready);
        const dialled =
          index === 0 && fields.ip !== undefined ? { host: fields.ip, family: "both" as const } : { host, family };
        return { ...ready, ...dialled, port, proto };
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

type ReadyScope = Pick<OpenvpnServer, "settings" | "tls" | "hasCertificate" | "hasRandomName">;

function readyScope(scope: Scope): ReadyScope {
  const settings = settingsOfScope(scope);
  const { tls } = settings;
  return {
    settings,
    tls: new OpenvpnContext(settings),
    hasCertificate: tls.cert !== null || tls.pfx !== null,
    hasRandomName: optionOf(scope.options, "remote-random-hostname") !== undefined,
  };
}

/** @throws NetworkFault also for keys that have to be opened elsewhere: `misconfigured`, `unfit`, `unsupported` */
export async function checkOpenvpn(prepared: PreparedOpenvpn, context: ProbeContext): Promise<Outcome> {
  let tunnel: OpenvpnTunnel | undefined;
  // Before anything is dialled.
  for (const { tls } of prepared.servers) if (tls.isLocked) await tls.unlock(context);
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
    const own = servers.find(({ settings }) => settings.tls.cert !== null)?.settings.tls.cert ?? null;
    throw withRemark(withOwnAge(error, own, context.wallNowMs()), unknown);
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

/** A mismatch may come from an option that we do not know, so the remark names it; a refusal needs no remark. */
function withRemark(error: unknown, remark: string | null): unknown {
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
