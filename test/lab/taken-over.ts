/** A core that a server has taken over, and what it reaches: the program, what it is to try, and its server. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { chmodSync, chownSync, copyFileSync } from "node:fs";
import { createServer as createTcpServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Of taken-over-core/main.go. */
export interface Aims {
  readonly files: Readonly<Record<string, string>>;
  readonly folders: Readonly<Record<string, string>>;
  readonly ports: Readonly<Record<string, number>>;
  readonly datagrams: number;
  readonly unix: string;
  readonly setuid: string;
}

/** Of taken-over-core/reach.go: where it may not come to, on its server's port, and on another one of its server. */
export interface Elsewhere {
  readonly hosts: readonly string[];
  readonly port: number;
}

/** What it tried: `reached`, or why not. */
export type Report = Readonly<Record<string, string>>;

const UUID = "5ec2e700-1111-4222-8333-444455556666";

/** @returns the program's path, in the folder */
export async function buildTakenOver(folder: string): Promise<string> {
  const program = join(folder, "taken-over");
  const cwd = fileURLToPath(new URL("./taken-over-core/", import.meta.url));
  const env = { ...process.env, CGO_ENABLED: "0" };
  await promisify(execFile)("go", ["build", "-trimpath", "-buildvcs=false", "-o", program, "."], { cwd, env });
  return program;
}

/** A copy that makes its caller root, where that is not forbidden. @returns its path */
export function setuidCopy(program: string): string {
  const copy = `${program}-setuid`;
  copyFileSync(program, copy);
  chownSync(copy, 0, 0);
  chmodSync(copy, 0o4755);
  return copy;
}

export function reachedOf(report: Report): readonly string[] {
  return Object.entries(report)
    .flatMap(([name, how]) => (how === "reached" ? [name] : []))
    .sort();
}

/** @param aims read by the program from the path of its transport */
export function linkOf(port: number, aims: Aims | { readonly elsewhere: Elsewhere }): string {
  const path = encodeURIComponent(`/${written(aims)}`);
  return `vless://${UUID}@127.0.0.1:${port}?type=ws&path=${path}`;
}

/** One that travels in datagrams: its password says what is tried. */
export function datagramLinkOf(port: number, elsewhere: Elsewhere): string {
  return `hy2://${written({ elsewhere })}@127.0.0.1:${port}?insecure=1`;
}

function written(aims: object): string {
  return Buffer.from(JSON.stringify(aims)).toString("base64url");
}

/** Where nothing may arrive. */
export interface Trap {
  /** What did, a line each. */
  readonly arrived: string[];
  close(): void;
}

/** Listens in TCP and UDP. @param before the command that it runs within, such as of a namespace */
export async function layTrap(program: string, address: string, before: readonly string[] = []): Promise<Trap> {
  const [file = program, ...args] = [...before, program, "listen", address];
  const child: ChildProcess = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] });
  const arrived: string[] = [];
  const ready = new Promise<void>((resolve, reject) => {
    child.once("exit", () => reject(new Error(`nothing listens on ${address}`)));
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const lines = text.split("\n").filter((line) => line !== "");
      if (lines.includes("ready")) resolve();
      arrived.push(...lines.filter((line) => line !== "ready"));
    });
  });
  await ready;
  return { arrived, close: () => void child.kill("SIGKILL") };
}

/** A server of datagrams. */
export interface DatagramServer {
  readonly line: Promise<string>;
  arrived(): number;
  close(): void;
}

export async function serveDatagrams(port: number): Promise<DatagramServer> {
  const socket = createSocket("udp4");
  let count = 0;
  const line = new Promise<string>((resolve) => {
    socket.on("message", (bytes) => {
      count += 1;
      if (bytes[0] === 0x7b) resolve(bytes.toString());
    });
  });
  socket.bind(port, "127.0.0.1");
  await once(socket, "listening");
  return { line, arrived: () => count, close: () => socket.close() };
}

export interface Listener {
  readonly server: Server;
  /** Of everything that was sent: the first line. */
  readonly line: Promise<string>;
  /** Connections. */
  arrived(): number;
}

/** Where reports go, and where nothing may go. @param at a port, or a path */
export async function listenAt(at: number | string): Promise<Listener> {
  const sockets = new Set<Socket>();
  let count = 0;
  let settle: (line: string) => void = () => undefined;
  const line = new Promise<string>((resolve) => {
    settle = resolve;
  });
  const server = createTcpServer((socket) => {
    let text = "";
    count += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      const end = text.indexOf("\n");
      if (end >= 0) settle(text.slice(0, end));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    if (typeof at === "number") server.listen(at, "127.0.0.1", resolve);
    else server.listen(at, resolve);
  });
  server.unref();
  return { server, line, arrived: () => count };
}
