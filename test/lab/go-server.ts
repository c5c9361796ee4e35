/** WireGuard servers in Go, each of a pinned version in a module of ours beside this file, configured over their own control socket. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { generateX25519 } from "../../testkit/x25519.ts";
import type { Lab } from "./network.ts";

/** Folder beside this file, and what is built in it. */
export const GO_SERVERS = {
  "wireguard-go": { module: "golang.zx2c4.com/wireguard", sockets: "/var/run/wireguard" },
  "amneziawg-go-1.0": { module: "github.com/amnezia-vpn/amneziawg-go", sockets: "/var/run/amneziawg" },
  "amneziawg-go-1.5": { module: "github.com/amnezia-vpn/amneziawg-go", sockets: "/var/run/amneziawg" },
  "amneziawg-go-2.0": { module: "github.com/amnezia-vpn/amneziawg-go", sockets: "/var/run/amneziawg" },
} as const;

export type GoServer = keyof typeof GO_SERVERS;

/** Both forms: files have base64, the control socket hex. */
export interface Key {
  readonly base64: string;
  readonly hex: string;
}

export interface KeyPair {
  readonly privateKey: Key;
  readonly publicKey: Key;
}

export function makeKeys(): KeyPair {
  const { privateKey, publicKey } = generateX25519();
  return { privateKey: keyOf(privateKey), publicKey: keyOf(publicKey) };
}

export function keyOf(bytes: Buffer): Key {
  return { base64: bytes.toString("base64"), hex: bytes.toString("hex") };
}

/** @returns the program's path; Go's own cache makes it quick the second time */
export async function buildGo(server: GoServer, folder: string): Promise<string> {
  const program = join(folder, server);
  const cwd = fileURLToPath(new URL(`./${server}/`, import.meta.url));
  await promisify(execFile)("go", ["build", "-trimpath", "-mod=readonly", "-o", program, GO_SERVERS[server].module], {
    cwd,
  });
  return program;
}

export interface GoServerOptions {
  readonly server: GoServer;
  readonly program: string;
  readonly device: string;
  readonly port: number;
  readonly keys: KeyPair;
  readonly clients: readonly {
    readonly publicKey: Key;
    readonly presharedKey?: Key;
    readonly allowed: readonly string[];
  }[];
  /** In the tunnel, with prefix lengths. */
  readonly addresses: readonly string[];
  /** Lines of the control protocol for AmneziaWG. */
  readonly disguise?: readonly string[];
}

/** Ready when this returns: the socket is bound and the device is up. */
export async function startGoServer(lab: Lab, options: GoServerOptions): Promise<void> {
  const { server, device } = options;
  lab.start("srv", options.program, ["-f", device], { env: { LOG_LEVEL: "error" } });
  const socket = join(GO_SERVERS[server].sockets, `${device}.sock`);
  await until(`${server} to listen`, () => existsSync(socket));
  const peers = options.clients.flatMap(({ publicKey, presharedKey, allowed }) => [
    `public_key=${publicKey.hex}`,
    ...(presharedKey === undefined ? [] : [`preshared_key=${presharedKey.hex}`]),
    ...allowed.map((network) => `allowed_ip=${network}`),
  ]);
  const lines = [
    `private_key=${options.keys.privateKey.hex}`,
    `listen_port=${options.port}`,
    ...(options.disguise ?? []),
    ...peers,
  ];
  const answer = await ask(socket, `set=1\n${lines.join("\n")}\n\n`);
  if (!answer.includes("errno=0")) throw new Error(`${server} refused its settings: ${answer.trim()}`);
  for (const address of options.addresses) lab.ip("srv", "address", "add", address, "dev", device);
  lab.ip("srv", "link", "set", device, "up", "mtu", "1420");
  // Up is when it has bound its port: it says so itself.
  await until(`${server} to be up`, async () =>
    (await ask(socket, "get=1\n\n")).includes(`listen_port=${options.port}`),
  );
}

async function ask(path: string, question: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => socket.write(question));
    let answer = "";
    socket.setEncoding("utf8");
    socket.on("error", reject);
    socket.on("data", (text: string) => {
      answer += text;
      if (/errno=-?\d+\n\n$/.test(answer)) {
        socket.destroy();
        resolve(answer);
      }
    });
    socket.on("end", () => resolve(answer));
  });
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await holds()) return;
    await pause(50);
  }
  throw new Error(`waited 30 s for ${what}`);
}
