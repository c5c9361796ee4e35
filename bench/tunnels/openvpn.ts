/** OpenVPN: TLS, keys, options and an answered inner packet at one openvpn process, by clients with certificates of their own. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import { type BenchLab, measureTunnel, SERVER_IP, type TunnelBench, type TunnelBenchOptions, until } from "./frame.ts";

const INNER_IP = "10.67.0.1";
const READY = "Initialization Sequence Completed";
/** Each is a monitor with a profile of its own. */
const MOST_CLIENTS = 200;
/** At this many a round is long enough to judge. */
const MOST_CHECKS = 2_000;

const BENCH: TunnelBench = {
  describe: ({ peers, inFlight }) =>
    `openvpn over UDP with tls-crypt, AES-256-GCM, P-256 certificates of both sides; ${clientsOf(peers)} clients, ${inFlight} in flight`,
  goalPerS: 150,
  async start(lab, { peers }) {
    const authority = makeAuthority();
    const server = makeCertificate({ commonName: "vpn.bench", names: ["vpn.bench"], issuer: authority });
    const file = (name: string) => join(lab.folder, name);
    execFileSync("openvpn", ["--genkey", "secret", file("crypt.key")], { stdio: "ignore" });
    writeFileSync(file("ca.pem"), authority.certPem);
    writeFileSync(file("server.pem"), server.certPem);
    writeFileSync(file("server.key"), server.keyPem, { mode: 0o600 });
    await startServer(lab);
    const shared = ["client", `remote ${SERVER_IP}`, "data-ciphers AES-256-GCM", "verify-x509-name vpn.bench name"];
    const settings = Array.from({ length: clientsOf(peers) }, (_, index) => {
      const own = makeCertificate({ commonName: `client-${index}`, issuer: authority });
      return {
        config: [
          ...shared,
          inline("ca", authority.certPem),
          inline("cert", own.certPem),
          inline("key", own.keyPem),
          inline("tls-crypt", readFileSync(file("crypt.key"), "utf8")),
          "",
        ].join("\n"),
      };
    });
    return { kind: "openvpn", settings, targets: [`icmp:${INNER_IP}`] };
  },
};

export function run(options: TunnelBenchOptions): Promise<void> {
  return measureTunnel(BENCH, { ...options, checks: Math.min(options.checks, MOST_CHECKS) });
}

function clientsOf(peers: number): number {
  return Math.min(peers, MOST_CLIENTS);
}

function inline(tag: string, text: string): string {
  return `<${tag}>\n${text.trim()}\n</${tag}>`;
}

function startServer(lab: BenchLab): Promise<void> {
  const log = join(lab.folder, "openvpn.log");
  const settings = [
    "dev-type tun",
    "dev sonde-ov",
    "proto udp",
    "topology subnet",
    "server 10.67.0.0 255.255.0.0",
    "dh none",
    "keepalive 10 60",
    // Sessions of clients that are gone stay for 5 s.
    "max-clients 10000",
    "duplicate-cn",
    "connect-freq-initial 100000 1",
    ...["ca ca.pem", "cert server.pem", "key server.key", "tls-crypt crypt.key"],
    "data-ciphers AES-256-GCM",
    "verb 1",
    `log ${log}`,
  ];
  writeFileSync(join(lab.folder, "openvpn.conf"), `${settings.join("\n")}\n`);
  lab.spawn("openvpn", "--cd", lab.folder, "--config", "openvpn.conf");
  return until(() => existsSync(log) && readFileSync(log, "utf8").includes(READY));
}
