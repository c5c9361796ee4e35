/**
 * A network of a fault test's own: every process in a namespace, joined to the stores and targets by one link for each of them, so that one
 * way can be cut and the others stay. A cut loses packets in silence, as a network does. Gone with the test; what a killed one left, with
 * the next.
 */
import { ip, isAlive, listed, removeNamespace, sweepNamespaces } from "../namespaces.ts";

const PREFIX = "sonde-links-";
const HUB_PREFIX = "slh";
const HUB = new RegExp(` (${HUB_PREFIX}(\\d+))@`);
/** Some hundred tests of different processes side by side. */
const SUBNETS = 200;
/** Addresses of a link: two ends, and their network and broadcast. */
const LINK_ADDRESSES = 4;
/** Targets that have nothing to do with each other, as a checker sees them. */
const TARGETS = 16;

/** web: ClickHouse, targets, and callers of an API. */
export const WAYS = ["redis", "postgres", "web"] as const;
export type Way = (typeof WAYS)[number];

/** Where one process lives. */
export interface Station {
  /** Words before a command that run it there. */
  readonly within: readonly string[];
  /** Its own, as seen over `web`. */
  readonly address: string;
  cut(way: Way): void;
  mend(way: Way): void;
}

export interface Links {
  /** Of this side: what is behind each way. */
  readonly redis: string;
  readonly postgres: string;
  readonly web: string;
  readonly targets: readonly string[];
  station(): Station;
  close(): void;
}

/** Needs root and iproute2. */
export function openLinks(): Links {
  sweep();
  const subnet = `10.203.${process.pid % SUBNETS}`;
  const host = (last: number): string => `${subnet}.${last}`;
  const hub = `${HUB_PREFIX}${process.pid}`;
  const redis = host(254);
  const postgres = host(253);
  const web = host(252);
  const targets = Array.from({ length: TARGETS }, (_, index) => host(251 - index));
  const behind: Readonly<Record<Way, readonly string[]>> = {
    redis: [redis],
    postgres: [postgres],
    web: [web, ...targets],
  };
  // Whatever way is cut, this side keeps its addresses.
  ip("link", "add", hub, "type", "veth", "peer", "name", `${hub}p`);
  for (const end of [hub, `${hub}p`]) ip("link", "set", end, "up");
  for (const address of Object.values(behind).flat()) ip("address", "add", `${address}/32`, "dev", hub);
  const namespaces: string[] = [];
  let links = 0;

  function addLink(namespace: string, way: Way): { readonly device: string; readonly address: string } {
    const device = `${hub}-${links}`;
    const base = links * LINK_ADDRESSES;
    links += 1;
    const [ours, theirs] = [host(base + 1), host(base + 2)];
    ip("link", "add", device, "type", "veth", "peer", "name", way, "netns", namespace);
    ip("address", "add", `${ours}/30`, "dev", device);
    ip("link", "set", device, "up");
    ip("-n", namespace, "address", "add", `${theirs}/30`, "dev", way);
    ip("-n", namespace, "link", "set", way, "up");
    for (const address of behind[way]) ip("-n", namespace, "route", "add", `${address}/32`, "via", ours, "dev", way);
    return { device, address: theirs };
  }

  return {
    redis,
    postgres,
    web,
    targets,
    station() {
      const namespace = `${PREFIX}${namespaces.length}-${process.pid}`;
      namespaces.push(namespace);
      ip("netns", "add", namespace);
      ip("-n", namespace, "link", "set", "lo", "up");
      const ends = { redis: addLink(namespace, "redis"), postgres: addLink(namespace, "postgres") };
      const ways = { ...ends, web: addLink(namespace, "web") };
      return {
        within: ["ip", "netns", "exec", namespace],
        address: ways.web.address,
        // The other end: what the process sends is lost without a word.
        cut: (way) => ip("link", "set", ways[way].device, "down"),
        mend: (way) => ip("link", "set", ways[way].device, "up"),
      };
    },
    close() {
      for (const namespace of namespaces.splice(0)) removeNamespace(namespace);
      ip("link", "del", hub);
    },
  };
}

/** Removes what tests that are no more have left. */
function sweep(): void {
  sweepNamespaces(PREFIX);
  for (const line of listed("-o", "link")) {
    const [, hub = "", pid] = HUB.exec(line) ?? [];
    if (hub !== "" && !isAlive(Number(pid))) ip("link", "del", hub);
  }
}
