/**
 * The lab's network, in namespaces of its own: cli (the checker) – srv (the tunnel servers) – net ("the internet" behind them).
 * Names carry the test's process, servers die with it, and what a killed run left behind is swept away by the next.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { listed, removeNamespace, ip as runIp, sweepNamespaces } from "../namespaces.ts";

const HOST = new URL("../fixtures/lab-host.mjs", import.meta.url);
const PREFIX = "sonde-lab-";

/** Outside addresses of the server, and hosts behind it. */
export const LAB = {
  server: "10.77.0.1",
  serverV6: "fd00:77::1",
  /** Packets there are dropped silently; a router says that no host is there; that it is forbidden. */
  blackHole: "10.88.0.1",
  unreachable: "10.89.0.1",
  prohibited: "10.90.0.1",
  internet: "1.1.1.1",
  internetV6: "2606:4700:4700::1111",
  /** Behind the server, and cut off from it. */
  cutOff: "198.18.0.1",
} as const;

type Side = "cli" | "srv" | "net";

export interface Lab {
  ip(side: Side, ...args: string[]): void;
  /** The words before a command that runs it in a namespace, ending with this process. */
  within(side: Side): readonly string[];
  /** Starts a program in a namespace; it dies with this process whatever happens. */
  start(
    side: Side,
    command: string,
    args: readonly string[],
    options?: { readonly env?: Record<string, string> },
  ): ChildProcess;
  close(): Promise<void>;
}

export async function openLab(): Promise<Lab> {
  sweepNamespaces(PREFIX);
  const nameOf = (side: Side): string => `${PREFIX}${side}-${process.pid}`;
  const names = { cli: nameOf("cli"), srv: nameOf("srv"), net: nameOf("net") };
  const children: ChildProcess[] = [];
  const ip = (side: Side, ...args: string[]) => runIp("-n", names[side], ...args);

  const lab: Lab = {
    ip,
    within: (side) => ["setpriv", "--pdeathsig", "KILL", "--", "ip", "netns", "exec", names[side]],
    start(side, command, args, options = {}) {
      const [first = "", ...before] = lab.within(side);
      const child = spawn(first, [...before, command, ...args], {
        stdio: ["pipe", "pipe", "inherit"],
        env: { ...process.env, ...options.env },
      });
      children.push(child);
      return child;
    },
    async close() {
      for (const child of children) await killed(child);
      for (const name of Object.values(names)) removeNamespace(name);
    },
  };
  try {
    buildNetwork(lab, names);
    await untilUsable(names);
    const host = lab.start("net", process.execPath, [fileURLToPath(HOST), LAB.internet, LAB.internetV6]);
    await once(host.stdout ?? host, "data");
    return lab;
  } catch (error) {
    await lab.close();
    throw error;
  }
}

function buildNetwork({ ip }: Lab, names: Readonly<Record<Side, string>>): void {
  for (const name of Object.values(names)) runIp("netns", "add", name);
  for (const side of ["cli", "srv", "net"] as const) {
    ip(side, "link", "set", "lo", "up");
    for (const key of ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"]) {
      runIp("netns", "exec", names[side], "sysctl", "-qw", `${key}=1`);
    }
    runIp("netns", "exec", names[side], "sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0");
  }
  ip("srv", "link", "add", "way0", "type", "veth", "peer", "name", "way0", "netns", names.cli);
  ip("srv", "link", "add", "way1", "type", "veth", "peer", "name", "way1", "netns", names.net);
  const addresses: readonly (readonly [Side, string, string])[] = [
    ["cli", "way0", "10.77.0.2/24"],
    ["cli", "way0", "fd00:77::2/64"],
    ["srv", "way0", `${LAB.server}/24`],
    ["srv", "way0", `${LAB.serverV6}/64`],
    ["srv", "way1", "203.0.113.1/24"],
    ["srv", "way1", "fd00:113::1/64"],
    ["net", "way1", "203.0.113.53/24"],
    ["net", "way1", "fd00:113::53/64"],
    ["net", "lo", `${LAB.internet}/32`],
    ["net", "lo", `${LAB.internetV6}/128`],
  ];
  for (const [side, device, address] of addresses) {
    const noDad = address.includes(":") ? ["nodad"] : [];
    ip(side, "address", "add", address, "dev", device, ...noDad);
  }
  for (const [side, device] of [
    ["cli", "way0"],
    ["srv", "way0"],
    ["srv", "way1"],
    ["net", "way1"],
  ] as const) {
    ip(side, "link", "set", device, "up");
  }
  ip("cli", "route", "add", "default", "via", LAB.server);
  ip("srv", "route", "add", "default", "via", "203.0.113.53");
  ip("srv", "-6", "route", "add", "default", "via", "fd00:113::53");
  ip("net", "route", "add", "default", "via", "203.0.113.1");
  ip("net", "-6", "route", "add", "default", "via", "fd00:113::1");
  ip("srv", "route", "add", "blackhole", `${LAB.blackHole}/32`);
  ip("srv", "route", "add", "unreachable", `${LAB.unreachable}/32`);
  ip("srv", "route", "add", "prohibit", `${LAB.prohibited}/32`);
  ip("srv", "route", "add", "blackhole", `${LAB.cutOff}/32`);
}

/** IPv6 addresses may be used once the kernel is sure that no other host has them (RFC 4862 section 5.4), link-local ones too. */
async function untilUsable(names: Readonly<Record<Side, string>>): Promise<void> {
  const isTentative = (name: string) => listed("-n", name, "-6", "address", "show", "tentative").join("").trim() !== "";
  for (let tries = 0; Object.values(names).some(isTentative) && tries < 200; tries++) await pause(50);
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}
