/** The processes of the API bench, from their parent's side. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { LoadReport } from "./load.ts";
import type { WaitsReport } from "./waits.ts";

export interface Bare {
  readonly port: number;
  readonly pid: number;
  close(): void;
}

export async function startBare(bodyBytes: number): Promise<Bare> {
  const child = fork(fileURLToPath(new URL("./bare.js", import.meta.url)), [String(bodyBytes)]);
  const port = await said<number>(child);
  return { port, pid: child.pid ?? 0, close: () => child.disconnect() };
}

export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly pipelined: number;
  readonly seconds: number;
  readonly request: string;
  /** Whose first thread is looked at. */
  readonly pid: number;
}

export function load({ port, connections, pipelined, seconds, request, pid }: LoadOptions): Promise<LoadReport> {
  const words = [port, connections, pipelined, seconds, pid].map(String);
  const file = fileURLToPath(new URL("./load.js", import.meta.url));
  return said<LoadReport>(fork(file, [...words, Buffer.from(request).toString("base64")]));
}

export interface Waits {
  stop(): Promise<WaitsReport>;
}

/** Asks the address again and again. */
export async function startWaits(url: string): Promise<Waits> {
  const child = fork(fileURLToPath(new URL("./waits.js", import.meta.url)), [url]);
  await said<string>(child);
  return {
    stop() {
      child.send("stop");
      return said<WaitsReport>(child);
    },
  };
}

function said<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`a process of the bench ended with ${code}`));
    child.once("exit", onExit);
    child.once("message", (message) => {
      child.off("exit", onExit);
      resolve(message as Message);
    });
  });
}
