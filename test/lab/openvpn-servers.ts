/** OpenVPN servers of the lab: one program for each way of protecting, logging in and ciphering that a profile can ask for. */
import { type ChildProcess, execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Authority, createAuthority } from "./certificates.ts";
import { LAB, type Lab } from "./network.ts";

export const LOGIN = { username: "alice", password: "pass w0rd with words" } as const;

/** Of each server. */
const LOG_LINES = 500;
const READY = "Initialization Sequence Completed";

export interface LabServer {
  readonly port: number;
  readonly proto: "udp" | "tcp";
  /** Lines of its own file beside those of all. */
  readonly lines: (folder: string) => readonly string[];
}

/** Of servers that want a login. */
const passwords = (folder: string): readonly string[] => [
  "script-security 2",
  `auth-user-pass-verify ${folder}/login.sh via-file`,
  "verify-client-cert none",
  "username-as-common-name",
];

export const SERVERS = {
  "tls-crypt": {
    port: 1194,
    proto: "udp",
    lines: (folder) => [
      `tls-crypt ${folder}/crypt.key`,
      "data-ciphers AES-256-GCM:AES-128-GCM:CHACHA20-POLY1305",
      ...passwords(folder),
      `client-connect ${folder}/connect.sh`,
      `push "dhcp-option DNS ${LAB.internet}"`,
      // So many options that they come in several parts.
      ...Array.from({ length: 120 }, (_, index) => `push "route 10.${index}.0.0 255.255.0.0"`),
    ],
  },
  "tls-auth tcp": {
    port: 1195,
    proto: "tcp",
    lines: (folder) => [
      `tls-auth ${folder}/auth.key 0`,
      "auth SHA256",
      "cipher AES-256-CBC",
      "data-ciphers AES-256-CBC",
      "comp-lzo no",
      "allow-compression asym",
      'push "comp-lzo no"',
    ],
  },
  "tls-crypt-v2": {
    port: 1196,
    proto: "udp",
    lines: (folder) => [`tls-crypt-v2 ${folder}/v2-server.key force-cookie`, "data-ciphers CHACHA20-POLY1305"],
  },
  plain: {
    port: 1197,
    proto: "udp",
    lines: () => ["fragment 1200", "mssfix", "tls-version-max 1.2", "data-ciphers AES-128-GCM"],
  },
  "tls-crypt tcp": {
    port: 1198,
    proto: "tcp",
    lines: (folder) => [`tls-crypt ${folder}/crypt.key`, ...passwords(folder)],
  },
  // Wants other keys as soon as something has gone through the tunnel.
  renewing: { port: 1199, proto: "udp", lines: () => ["reneg-bytes 1", "tls-version-min 1.3"] },
  "tls-auth": {
    port: 1200,
    proto: "udp",
    lines: (folder) => [
      `tls-auth ${folder}/auth.key`,
      "auth SHA512",
      "data-ciphers AES-128-CBC",
      "cipher AES-128-CBC",
      "compress stub-v2",
      'push "compress stub-v2"',
    ],
  },
} satisfies Record<string, LabServer>;

export type ServerName = keyof typeof SERVERS;

export interface LabKeys {
  readonly authority: Authority;
  readonly untrusted: Authority;
  /** The text of a file of the lab. */
  text(name: string): string;
  /** SHA-256 of the servers' certificate. */
  readonly fingerprint: string;
}

export function makeLabKeys(folder: string): LabKeys {
  const authority = createAuthority(folder, "lab");
  const untrusted = createAuthority(folder, "untrusted");
  authority.issue("vpn.test", `DNS:vpn.test,IP:${LAB.server}`, { rsaBits: 2_048 });
  authority.issue("client1", "DNS:client1", { purpose: "clientAuth" });
  authority.issue("client3", "DNS:client3", { purpose: "clientAuth", days: -1 });
  untrusted.issue("client2", "DNS:client2", { purpose: "clientAuth" });
  const make = (...args: readonly string[]) => execFileSync("openvpn", args, { stdio: ["ignore", "ignore", "pipe"] });
  const file = (name: string) => join(folder, name);
  for (const name of ["crypt.key", "auth.key", "other.key"]) make("--genkey", "secret", file(name));
  make("--genkey", "tls-crypt-v2-server", file("v2-server.key"));
  make("--tls-crypt-v2", file("v2-server.key"), "--genkey", "tls-crypt-v2-client", file("v2-client.key"));
  make("--genkey", "tls-crypt-v2-server", file("v2-other-server.key"));
  make("--tls-crypt-v2", file("v2-other-server.key"), "--genkey", "tls-crypt-v2-client", file("v2-other.key"));
  for (const [name, text] of Object.entries({ "login.sh": LOGIN_SCRIPT, "connect.sh": CONNECT_SCRIPT })) {
    writeFileSync(file(name), text);
    chmodSync(file(name), 0o755);
  }
  const fingerprint = execFileSync(
    "openssl",
    ["x509", "-in", file("vpn.test.crt"), "-noout", "-fingerprint", "-sha256"],
    {
      encoding: "utf8",
    },
  );
  revoke(folder);
  return {
    authority,
    untrusted,
    text: (name) => readFileSync(file(name), "utf8"),
    fingerprint: fingerprint.trim().replace(/^.*=/, ""),
  };
}

