/** A network of a test's own: a namespace for servers, joined to us by a pair of links. Gone with the test; what a killed one left, with the next. */
import { execFileSync, spawn } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ip, isAlive, removeNamespace, sweepNamespaces } from "../namespaces.ts";

const PREFIX = "sonde-lab-";
/** A hundred and odd labs of different processes side by side. */
const SUBNETS = 200;
/** A command that hangs is a failure. */
const COMMAND_MS = 10_000;

export interface ServerNamespace {
  readonly name: string;
  /** The servers' side; the first of them is on the link, others are added with `addAddress`. */
  readonly serverIp: string;
  readonly clientIp: string;
  /** A command line that runs inside of it. */
  within(command: readonly string[]): readonly string[];
  run(command: string, ...args: readonly string[]): string;
  /** Starts a server inside of it, which ends with it. */
  spawn(command: string, ...args: readonly string[]): void;
  addAddress(ip: string, device: "lo" | "way"): void;
  /** Replaces all rules of its firewall: `udp dport 500 drop`, one a line. Without rules it lets everything in. */
  filter(rules: readonly string[]): void;
  close(): void;
}

/** @param kind told apart in the names of links, at most four letters. Needs root, iproute2, nftables. */
export function openNamespace(kind: string): ServerNamespace {
  sweepNamespaces(PREFIX);
  const name = `${PREFIX}${kind}-${process.pid}`;
  const device = `sl${kind}${process.pid}`.slice(0, 15);
  const subnet = `10.201.${process.pid % SUBNETS}`;
  const serverIp = `${subnet}.1`;
  const clientIp = `${subnet}.2`;
  ip("netns", "add", name);
  ip("link", "add", device, "type", "veth", "peer", "name", "way", "netns", name);
  ip("address", "add", `${clientIp}/24`, "dev", device);
  ip("link", "set", device, "up");
  for (const link of ["lo", "way"]) ip("-n", name, "link", "set", link, "up");
  ip("-n", name, "address", "add", `${serverIp}/24`, "dev", "way");
  const within = (command: readonly string[]): readonly string[] => ["ip", "netns", "exec", name, ...command];
  const run = (command: string, ...args: readonly string[]): string => {
    const [first = command, ...rest] = within([command, ...args]);
    return execFileSync(first, rest, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: COMMAND_MS });
  };
  return {
    name,
    serverIp,
    clientIp,
    within,
    run,
    spawn(command, ...args) {
      const [first = command, ...rest] = within([command, ...args]);
      spawn(first, rest, { stdio: "ignore" }).unref();
    },
    addAddress: (address, on) => ip("-n", name, "address", "add", `${address}/${prefixOf(address, on)}`, "dev", on),
    filter(rules) {
      run("nft", "flush", "ruleset");
      if (rules.length === 0) return;
      run("nft", `add table inet lab; add chain inet lab in { type filter hook input priority 0; }`);
      for (const rule of rules) run("nft", `add rule inet lab in ${rule}`);
    },
    close: () => removeNamespace(name),
  };
}

/** Removes temporary folders, named `<prefix><pid>-…`, of tests that are no more. */
export function sweepFolders(prefix: string): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length).split("-")[0]) : Number.NaN;
    if (Number.isInteger(pid) && !isAlive(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

function prefixOf(address: string, device: "lo" | "way"): number {
  if (address.includes(":")) return 128;
  return device === "lo" ? 32 : 24;
}
