/** Our own listeners and stores, in the form that the guard compares. */

import { type Ipv6Words, parseIpv4, parseIpv6 } from "../net/ip.ts";
import { isLoopbackName, literalOf } from "../net/literal.ts";
import type { AddressSet } from "./address-set.ts";

/** An own endpoint that is not `ip:port`: a mistake in our wiring. */
class OwnEndpointError extends Error {
  override readonly name = "OwnEndpointError";

  constructor(entry: string) {
    super(`own endpoint "${entry}" is not ip:port`);
  }
}

/** An address as the guard has it: one number, or four. */
export type JudgedAddress = number | Ipv6Words;

export interface OwnEndpoints {
  /** Whether it listens there. @param isHere the address is one of this machine's */
  has(address: JudgedAddress, isHere: boolean, port: number, here: AddressSet): boolean;
  /** Ports that any of them has. */
  readonly ports: ReadonlySet<number>;
}

/**
 * One that listens on every address, on loopback or on any address of this machine is had at all addresses of this machine: which of them
 * its socket is bound to may change, and a forwarded port leads to it all the same. One elsewhere is had at its own address.
 * @param entries `ip:port`, `[ip]:port` or `localhost:port`. @throws OwnEndpointError
 */
export function readOwnEndpoints(entries: readonly string[]): OwnEndpoints {
  const everywhere = new Set<number>();
  const byPort = new Map<number, JudgedAddress[]>();
  for (const entry of entries) {
    const { address, port } = readEntry(entry);
    if (address === null) everywhere.add(port);
    else byPort.set(port, [...(byPort.get(port) ?? []), address]);
  }
  const ports = new Set([...everywhere, ...byPort.keys()]);
  return {
    ports,
    has(address, isHere, port, here) {
      if (!ports.has(port)) return false;
      const addresses = byPort.get(port) ?? [];
      if (!isHere) return addresses.some((each) => areSame(each, address));
      return everywhere.has(port) || addresses.some((each) => isIn(here, each));
    },
  };
}

function isIn(set: AddressSet, address: JudgedAddress): boolean {
  return typeof address === "number" ? set.has4(address) : set.has6(address);
}

/** An address of null: unspecified or loopback, so every address of this machine. */
function readEntry(entry: string): { readonly address: JudgedAddress | null; readonly port: number } {
  const [, host = "", digits = ""] = /^(.*):(\d{1,5})$/.exec(entry.trim()) ?? [];
  const port = Number(digits);
  if (isLoopbackName(host)) return { address: null, port };
  const ip = literalOf(host)?.ip;
  if (ip === undefined) throw new OwnEndpointError(entry);
  if (ip === "0.0.0.0" || ip === "::" || ip === "::1" || ip.startsWith("127.")) return { address: null, port };
  const ipv4 = parseIpv4(ip);
  const address = ipv4 >= 0 ? ipv4 : parseIpv6(ip);
  if (address === undefined) throw new OwnEndpointError(entry);
  return { address, port };
}

function areSame(one: JudgedAddress, other: JudgedAddress): boolean {
  if (typeof one === "number" || typeof other === "number") return one === other;
  return one.every((word, index) => word === other[index]);
}
