/** IKEv2: keys, proof, Child SA and an answered packet in ESP at one strongSwan: by pre-shared key, and by users with passwords. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import {
  type BenchLab,
  ip,
  measureTunnel,
  SERVER_IP,
  type TunnelBench,
  type TunnelBenchOptions,
  until,
} from "./frame.ts";

const CHARON = "/usr/lib/ipsec/charon";
/** ESP in userspace, so that any kernel will do. */
const PLUGINS =
  "random nonce x509 constraints pubkey pkcs1 pkcs8 pem openssl kdf hmac gcm curve25519 eap-identity eap-mschapv2 kernel-libipsec kernel-netlink socket-default vici";
/** Behind the gateway. */
const INNER_IP = "10.70.0.1";
const NAMES = { psk: "psk.bench", eap: "eap.bench" } as const;
const SHARED_KEY = "the key of all of them";
/** Each is a monitor with an account of its own. */
const MOST_CLIENTS = 200;
/** At this many a round is long enough to judge. */
const MOST_CHECKS = 2_000;

interface User {
  readonly username: string;
  readonly password: string;
}

const words = {
  psk: "a pre-shared key",
  eap: "EAP-MSCHAPv2 and a P-256 certificate of the gateway",
} as const;

export async function run(options: TunnelBenchOptions): Promise<void> {
  for (const way of ["psk", "eap"] as const) {
    await measureTunnel(benchOf(way), { ...options, checks: Math.min(options.checks, MOST_CHECKS) });
  }
}

function benchOf(way: keyof typeof NAMES): TunnelBench {
  return {
    describe: ({ peers, inFlight }) =>
      `strongSwan with ESP in userspace, ${words[way]}; ${clientsOf(peers)} clients, ${inFlight} in flight`,
    goalPerS: 300,
    async start(lab, { peers }) {
      const authority = makeAuthority();
      const users = Array.from({ length: clientsOf(peers) }, (_, index) => ({
        username: `user-${index}@bench`,
        password: `password of ${index}`,
      }));
      writeFolder(lab.folder, authority, users);
      await startServer(lab);
      const shared = { host: SERVER_IP, remote_id: NAMES[way], ca: authority.certPem };
      const settings = users.map((user) => (way === "eap" ? { ...shared, ...user } : { ...shared, psk: SHARED_KEY }));
      return { kind: "ikev2", settings, targets: [`icmp:${INNER_IP}`] };
    },
  };
}

function clientsOf(peers: number): number {
  return Math.min(peers, MOST_CLIENTS);
}

function writeFolder(folder: string, authority: ReturnType<typeof makeAuthority>, users: readonly User[]): void {
  for (const name of ["x509", "x509ca", "private"]) mkdirSync(join(folder, name));
  const server = makeCertificate({ commonName: NAMES.eap, names: [NAMES.eap], issuer: authority });
  writeFileSync(join(folder, "x509", "gateway.pem"), server.certPem);
  writeFileSync(join(folder, "private", "gateway.pem"), server.keyPem, { mode: 0o600 });
  writeFileSync(join(folder, "strongswan.conf"), charonSettings(folder));
  writeFileSync(join(folder, "swanctl.conf"), connections(users));
}

async function startServer({ folder, server, spawn }: BenchLab): Promise<void> {
  const environment = [`STRONGSWAN_CONF=${join(folder, "strongswan.conf")}`, `SWANCTL_DIR=${folder}`];
  // Its pid file has one fixed place: a /run of its own lets several run side by side.
  spawn("sh", "-c", `mount -t tmpfs none /run && exec env ${environment.join(" ")} ${CHARON} --use-syslog no`);
  const swanctl = (...rest: readonly string[]): void => {
    const uri = ["--uri", `unix://${join(folder, "charon.vici")}`];
    execFileSync("env", [...environment, "swanctl", ...rest, ...uri], { stdio: ["ignore", "ignore", "ignore"] });
  };
  await until(() => succeeds(() => swanctl("--stats")));
  swanctl("--load-all", "--noprompt", "--file", join(folder, "swanctl.conf"));
  ip("-n", server, "address", "add", `${INNER_IP}/32`, "dev", "lo");
}

function succeeds(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}

/** No client is asked for cookies or delayed because all come from one address. */
function charonSettings(folder: string): string {
  return `charon {
  load = ${PLUGINS}
  threads = 16
  dos_protection = no
  ikesa_table_size = 4096
  ikesa_table_segments = 16
  filelog { stderr { default = 0 } }
  plugins { vici { socket = unix://${folder}/charon.vici } }
}
swanctl { load = pem pkcs1 x509 openssl }
`;
}

function connections(users: readonly User[]): string {
  const connection = (name: string, sides: string) => `${name} {
    version = 2
    proposals = aes256gcm16-prfsha256-x25519,aes256gcm16-prfsha256-ecp256
    send_cert = ifasked
    unique = never
    pools = bench
    ${sides}
    children { net {
      local_ts = 0.0.0.0/0
      esp_proposals = aes256gcm16
      rekey_time = 0
    } }
  }`;
  const secrets = users.map(
    ({ username, password }, index) => `eap-${index} { id = ${username}\n secret = "${password}" }`,
  );
  return `connections {
  ${connection("psk", `local { auth = psk\n id = ${NAMES.psk} }\n remote { auth = psk }`)}
  ${connection("eap", `local { auth = pubkey\n certs = gateway.pem\n id = ${NAMES.eap} }\n remote { auth = eap-mschapv2\n eap_id = %any }`)}
}
pools { bench { addrs = 10.69.0.0/16 } }
secrets {
  ike-psk { secret = "${SHARED_KEY}" }
  ${secrets.join("\n  ")}
  private-gateway { file = gateway.pem }
}
`;
}
