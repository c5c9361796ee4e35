/** What an OpenConnect configuration asks for, made ready once for all of a monitor's checks, and one check of it. */
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import type { TunnelFields } from "../contract/tunnel.ts";
import { targetsOf } from "../contract/tunnel-targets.ts";
import { requireCertificates } from "../protocols/certificates.ts";
import type { QuestionTarget } from "../protocols/inner/question.ts";
import { addressOfLogin } from "../protocols/openconnect/config.ts";
import { isOffered, type TunnelOffer } from "../protocols/openconnect/offer.ts";
import { checkTunnel } from "./check-tunnel.ts";
import { type OpenconnectEndpoint, OpenconnectTunnel } from "./openconnect-tunnel.ts";

/** Of one configuration. */
export interface PreparedServer extends Pick<OpenconnectEndpoint, "place" | "login" | "trust"> {
  /** Dialled instead of resolving the host; null: the host is resolved. */
  readonly ip: string | null;
}

/** @throws TunnelConfigError */
export function prepareServer(fields: TunnelFields): PreparedServer {
  const { server, target } = addressOfLogin(fields);
  const { username = "", password = "", group, ip, ca, pin } = fields;
  return {
    place: { ...server, target },
    ip: ip ?? null,
    login: { username, password, group: group ?? null },
    // Those of `ca`, and then no others, as with IKEv2.
    trust: {
      ca: ca === undefined ? null : requireCertificates(ca, "ca"),
      pin: pin ?? null,
    },
  };
}

export async function checkServer(prepared: PreparedServer, context: ProbeContext): Promise<Outcome> {
  const { place, ip, login, trust } = prepared;
  const { transport } = context;
  context.phase("resolve");
  const addresses = await transport.resolve(ip ?? place.host, place.port, "both", context);
  let tunnel: OpenconnectTunnel | undefined;
  const outcome = await checkTunnel(
    {
      create: (withinMs) => {
        tunnel = new OpenconnectTunnel({ place, addresses, login, trust, withinMs }, context);
        return tunnel;
      },
      targets: ({ dns }) => targetsThrough(tunnel?.offer ?? null, dns, transport.tunnelTargets),
      tries: 1,
      stuckHint: "Look at forwarding, NAT and DNS behind the server, and at the routes and rules of this user's group",
      deadlineAtMs: context.deadlineAtMs,
      // In the API `assigned_ip` is the tunnel's own for WireGuard and IKEv2 only.
      tellsAddress: false,
    },
    context,
  );
  if (outcome.verdict !== "stuck" || tunnel === undefined) return outcome;
  const { fault, ending } = tunnel;
  if (fault !== null) throw fault;
  if (ending === null) return outcome;
  return { ...outcome, message: "The server ended the tunnel before anything came back through it", peer: ending };
}

/** Addresses that the server says are behind it come first; where it names networks without any of them, a host of each comes before them. */
function targetsThrough(
  offer: TunnelOffer | null,
  dns: readonly string[],
  operators: readonly QuestionTarget[],
): readonly QuestionTarget[] {
  const all = targetsOf(dns, operators);
  if (offer === null) return all;
  const offered = all.filter(({ address }) => isOffered(offer, address));
  if (offered.length > 0) return offered;
  const hosts = offer.networks.map(({ address, prefixBits }): QuestionTarget => {
    const host = Uint8Array.from(address);
    const last = host.length - 1;
    // The first address of a network, where gateways live; of a single address itself.
    if (prefixBits < 8 * host.length) host[last] = (host[last] ?? 0) | 1;
    return { kind: "icmp", address: host, port: 0 };
  });
  return [...hosts, ...all];
}
