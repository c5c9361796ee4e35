/**
 * What some suites need of the machine: root, a Debian package, a kernel setting. Elsewhere such a suite is skipped with a line that
 * says which and why; where CI=true promises that everything is there, it fails instead.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import { ENGINES, findCore } from "../engine/cores/program.ts";
import { missingPythonTools } from "./contract/python-tools.ts";
import { missingTypescriptTools } from "./contract/typescript-tools.ts";
import { CORE_PLACES } from "./lab/cores.ts";
import { findProgram, isExecutable } from "./servers/server.ts";

/** The browser of test/web. */
export const CHROMIUM = process.env.SONDE_CHROMIUM ?? "/usr/bin/chromium";

/** @returns why it is not there, in words that say what to do; undefined when it is */
type Check = () => string | undefined;

const CHECKS = {
  root: () => (isRoot() ? undefined : "this needs root"),
  "network namespaces": () =>
    isRoot() && program("ip", "iproute2") === undefined
      ? tried("ip", ["netns", "list"], "this machine makes no network namespaces")
      : "network namespaces need root and ip (Debian: iproute2)",
  "redis-server": () => program("redis-server", "redis-server"),
  "system ping": () => program("ping", "iputils-ping"),
  setpriv: () => program("setpriv", "util-linux"),
  unshare: () => program("unshare", "util-linux"),
  systemd: () => (isExecutable("/lib/systemd/systemd") ? undefined : "no systemd (Debian: systemd)"),
  strongSwan: () =>
    isExecutable("/usr/lib/ipsec/charon")
      ? (program("swanctl", "strongswan-swanctl") ?? program("openssl", "openssl") ?? missingTun())
      : "no charon (Debian: strongswan-charon libcharon-extra-plugins libcharon-extauth-plugins libstrongswan-extra-plugins)",
  openvpn: () => program("openvpn", "openvpn") ?? program("openssl", "openssl") ?? missingTun(),
  ocserv: () => program("ocserv", "ocserv") ?? program("openssl", "openssl") ?? missingTun(),
  openssl: () => program("openssl", "openssl"),
  Exim: () => (isRoot() ? program("exim4", "exim4-daemon-light") : "exim4 with a configuration of its own needs root"),
  nft: () => program("nft", "nftables"),
  go: () => program("go", "golang-go"),
  // `npm test` builds them where Go is.
  "proxy cores": () =>
    ENGINES.every((engine) => findCore(engine, CORE_PLACES) !== undefined)
      ? undefined
      : "no xray or sing-box (npx sonde cores install)",
  npm: () => program("npm", "npm"),
  "commands of the documents": () =>
    program("curl", "curl") ?? program("python3", "python3") ?? program("openssl", "openssl") ?? program("npm", "npm"),
  "clients of the stores": () => program("redis-cli", "redis-tools") ?? program("pg_dump", "postgresql-client"),
  chromium: () =>
    isExecutable(CHROMIUM) ? undefined : `no ${CHROMIUM} (Debian: chromium; elsewhere SONDE_CHROMIUM names it)`,
  compiler: () => program("g++", "g++") ?? program("make", "make") ?? program("python3", "python3"),
  "python tools": missingPythonTools,
  "typescript tools": missingTypescriptTools,
  "tmpfs mount": () => (isRoot() ? triedMount() : "mounting a small tmpfs needs root"),
  "unprivileged ping": () =>
    isInPingGroup() ? undefined : "net.ipv4.ping_group_range is closed to this user's group (as root: sysctl)",
} satisfies Record<string, Check>;

export type Prerequisite = keyof typeof CHECKS;

const answers = new Map<Prerequisite, string | undefined>();

/** @returns why it is not there; undefined when it is. Asked once. */
export function missing(prerequisite: Prerequisite): string | undefined {
  if (!answers.has(prerequisite)) answers.set(prerequisite, CHECKS[prerequisite]());
  return answers.get(prerequisite);
}

/** Runs the suite, or says in its place what is missing; with CI=true that is a failure. */
export function describeWith(prerequisites: readonly Prerequisite[], name: string, suite: () => void): void {
  const reason = prerequisites.map(missing).find((why) => why !== undefined);
  if (reason === undefined) describe(name, suite);
  else insteadOf(name, reason);
}

/** Stands in the place of a suite that cannot run here. */
export function insteadOf(name: string, reason: string): void {
  if (process.env.CI === "true") {
    it(`${name} needs what is missing`, () => {
      throw new Error(`${name}: ${reason}; with CI=true nothing may be skipped`);
    });
    return;
  }
  console.warn(`skipped: ${name}: ${reason}`);
  describe.skip(`${name} (skipped: ${reason})`, () => {
    it("is not run", () => {});
  });
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function missingTun(): string | undefined {
  return existsSync("/dev/net/tun") ? undefined : "this machine has no /dev/net/tun";
}

function program(name: string, debianPackage: string): string | undefined {
  return findProgram(name) === undefined ? `no ${name} on the PATH (Debian: ${debianPackage})` : undefined;
}

function tried(command: string, args: readonly string[], otherwise: string): string | undefined {
  try {
    execFileSync(command, args, { stdio: ["ignore", "ignore", "pipe"] });
    return undefined;
  } catch (error) {
    return `${otherwise} (${String(error).split("\n")[0]})`;
  }
}

function triedMount(): string | undefined {
  const dir = mkdtempSync(join(tmpdir(), "sonde-tmpfs-"));
  try {
    const refused = tried("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", dir], "this machine mounts no tmpfs");
    if (refused === undefined) execFileSync("umount", [dir]);
    return refused;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The kernel's range of groups that may open ICMP datagram sockets; `1 0` is none (Linux: ip-sysctl). */
function isInPingGroup(): boolean {
  try {
    const [first = 1, last = 0] = readFileSync("/proc/sys/net/ipv4/ping_group_range", "utf8")
      .trim()
      .split(/\s+/)
      .map(Number);
    const groups = [process.getegid?.() ?? -1, ...(process.getgroups?.() ?? [])];
    return groups.some((group) => group >= first && group <= last);
  } catch {
    return false;
  }
}
