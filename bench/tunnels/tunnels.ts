/**
 * WireGuard against one real server process (wireguard-go) that holds many peers, in two network namespaces of our own: handshake and
 * answered inner packet per second on one thread of ours. Needs root, ip and Go.
 */
import { execFile, execFileSync, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { LoadOrder, LoadReport } from "./load.ts";

/** The lab's module pins the server's version. */
const SERVER_MODULE = fileURLToPath(new URL("../../../test/lab/wireguard-go/", import.meta.url));
const LOAD = fileURLToPath(new URL("./load.js", import.meta.url));
const PORT = 51_820;

export interface TunnelBenchOptions {
  readonly peers: number;
  readonly checks: number;
  readonly inFlight: number;
  readonly rounds: number;
}

export async function runTunnels({ peers, checks, inFlight, rounds }: TunnelBenchOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sonde-bench-"));
  const names = { client: `sonde-bc-${process.pid}`, server: `sonde-bs-${process.pid}` };
  const closers: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const closeAll = (): void => {
    for (const close of closers.splice(0).reverse()) close();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      closeAll();
      process.exit(1);
    });
  }
  try {
    const program = join(folder, "wireguard-go");
    await promisify(execFile)("go", ["build", "-trimpath", "-o", program, "golang.zx2c4.com/wireguard"], {
      cwd: SERVER_MODULE,
    });
    buildNetwork(names, closers);
    const keys = await startServer(program, names.server, peers, closers);
    const order: LoadOrder = {
      ...keys,
      endpoint: `10.77.0.1:${PORT}`,
      target: "icmp:10.66.0.1",
      checks,
      inFlight,
      rounds,
    };
    console.log(
      `wireguard-go with ${peers} peers; ${checks} checks, ${inFlight} in flight, one thread of ours, two namespaces`,
    );
    await load(names.client, order, closers);
  } finally {
    closeAll();
  }
}

function print({ name, perS, perCpuS, failed, latencyP50Ms, latencyP99Ms, rssMb }: LoadReport): void {
  const failures = failed === 0 ? "none failed" : `${failed} FAILED`;
  console.log(
    `${name.padEnd(34)} ${perS.toFixed(0)}/s, ${perCpuS.toFixed(0)} per CPU second, latency p50 ${latencyP50Ms.toFixed(2)} ms, p99 ${latencyP99Ms.toFixed(2)} ms, ${rssMb} MB, ${failures}`,
  );
}

function buildNetwork(names: { readonly client: string; readonly server: string }, closers: (() => unknown)[]): void {
  for (const name of Object.values(names)) {
    ip("netns", "add", name);
    closers.push(() => ip("netns", "del", name));
    ip("-n", name, "link", "set", "lo", "up");
  }
  ip("-n", names.server, "link", "add", "way", "type", "veth", "peer", "name", "way", "netns", names.client);
  for (const [name, address] of [
    [names.server, "10.77.0.1/24"],
    [names.client, "10.77.0.2/24"],
  ] as const) {
    ip("-n", name, "address", "add", address, "dev", "way");
    ip("-n", name, "link", "set", "way", "up");
  }
}

/** @returns the private keys of its peers, number n at 10.66.(n >> 8).(n & 255) from 10.66.1.0 on */
async function startServer(program: string, namespace: string, peers: number, closers: (() => unknown)[]) {
  const device = `sonb${process.pid % 100_000}`;
  const child = spawn(
    "setpriv",
    ["--pdeathsig", "KILL", "--", "ip", "netns", "exec", namespace, "env", "LOG_LEVEL=error", program, "-f", device],
    {
      stdio: "ignore",
    },
  );
  closers.push(() => child.kill("SIGKILL"));
  const socket = `/var/run/wireguard/${device}.sock`;
  for (let tries = 0; !existsSync(socket) && tries < 600; tries++) await pause(50);
  const server = makeKey();
  const clients = Array.from({ length: peers }, makeKey);
  const lines = clients.flatMap(({ publicHex }, index) => [
    `public_key=${publicHex}`,
    `allowed_ip=${addressOf(index)}/32`,
  ]);
  await configure(socket, `set=1\nprivate_key=${server.privateHex}\nlisten_port=${PORT}\n${lines.join("\n")}\n\n`);
  ip("-n", namespace, "address", "add", "10.66.0.1/16", "dev", device);
  ip("-n", namespace, "link", "set", device, "up", "mtu", "1420");
  return {
    serverKey: Buffer.from(server.publicHex, "hex").toString("base64"),
    clients: clients.map(({ privateHex }, index) => ({
      key: Buffer.from(privateHex, "hex").toString("base64"),
      address: addressOf(index),
    })),
  };
}

function addressOf(index: number): string {
  return `10.66.${1 + (index >> 8)}.${index & 255}`;
}

function makeKey(): { readonly privateHex: string; readonly publicHex: string } {
  const { d = "", x = "" } = generateKeyPairSync("x25519").privateKey.export({ format: "jwk" });
  return {
    privateHex: Buffer.from(d, "base64url").toString("hex"),
    publicHex: Buffer.from(x, "base64url").toString("hex"),
  };
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

async function load(namespace: string, order: LoadOrder, closers: (() => unknown)[]): Promise<void> {
  const child = spawn("ip", ["netns", "exec", namespace, process.execPath, ...process.execArgv, LOAD], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(JSON.stringify(order));
  closers.push(() => child.kill("SIGKILL"));
  createInterface(child.stdout).on("line", (line) => print(JSON.parse(line)));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`the load ended with ${code}`);
}

function ip(...words: string[]): void {
  execFileSync("ip", words, { stdio: ["ignore", "ignore", "pipe"] });
}
