/** A core that a server has taken over, and what it reaches: the program, what it is to try, and its server. */
import { execFile } from "node:child_process";
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

export function linkOf(port: number, aims: Aims): string {
  const path = encodeURIComponent(`/${Buffer.from(JSON.stringify(aims)).toString("base64url")}`);
  return `vless://${UUID}@127.0.0.1:${port}?type=ws&path=${path}`;
}

export interface Listener {
  readonly server: Server;
  /** Of everything that was sent: the first line. */
  readonly line: Promise<string>;
}

/** Where reports go, and where nothing may go. @param at a port, or a path */
export async function listenAt(at: number | string): Promise<Listener> {
  const sockets = new Set<Socket>();
  let settle: (line: string) => void = () => undefined;
  const line = new Promise<string>((resolve) => {
    settle = resolve;
  });
  const server = createTcpServer((socket) => {
    let text = "";
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
  return { server, line };
}
