/**
 * The network of the guard's vectors: `svc`, the machine that Sonde runs on, and `out`, everything else. In svc the kernel writes down where
 * every connection, datagram and echo request goes, on loopback too: what is judged is what was sent, never what the service says.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { removeNamespace, sweepNamespaces } from "../namespaces.ts";

const PREFIX = "sonde-guard-";
const DEVICE = "sgv";
const COMMAND_MS = 20_000;
/** Test processes side by side. */
const SUBNETS = 200;

/** Addresses. 45.90.12.0/22 and 2a0f:9100::/28 stand for public ones; nothing of it leaves the namespaces. */
export const NET = {
  /** Of this machine. */
  lan: "10.91.1.2",
  lanNamed: "10.91.1.3",
  near: "10.91.9.1",
  public: "45.90.12.7",
  second: "45.90.12.8",
  publicV6: "2a0f:9100::7",
  lanV6: "fd91::2",
  /** A whole prefix by a `local` route: 45.90.13.1 and so on; 2a0f:9200::/64. */
  anyIp: "45.90.13",
  anyIpV6: "2a0f:9200::",
  /** Of others. */
  neighbour: "10.91.1.9",
  neighbours: "10.91.2",
  metadata: "169.254.169.254",
  site: "45.90.14.1",
  siteV6: "2a0f:9101::1",
  resolver: "45.90.14.53",
  /** What resolv.conf names. */
  systemResolver: "45.90.14.54",
} as const;

/** Where something went; port 0: an echo request. */
export interface Sent {
  readonly to: string;
  readonly protocol: "tcp" | "udp" | "icmp";
  readonly port: number;
}

export interface VectorNetwork {
  /** The service's address as this process reaches it. */
  readonly address: string;
  /** Words before a command that runs it beside the service; or among everything else. */
  within(side: "svc" | "out"): readonly string[];
  /** Everything that left so far, each once. */
  sent(): readonly Sent[];
  /** Ports of all that listens beside the service, with its program. */
  listeners(): readonly { readonly port: number; readonly protocol: "tcp" | "udp"; readonly program: string }[];
  addAddress(address: string): void;
  setHost(name: string, address: string): void;
  close(): void;
}

const SNIFFER = `table inet sonde_guard {
  set s4 { type ipv4_addr . inet_proto . inet_service; flags dynamic; size 65535; }
  set s6 { type ipv6_addr . inet_proto . inet_service; flags dynamic; size 65535; }
  set p4 { type ipv4_addr; flags dynamic; size 65535; }
  set p6 { type ipv6_addr; flags dynamic; size 65535; }
  chain out { type filter hook output priority -300;
    tcp flags & (syn | ack) == syn update @s4 { ip daddr . meta l4proto . th dport }
    tcp flags & (syn | ack) == syn update @s6 { ip6 daddr . meta l4proto . th dport }
    meta l4proto udp update @s4 { ip daddr . meta l4proto . th dport }
    meta l4proto udp update @s6 { ip6 daddr . meta l4proto . th dport }
    icmp type echo-request update @p4 { ip daddr }
    icmpv6 type echo-request update @p6 { ip6 daddr }
  }
}`;

