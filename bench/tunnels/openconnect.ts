/** OpenConnect: TLS, login in two forms, CONNECT and an answered packet in its frames, by users of one ocserv. */
import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import { type BenchLab, measureTunnel, SERVER_IP, type TunnelBench, type TunnelBenchOptions, until } from "./frame.ts";

const PORT = 8_443;
const INNER_IP = "10.68.0.1";
/** Each is a monitor with an account of its own. */
const MOST_CLIENTS = 200;
/** At this many a round is long enough to judge. */
const MOST_CHECKS = 1_000;

const BENCH: TunnelBench = {
  describe: ({ peers, inFlight }) =>
    `ocserv with a process for each connection, P-256 certificate; ${clientsOf(peers)} users, ${inFlight} in flight`,
  goalPerS: 150,
  async start(lab, { peers }) {
    // Its workers run as an unprivileged user.
    chmodSync(lab.folder, 0o755);
    const authority = makeAuthority();
    const server = makeCertificate({ commonName: "oc.bench", names: [SERVER_IP], issuer: authority });
    writeFileSync(join(lab.folder, "server.pem"), server.certPem);
    writeFileSync(join(lab.folder, "server.key"), server.keyPem, { mode: 0o600 });
    const users = Array.from({ length: clientsOf(peers) }, (_, index) => ({
      username: `user-${index}`,
      password: `password of ${index}`,
    }));
    writeUsers(join(lab.folder, "users"), users);
    await startServer(lab);
    const settings = users.map((user) => ({ ...user, host: SERVER_IP, port: PORT, ca: authority.certPem }));
    return { kind: "openconnect", settings, targets: [`icmp:${INNER_IP}`] };
  },
};

/** With hashes that cost nothing: what is measured is ours, and the server has the other core only. */
function writeUsers(path: string, users: readonly { readonly username: string; readonly password: string }[]): void {
  const input = users.map(({ password }) => password).join("\n");
  const hashes = execFileSync("openssl", ["passwd", "-1", "-stdin"], { input, encoding: "utf8" }).trim().split("\n");
  writeFileSync(path, users.map(({ username }, index) => `${username}:*:${hashes[index]}\n`).join(""), { mode: 0o600 });
}

export function run(options: TunnelBenchOptions): Promise<void> {
  return measureTunnel(BENCH, { ...options, checks: Math.min(options.checks, MOST_CHECKS) });
}

function clientsOf(peers: number): number {
  return Math.min(peers, MOST_CLIENTS);
}

/** No client is banned or delayed because many come from one address. */
async function startServer({ folder, client, spawn }: BenchLab): Promise<void> {
  const settings = [
    `auth = "plain[passwd=${folder}/users]"`,
    `tcp-port = ${PORT}`,
    "run-as-user = nobody",
    "run-as-group = daemon",
    `socket-file = ${folder}/socket`,
    `pid-file = ${folder}/pid`,
    `server-cert = ${folder}/server.pem`,
    `server-key = ${folder}/server.key`,
    "isolate-workers = false",
    "use-occtl = false",
    "max-clients = 0",
    "max-same-clients = 0",
    "rate-limit-ms = 0",
    "max-ban-score = 0",
    "cookie-timeout = 30",
    "keepalive = 300",
    "device = sonoc",
    "ipv4-network = 10.68.0.0",
    "ipv4-netmask = 255.255.0.0",
    "ping-leases = false",
    "compression = false",
  ];
  writeFileSync(join(folder, "ocserv.conf"), `${settings.join("\n")}\n`);
  spawn("ocserv", "-f", "-c", join(folder, "ocserv.conf"));
  await until(() => isOpen(client));
}

function isOpen(namespace: string): boolean {
  try {
    const knock = ["bash", "-c", `exec 3<>/dev/tcp/${SERVER_IP}/${PORT}`];
    execFileSync("ip", ["netns", "exec", namespace, ...knock], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
