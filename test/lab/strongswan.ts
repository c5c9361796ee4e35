/** strongSwan as a gateway in a namespace: ESP in userspace, so that any kernel will do; 1.1.1.1 is "the internet" behind it. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServerProcess, startServer, untilReady } from "../servers/server.ts";
import { type Authority, createAuthority } from "./certificates.ts";
import { BRANCH } from "./ikev2-gateway.ts";
import { openNamespace, type ServerNamespace, sweepFolders } from "./namespace.ts";

const FOLDER = "sonde-strongswan-";
const CHARON = "/usr/lib/ipsec/charon";
const PLUGINS =
  "random nonce x509 revocation constraints pubkey pkcs1 pkcs8 pem openssl kdf hmac gcm chapoly curve25519 gmp eap-identity eap-mschapv2 eap-md5 eap-tls kernel-libipsec kernel-netlink socket-default vici attr updown";

export const INTERNET = "1.1.1.1";
export const INTERNET_6 = "fd00:1::1";
/** An address of the gateway that its certificate does not have. */
const OTHER_HOST = 77;

const GATEWAY_NAMES = [
  "gw.test",
  "md5.test",
  "laptop.test",
  "cert.test",
  "certid.test",
  "pss.test",
  "tls.test",
  "tls-alone.test",
];

type ClientName = "laptop-rsa" | "laptop-old" | "laptop-pss" | "laptop-curve" | "laptop-foreign";

interface GatewayOptions {
  /** The newest that its logins by certificate have: strongSwan's own default; 5.9 makes another key of TLS 1.3 than RFC 9190 says. */
  readonly tlsVersion: string;
  /** After so many seconds it forgets who does not go on. */
  readonly halfOpen: number;
}

const OPTIONS: GatewayOptions = { tlsVersion: "1.2", halfOpen: 3 };

export interface Gateway {
  readonly namespace: ServerNamespace;
  readonly authority: Authority;
  readonly untrusted: Authority;
  /** PEM of a client's certificate and its key, which are not the gateway's to read. */
  client(name: ClientName): { readonly cert: string; readonly key: string };
  readonly otherIp: string;
  /** Replaces its connections. */
  load(connections: string, options?: Partial<GatewayOptions>): void;
  /** IKE SAs that it has, half-open ones included. */
  associations(): number;
  log(): string;
  close(): Promise<void>;
}

export async function openGateway(): Promise<Gateway> {
  sweepFolders(FOLDER);
  const folder = mkdtempSync(join(tmpdir(), `${FOLDER}${process.pid}-`));
  const namespace = openNamespace("ike");
  const otherIp = namespace.serverIp.replace(/\.1$/, `.${OTHER_HOST}`);
  namespace.addAddress(INTERNET, "lo");
  namespace.addAddress(INTERNET_6, "lo");
  namespace.addAddress(BRANCH.replace(/0$/, "1"), "lo");
  namespace.addAddress(otherIp, "way");
  const authority = createAuthority(folder, "lab");
  const untrusted = createAuthority(folder, "untrusted");
  writeCertificates(folder, authority, namespace.serverIp);
  const purpose = { purpose: "clientAuth" };
  authority.issue("laptop-rsa", "email:laptop@branch.test", { ...purpose, rsaBits: 2_048 });
  authority.issue("laptop-pss", "email:laptop@branch.test", { ...purpose, rsaBits: 2_048, isPss: true });
  authority.issue("laptop-curve", "email:laptop@branch.test", purpose);
  authority.issue("laptop-old", "email:laptop@branch.test", { ...purpose, days: -1 });
  untrusted.issue("laptop-foreign", "email:laptop@branch.test", purpose);
  let loaded = settings(folder, OPTIONS);
  writeFileSync(join(folder, "strongswan.conf"), loaded);
  const server = start(folder, namespace);
  const swanctl = (...args: readonly string[]): string => {
    const env = [`STRONGSWAN_CONF=${join(folder, "strongswan.conf")}`, `SWANCTL_DIR=${folder}`];
    return namespace.run("env", ...env, "swanctl", ...args, "--uri", `unix://${join(folder, "charon.vici")}`);
  };
  try {
    await untilReady(server, async () => {
      swanctl("--stats");
    });
  } catch (error) {
    namespace.close();
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    namespace,
    authority,
    untrusted,
    otherIp,
    client: (name) => ({
      cert: readFileSync(join(folder, `${name}.crt`), "utf8"),
      key: readFileSync(join(folder, `${name}.key`), "utf8"),
    }),
    load(connections, options = {}) {
      const wanted = settings(folder, { ...OPTIONS, ...options });
      if (wanted !== loaded) {
        loaded = wanted;
        writeFileSync(join(folder, "strongswan.conf"), loaded);
        swanctl("--reload-settings");
      }
      writeFileSync(join(folder, "swanctl.conf"), connections);
      swanctl("--load-all", "--noprompt", "--file", join(folder, "swanctl.conf"));
    },
    associations: () => (swanctl("--list-sas", "--raw").match(/list-sa event/g) ?? []).length,
    log: () => server.output(),
    async close() {
      await server.stop();
      namespace.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What swanctl reads from its folders. */
function writeCertificates(folder: string, authority: Authority, serverIp: string): void {
  for (const name of ["x509", "x509ca", "private"]) mkdirSync(join(folder, name));
  authority.issue("gateway", `${GATEWAY_NAMES.map((name) => `DNS:${name}`).join(",")},IP:${serverIp}`, {
    rsaBits: 2_048,
  });
  authority.issue("curve", "DNS:curve.test");
  authority.issue("client", "DNS:client.test", { purpose: "clientAuth" });
  copyFileSync(join(folder, "lab.crt"), join(folder, "x509ca", "lab.crt"));
  for (const name of ["gateway", "curve", "client"]) {
    copyFileSync(join(folder, `${name}.crt`), join(folder, "x509", `${name}.crt`));
    copyFileSync(join(folder, `${name}.key`), join(folder, "private", `${name}.key`));
  }
}

function start(folder: string, namespace: ServerNamespace): ServerProcess {
  // Its pid file has one fixed place: a /run of its own lets several run side by side.
  const script = `mount -t tmpfs none /run && exec env STRONGSWAN_CONF=${folder}/strongswan.conf ${CHARON} --use-syslog no`;
  const [program = "ip", ...args] = namespace.within(["sh", "-c", script]);
  return startServer(program, args, { cwd: folder });
}

/** Small fragments, so that every certificate comes in several; a cookie is asked for from the third half-open SA of one address on. */
function settings(folder: string, { tlsVersion, halfOpen }: GatewayOptions): string {
  return `charon {
  load = ${PLUGINS}
  fragment_size = 576
  cookie_threshold_ip = 3
  block_threshold = 8
  half_open_timeout = ${halfOpen}
  tls { version_max = ${tlsVersion} }
  filelog { stderr { default = 1 } }
  plugins { vici { socket = unix://${folder}/charon.vici } }
}
swanctl { load = pem pkcs1 x509 openssl }
`;
}