/** Needs root, iproute2, nftables. */
export async function openVectorNetwork(): Promise<VectorNetwork> {
  sweepNamespaces(PREFIX);
  const [svc, out] = [`${PREFIX}svc-${process.pid}`, `${PREFIX}out-${process.pid}`];
  const subnet = `10.204.${process.pid % SUBNETS}`;
  const address = `${subnet}.2`;
  const inside = (name: string, ...args: string[]) => run("ip", "-n", name, ...args);
  for (const name of [svc, out]) {
    mkdirSync(`/etc/netns/${name}`, { recursive: true });
    writeFileSync(`/etc/netns/${name}/resolv.conf`, `nameserver ${NET.systemResolver}\n`);
    writeFileSync(`/etc/netns/${name}/hosts`, "127.0.0.1 localhost\n::1 localhost\n");
    run("ip", "netns", "add", name);
    inside(name, "link", "set", "lo", "up");
    run(
      "ip",
      "netns",
      "exec",
      name,
      "sysctl",
      "-qw",
      "net.ipv6.conf.all.accept_dad=0",
      "net.ipv6.conf.default.accept_dad=0",
    );
  }
  run("ip", "link", "add", `${DEVICE}${process.pid}`, "type", "veth", "peer", "name", "desk", "netns", svc);
  run("ip", "address", "add", `${subnet}.1/30`, "dev", `${DEVICE}${process.pid}`);
  run("ip", "link", "set", `${DEVICE}${process.pid}`, "up");
  inside(svc, "link", "add", "wan", "type", "veth", "peer", "name", "wan", "netns", out);
  // Has no carrier, because its other end is down: libuv does not list its addresses, the kernel delivers them.
  inside(svc, "link", "add", "idle", "type", "veth", "peer", "name", "idle", "netns", out);
  const { lan, lanNamed, near, public: own, second, publicV6, lanV6 } = NET;
  const ours = [`${lan}/16`, `${lanNamed}/16`, `${own}/32`, `${publicV6}/64`, `${lanV6}/64`];
  for (const each of ours) addTo(svc, each, "wan");
  inside(svc, "address", "add", near, "peer", "10.91.9.2", "dev", "wan");
  addTo(svc, `${address}/30`, "desk");
  addTo(svc, `${second}/32`, "idle");
  const theirs = ["10.91.0.1/16", `${NET.neighbour}/16`, "fd91::1/64"];
  for (const each of theirs) addTo(out, each, "wan");
  const far = [NET.site, NET.resolver, NET.systemResolver, NET.metadata].map((ip) => `${ip}/32`);
  for (const each of [...far, `${NET.siteV6}/128`]) addTo(out, each, "lo");
  for (const [name, device] of [
    [svc, "desk"],
    [svc, "wan"],
    [svc, "idle"],
    [out, "wan"],
  ] as const)
    inside(name, "link", "set", device, "up");
  inside(svc, "route", "add", "default", "via", "10.91.0.1");
  inside(svc, "-6", "route", "add", "default", "via", "fd91::1");
  inside(out, "route", "add", "default", "via", lan);
  inside(out, "-6", "route", "add", "default", "via", lanV6);
  inside(svc, "route", "add", "local", `${NET.anyIp}.0/24`, "dev", "lo");
  inside(svc, "-6", "route", "add", "local", `${NET.anyIpV6}/64`, "dev", "lo");
  for (let tries = 0; tries < 200 && run("ip", "-n", svc, "-6", "address", "show", "tentative").trim() !== ""; tries++)
    await pause(50);
  execFileSync("ip", ["netns", "exec", svc, "nft", "-f", "-"], { input: SNIFFER, timeout: COMMAND_MS });

  function addTo(name: string, ip: string, device: string): void {
    inside(name, "address", "add", ip, "dev", device, ...(ip.includes(":") ? ["nodad"] : []));
  }

  return {
    address,
    within: (side) => ["ip", "netns", "exec", side === "svc" ? svc : out],
    sent: () => sentOf(run("ip", "netns", "exec", svc, "nft", "-j", "list", "table", "inet", "sonde_guard")),
    listeners: () => listenersOf(run("ip", "netns", "exec", svc, "ss", "-H", "-lntup")),
    addAddress: (ip) => addTo(svc, ip, "wan"),
    // In its place: the file is mounted over /etc/hosts.
    setHost: (name, ip) =>
      writeFileSync(`/etc/netns/${svc}/hosts`, `127.0.0.1 localhost\n::1 localhost\n${ip} ${name}\n`),
    close() {
      for (const name of [svc, out]) removeNamespace(name);
    },
  };
}

type Element = string | { readonly concat: readonly [string, "tcp" | "udp", number | string] };

function sentOf(json: string): readonly Sent[] {
  const { nftables } = JSON.parse(json) as {
    nftables: readonly { readonly set?: { readonly name: string; readonly elem?: readonly Element[] } }[];
  };
  return nftables.flatMap(({ set }) =>
    (set?.elem ?? []).map((element): Sent => {
      if (typeof element === "string") return { to: element, protocol: "icmp", port: 0 };
      const [to, protocol, port] = element.concat;
      return { to, protocol, port: Number(port) };
    }),
  );
}

function listenersOf(lines: string) {
  return lines
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((words) => words.length >= 6)
    .map(([protocol, , , , local = "", , program = ""]) => ({
      protocol: protocol === "udp" ? ("udp" as const) : ("tcp" as const),
      port: Number(local.slice(local.lastIndexOf(":") + 1)),
      program: /\("([^"]+)"/.exec(program)?.[1] ?? "",
    }));
}

function run(command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: COMMAND_MS,
    maxBuffer: 64 * 1024 * 1024,
  });
}
