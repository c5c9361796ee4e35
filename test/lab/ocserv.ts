/** ocserv in a namespace: several servers that ask for different logins; 1.1.1.1 is "the internet" behind them. */
import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pinsOf } from "../../engine/protocols/openconnect/pin.ts";
import { type ServerProcess, startServer, untilReady } from "../servers/server.ts";
import { type Authority, createAuthority } from "./certificates.ts";
import { openNamespace, type ServerNamespace } from "./namespace.ts";

export const INTERNET = "1.1.1.1";
export const LOGIN = { username: "alice", password: "pass <w0rd> & of alice" } as const;
/** Has no group. */
export const OTHER_LOGIN = { username: "bob", password: "the password of bob" } as const;
/** An address of the server that its certificate does not have. */
const OTHER_HOST = 77;

/** Ports of the servers: by what they ask for. */
export const PORT = {
  password: 8_443,
  groups: 8_444,
  otp: 8_445,
  certificate: 8_446,
  split: 8_447,
  full: 8_448,
} as const;

export interface VpnServer {
  readonly namespace: ServerNamespace;
  readonly authority: Authority;
  readonly untrusted: Authority;
  readonly otherIp: string;
  /** Of the key that it has. */
  readonly pin: string;
  /** Sessions that it has: one device each. */
  sessions(): number;
  log(): string;
  close(): Promise<void>;
}

export async function openVpnServer(): Promise<VpnServer> {
  const folder = mkdtempSync(join(tmpdir(), "sonde-ocserv-"));
  // Its workers run as an unprivileged user.
  chmodSync(folder, 0o755);
  const namespace = openNamespace("oc");
  const otherIp = namespace.serverIp.replace(/\.1$/, `.${OTHER_HOST}`);
  namespace.addAddress(INTERNET, "lo");
  namespace.addAddress(otherIp, "way");
  const authority = createAuthority(folder, "lab");
  const untrusted = createAuthority(folder, "untrusted");
  authority.issue("server", `DNS:oc.test,IP:${namespace.serverIp}`, { rsaBits: 2_048 });
  writeUsers(folder);
  const servers: ServerProcess[] = [];
  const close = async (): Promise<void> => {
    for (const server of servers) await server.stop();
    namespace.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (const [index, [name, port]] of Object.entries(PORT).entries()) {
      const file = join(folder, `${name}.conf`);
      writeFileSync(file, settings(folder, name, port, index));
      const [program = "ip", ...args] = namespace.within(["ocserv", "-f", "-d", "1", "-c", file]);
      const server = startServer(program, args, { cwd: folder });
      servers.push(server);
      await untilReady(server, () => connected(namespace.serverIp, port));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    namespace,
    authority,
    untrusted,
    otherIp,
    pin: pinsOf(new X509Certificate(readFileSync(join(folder, "server.crt"))))[0] ?? "",
    sessions: () => namespace.run("ip", "-o", "link").match(/\blab\w+:/g)?.length ?? 0,
    log: () => servers.map((server) => server.output()).join("\n"),
    close,
  };
}

function writeUsers(folder: string): void {
  const add = (
    file: string,
    { username, password }: { username: string; password: string },
    groups: string[],
  ): void => {
    const args = ["-c", join(folder, file), ...groups.flatMap((group) => ["-g", group]), username];
    execFileSync("ocpasswd", args, { input: `${password}\n${password}\n`, stdio: ["pipe", "ignore", "pipe"] });
  };
  add("users", LOGIN, ["staff"]);
  add("users", OTHER_LOGIN, []);
  // oath-toolkit's file of users: a code from a clock for alice.
  writeFileSync(join(folder, "codes"), `HOTP/T30 ${LOGIN.username} - ${"00".repeat(16)}\n`);
}

const LOGINS: Readonly<Record<string, (folder: string) => string>> = {
  password: plain,
  groups: (folder) => `${plain(folder)}
select-group = guests[Guests]
select-group = staff[Staff & friends]
auto-select-group = false`,
  otp: (folder) => `auth = "plain[passwd=${folder}/users,otp=${folder}/codes]"`,
  certificate: (folder) => `auth = "certificate"
ca-cert = ${folder}/lab.crt
cert-user-oid = 2.5.4.3`,
  split: (folder) => `${plain(folder)}
route = 1.1.1.0/24`,
  full: plain,
};

function plain(folder: string): string {
  return `auth = "plain[passwd=${folder}/users]"`;
}

/** One network each; that of the last is too small for any client. */
function settings(folder: string, name: string, port: number, index: number): string {
  return `${LOGINS[name]?.(folder) ?? plain(folder)}
tcp-port = ${port}
run-as-user = nobody
run-as-group = daemon
socket-file = ${folder}/${name}.sock
pid-file = ${folder}/${name}.pid
server-cert = ${folder}/server.crt
server-key = ${folder}/server.key
isolate-workers = false
use-occtl = false
max-clients = 16
max-same-clients = 4
rate-limit-ms = 0
cookie-timeout = 300
dpd = 90
keepalive = 300
rekey-method = ssl
device = lab${index}
ipv4-network = 10.68.${index}.0
ipv4-netmask = ${name === "full" ? "255.255.255.254" : "255.255.255.0"}
${name === "password" ? "ipv6-network = fd00:68::/64" : ""}
dns = ${INTERNET}
ping-leases = false
compression = false
`;
}

function connected(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host);
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.destroy();
      resolve();
    });
  });
}
