/** Where the cores of a batch connect to: the guarded addresses and the ports of their configs, and nothing else. Pure. */

import type { RefusedReach } from "../../native/sandbox/broker-service.ts";
import type { Target } from "../../native/sandbox/peer.ts";
import { parseIpv4, parseIpv6 } from "../net/ip.ts";
import type { CoreEntry } from "./core.ts";
import { isDatagram } from "./datagram.ts";

/** What is no address is left out, and so is not reached. */
export function targetsOf(entries: readonly CoreEntry[]): readonly Target[] {
  return entries.flatMap(({ address, config }): Target[] => {
    const ip = bytesOf(address);
    if (ip === null) return [];
    const protocol = isDatagram(config) ? "udp" : "tcp";
    const { account, port } = config;
    const hops = account.protocol === "hysteria2" ? account.hops : [];
    return [[port, port] as const, ...hops].map(([firstPort, lastPort]) => ({ ip, firstPort, lastPort, protocol }));
  });
}

function bytesOf(address: string): Buffer | null {
  const ipv4 = parseIpv4(address);
  const words = ipv4 >= 0 ? [ipv4] : parseIpv6(address);
  if (words === undefined) return null;
  const bytes = Buffer.alloc(words.length * 4);
  words.forEach((word, index) => {
    bytes.writeUInt32BE(word, index * 4);
  });
  return bytes;
}

/** For the log. */
export function formatReach({ protocol, ip, port }: RefusedReach): { readonly protocol: string; readonly to: string } {
  if (ip === null) return { protocol, to: "another family of addresses" };
  const bytes = Buffer.from(ip);
  if (bytes.length === 4) return { protocol, to: `${bytes.join(".")}:${port}` };
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16));
  return { protocol, to: `[${groups.join(":")}]:${port}` };
}