/** `crl.pem`, in which the servers' certificate is revoked. */
function revoke(folder: string): void {
  const config = `[ca]\ndefault_ca=lab\n[lab]\ndatabase=${folder}/index.txt\ncertificate=${folder}/lab.crt\nprivate_key=${folder}/lab.key\ndefault_md=sha256\ndefault_crl_days=30\n`;
  writeFileSync(join(folder, "crl.conf"), config);
  writeFileSync(join(folder, "index.txt"), "");
  const openssl = (...args: readonly string[]) =>
    execFileSync("openssl", ["ca", "-config", join(folder, "crl.conf"), ...args], {
      stdio: ["ignore", "ignore", "pipe"],
    });
  openssl("-gencrl", "-out", join(folder, "empty-crl.pem"));
  openssl("-revoke", join(folder, "vpn.test.crt"));
  openssl("-gencrl", "-out", join(folder, "crl.pem"));
}

/** Of 2.6: reasons and pending logins are told through files. */
const LOGIN_SCRIPT = `#!/bin/sh
user=$(sed -n 1p "$1"); pass=$(sed -n 2p "$1")
case $user in
  challenged) printf 'CRV1:R,E:c3RhdGU=:YWxpY2U=:Type the code of your app' >"$auth_failed_reason_file"; exit 1;;
  browser) printf '60\\nwebauth\\nWEB_AUTH::https://login.test/secret-of-this-session\\n' >"$auth_pending_file"; exit 2;;
  talkative) printf 'The name of %s is unknown here' "$pass" >"$auth_failed_reason_file"; exit 1;;
  waiting) exit 0;;
  later) printf 'TEMP[backoff 42]:too many' >"$auth_failed_reason_file"; exit 1;;
esac
[ "$user" = '${LOGIN.username}' ] && [ "$pass" = '${LOGIN.password}' ]
`;

/** Of 2.6: a deferred client gets no options until the file says otherwise. */
const CONNECT_SCRIPT = `#!/bin/sh
[ "$username" != waiting ] || echo 2 >"$client_connect_deferred_file"
`;

/**
 * Starts them all, and returns when each says that it is ready.
 * @returns what a server has said last
 */
export async function startOpenvpnServers(lab: Lab, folder: string): Promise<(name: ServerName) => string> {
  const logs = new Map<ServerName, string[]>();
  const names = Object.keys(SERVERS) as ServerName[];
  await Promise.all(
    names.map((name, index) => {
      const said: string[] = [];
      logs.set(name, said);
      return startOpenvpnServer((...command) => start(lab, command), folder, { name, index, said });
    }),
  );
  return (name) => logs.get(name)?.join("\n") ?? "";
}

export interface Started {
  readonly name: ServerName;
  readonly index: number;
  /** Its lines, the last few hundred. */
  readonly said: string[];
}

function start(lab: Lab, [program = "", ...args]: readonly string[]): ChildProcess {
  return lab.start("srv", program, args);
}

/** @param begin runs a command where the server is to be */
export function startOpenvpnServer(
  begin: (...command: readonly string[]) => ChildProcess,
  folder: string,
  { name, index, said }: Started,
): Promise<void> {
  const server: LabServer = SERVERS[name];
  const path = join(folder, `server-${index}.conf`);
  const common = [
    "dev-type tun",
    `dev ov${index}`,
    `port ${server.port}`,
    `proto ${server.proto === "udp" ? "udp6" : "tcp6-server"}`,
    "topology subnet",
    `server 10.67.${index}.0 255.255.255.0`,
    `server-ipv6 fd00:67:${index}::/64`,
    `ca ${folder}/lab.crt`,
    `cert ${folder}/vpn.test.crt`,
    `key ${folder}/vpn.test.key`,
    "dh none",
    // Its pings tell soon when they cannot be read.
    "keepalive 1 60",
    "duplicate-cn",
    "verb 3",
  ];
  writeFileSync(path, `${[...common, ...server.lines(folder)].join("\n")}\n`);
  const child = begin("openvpn", "--config", path);
  return new Promise((resolve, reject) => {
    if (child.stdout === null) throw new Error("openvpn has no stdout");
    createInterface(child.stdout).on("line", (line) => {
      if (said.push(line) > LOG_LINES) said.shift();
      if (line.includes(READY)) resolve();
    });
    child.once("exit", () => reject(new Error(`the server ${name} did not come up:\n${said.join("\n")}`)));
  });
}
