/** What a tunnel is asked to reach (SONDE_TUNNEL_TARGETS), after the DNS server that it names itself. Pure. */

import { literalOf } from "../net/literal.ts";
import { splitAuthority } from "../protocols/endpoint.ts";
import { type AddressBytes, addressBytes } from "../protocols/inner/packet.ts";
import type { QuestionTarget } from "../protocols/inner/question.ts";

export const STANDARD_TUNNEL_TARGETS = ["dns:1.1.1.1", "icmp:1.1.1.1", "tcp:1.1.1.1:443"] as const;
/** More than any client has; a hostile file or server names thousands, and each costs a look at all networks. */
export const MOST_NAME_SERVERS = 8;

/** An entry of SONDE_TUNNEL_TARGETS that cannot be used. */
export class TunnelTargetError extends Error {
  override readonly name = "TunnelTargetError";

  constructor(entry: string) {
    super(
      `SONDE_TUNNEL_TARGETS: "${entry}" is not icmp:<address>, dns:<address>[:port] or tcp:<address>:<port>, with [ ] around IPv6`,
    );
  }
}

/** @throws TunnelTargetError */
export function parseTunnelTarget(entry: string): QuestionTarget {
  const [, kind = "", rest = ""] = /^(icmp|dns|tcp):(.+)$/s.exec(entry.trim()) ?? [];
  const { host, port } = splitAuthority(rest);
  const literal = literalOf(host);
  const address = literal === undefined || literal.hasZone ? undefined : addressBytes(literal.ip);
  if (address === undefined) throw new TunnelTargetError(entry);
  if (kind === "icmp" && port === null) return { kind, address, port: 0 };
  if (kind === "dns" && port === null) return { kind, address, port: 53 };
  const isPort = port !== null && /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535;
  if (!isPort || (kind !== "dns" && kind !== "tcp")) throw new TunnelTargetError(entry);
  return { kind, address, port: Number(port) };
}

/** Echoes and questions to the tunnel's first DNS servers come first, then the operator's targets; none comes twice. */
export function targetsOf(dns: readonly string[], operators: readonly QuestionTarget[]): readonly QuestionTarget[] {
  const named = [...new Set(dns)].slice(0, MOST_NAME_SERVERS).flatMap((text): QuestionTarget[] => {
    const address = addressBytes(text);
    return address === undefined
      ? []
      : [
          { kind: "icmp", address, port: 0 },
          { kind: "dns", address, port: 53 },
        ];
  });
  const seen = new Set<string>();
  return [...named, ...operators].filter(({ kind, address, port }) => {
    const key = `${kind} ${keyOf(address)} ${port}`;
    return !seen.has(key) && seen.add(key);
  });
}

function keyOf(address: AddressBytes): string {
  return Buffer.from(address).toString("hex");
}
