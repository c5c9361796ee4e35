/** WireGuard: handshake and answered inner packet through wireguard-go with many peers. Needs Go to build it. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { KEY_BYTES } from "../../engine/protocols/wireguard/crypto.ts";
import { nodeCrypto } from "../../engine/protocols/wireguard/crypto-node.ts";
import {
  type BenchLab,
  ip,
  measureTunnel,
  SERVER_IP,
  type TunnelBench,
  type TunnelBenchOptions,
  until,
} from "./frame.ts";

/** The lab's module pins the server's version. */
const SERVER_MODULE = fileURLToPath(new URL("../../../test/lab/wireguard-go/", import.meta.url));
const PORT = 51_820;
const INNER_IP = "10.66.0.1";

const BENCH: TunnelBench = {
  describe: ({ peers, inFlight }) => `wireguard-go with ${peers} peers, ${inFlight} in flight`,
  goalPerS: 2_000,
  async start(lab, { peers }) {
    const { serverKey, clients } = await startServer(lab, peers);
    const settings = clients.map(({ key, address }) => ({
      config: [
        "[Interface]",
        `PrivateKey = ${key}`,
        `Address = ${address}/32`,
        "[Peer]",
        `PublicKey = ${serverKey}`,
        `Endpoint = ${SERVER_IP}:${PORT}`,
        "AllowedIPs = 0.0.0.0/0\n",
      ].join("\n"),
    }));
    return { kind: "wireguard", settings, targets: [`icmp:${INNER_IP}`] };
  },
};

export function run(options: TunnelBenchOptions): Promise<void> {
  return measureTunnel(BENCH, options);
}

/** @returns the private keys of its peers, number n at 10.66.(n >> 8).(n & 255) from 10.66.1.0 on */
async function startServer(lab: BenchLab, peers: number) {
  const program = join(lab.folder, "wireguard-go");
  const words = ["build", "-trimpath", "-o", program, "golang.zx2c4.com/wireguard"];
  await promisify(execFile)("go", words, { cwd: SERVER_MODULE });
  const device = `sonb${process.pid % 100_000}`;
  lab.spawn("env", "LOG_LEVEL=error", program, "-f", device);
  const socket = `/var/run/wireguard/${device}.sock`;
  await until(() => existsSync(socket));
  const server = makeKey();
  const clients = Array.from({ length: peers }, makeKey);
  const lines = clients.flatMap(({ publicHex }, index) => [
    `public_key=${publicHex}`,
    `allowed_ip=${addressOf(index)}/32`,
  ]);
  await configure(socket, `set=1\nprivate_key=${server.privateHex}\nlisten_port=${PORT}\n${lines.join("\n")}\n\n`);
  ip("-n", lab.server, "address", "add", `${INNER_IP}/16`, "dev", device);
  ip("-n", lab.server, "link", "set", device, "up", "mtu", "1420");
  return {
    serverKey: base64(server.publicHex),
    clients: clients.map(({ privateHex }, index) => ({ key: base64(privateHex), address: addressOf(index) })),
  };
}

function addressOf(index: number): string {
  return `10.66.${1 + (index >> 8)}.${index & 255}`;
}

function base64(hex: string): string {
  return Buffer.from(hex, "hex").toString("base64");
}

function makeKey(): { readonly privateHex: string; readonly publicHex: string } {
  const seed = randomBytes(KEY_BYTES);
  const publicKey = Buffer.from(nodeCrypto.privateKey(seed).publicBytes);
  return { privateHex: seed.toString("hex"), publicHex: publicKey.toString("hex") };
}

async function configure(path: string, lines: string): Promise<void> {
  const socket = connect(path);
  socket.setTimeout(10_000, () => socket.destroy(new Error("wireguard-go does not answer")));
  socket.setEncoding("utf8").write(lines);
  let answer = "";
  for await (const text of socket) {
    answer += text;
    if (answer.endsWith("\n\n")) break;
  }
  if (!answer.includes("errno=0")) throw new Error(`wireguard-go refused its settings: ${answer.trim()}`);
}
