/** A tunnel of each kind that needs nothing installed: a server on a free port of loopback, and the settings of a monitor that watches it. */
import { randomBytes } from "node:crypto";
import { portableCrypto } from "../../engine/protocols/wireguard/crypto-portable.ts";
import { makeAuthority, makeCertificate } from "../certificates.ts";
import { openIkev2Server } from "./ikev2-server.ts";
import { openOpenconnectServer } from "./openconnect-server.ts";
import { openOpenvpnServer } from "./openvpn-server.ts";
import { openWireguardServer, type ServerOptions } from "./wireguard-server.ts";

const LOOPBACK = "127.0.0.1";
const KEY_BYTES = 32;
/** What the disguise of AmneziaWG puts before each message, bytes (S1 to S4). */
const PADDING_BYTES = 16;
/** Message types of the disguise (H1 to H4), one of each range. */
const DISGUISE = { responseHeader: 250, transportHeader: 450 } as const;

export interface DemoTunnel {
  readonly port: number;
  /** Of POST /servers. */
  readonly body: Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

/** One of each kind; ends those that are open when one cannot be opened. */
export async function startTunnels(): Promise<readonly DemoTunnel[]> {
  const tunnels: DemoTunnel[] = [];
  try {
    for (const start of [wireguard, amneziawg, openvpn, openconnect, ikev2]) tunnels.push(await start());
  } catch (error) {
    await Promise.all(tunnels.map((tunnel) => tunnel.close()));
    throw error;
  }
  return tunnels;
}

async function wireguard(): Promise<DemoTunnel> {
  const { lines, server } = await wireguardWith({}, "");
  return { ...server, body: { protocol: "wireguard", name: "Office", config: lines } };
}

async function amneziawg(): Promise<DemoTunnel> {
  const padding = new Uint8Array(PADDING_BYTES);
  const disguise = [
    ...["S1", "S2", "S3", "S4"].map((name) => `${name} = ${PADDING_BYTES}`),
    "H1 = 100-199",
    "H2 = 200-299",
    "H3 = 300-399",
    "H4 = 400-499",
    "Jc = 3",
    "Jmin = 5",
    "Jmax = 9",
  ].join("\n");
  const options = {
    ...DISGUISE,
    strip: (datagram: Uint8Array) => (datagram.length > PADDING_BYTES ? datagram.subarray(PADDING_BYTES) : undefined),
    dress: (message: Uint8Array) => Uint8Array.from([...padding, ...message]),
  };
  const { lines, server } = await wireguardWith(options, `${disguise}\n`);
  return { ...server, body: { protocol: "amneziawg", name: "Phone", config: lines } };
}

/** @param more lines of the client's section */
async function wireguardWith(options: Partial<ServerOptions>, more: string) {
  const privateKey = randomBytes(KEY_BYTES);
  const publicKey = Buffer.from(portableCrypto.privateKey(privateKey).publicBytes);
  const server = await openWireguardServer({
    privateKey: randomBytes(KEY_BYTES),
    ephemeralSeed: randomBytes(KEY_BYTES),
    clients: [{ publicKey }],
    ...options,
  });
  const lines = [
    `[Interface]\nPrivateKey = ${privateKey.toString("base64")}`,
    `Address = 10.66.0.2/32\nDNS = 10.66.0.1\n${more}[Peer]`,
    `PublicKey = ${Buffer.from(server.publicKey).toString("base64")}`,
    `Endpoint = ${LOOPBACK}:${server.port}\nAllowedIPs = 0.0.0.0/0\n`,
  ].join("\n");
  return { lines, server };
}

async function openvpn(): Promise<DemoTunnel> {
  const authority = makeAuthority("Sonde demo VPN authority");
  const { certPem, keyPem } = makeCertificate({ commonName: "vpn.demo", names: ["vpn.demo"], issuer: authority });
  const server = await openOpenvpnServer({ tls: { cert: certPem, key: keyPem } });
  const config = `client\nremote ${LOOPBACK} ${server.port}\n<ca>\n${authority.certPem}</ca>\n`;
  return { ...server, body: { protocol: "openvpn", name: "Data centre", config } };
}

async function openconnect(): Promise<DemoTunnel> {
  const authority = makeAuthority("Sonde demo VPN authority");
  const certificate = makeCertificate({ commonName: "vpn.demo", names: [LOOPBACK], issuer: authority });
  const server = await openOpenconnectServer({ certificate });
  const login = { username: "ada", password: "demo", ca: authority.certPem };
  return {
    ...server,
    body: { protocol: "openconnect", name: "Campus", host: LOOPBACK, port: server.port, ...login },
  };
}

async function ikev2(): Promise<DemoTunnel> {
  const psk = randomBytes(KEY_BYTES).toString("hex");
  const server = await openIkev2Server({ sharedKey: psk });
  return { ...server, body: { protocol: "ikev2", name: "Branch", host: LOOPBACK, port: server.port, psk } };
}
