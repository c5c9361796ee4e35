/**
 * What the core itself can do: one process, one SOCKS port per config without a password, one plain HTTP request each, nothing judged but
 * the answer. What Sonde gets out of the same core is divided by this.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { cores } from "../../engine/cores/choice.ts";
import { type CoreEntry, LOCAL_HOST } from "../../engine/cores/core.ts";
import type { ProxyConfig } from "../../engine/protocols/share-link/proxy-config.ts";
import type { Engine } from "../../model/subscription.ts";

export interface RawCore {
  readonly engine: Engine;
  readonly child: ChildProcess;
  /** Of the SOCKS ports, one for each config in their order. */
  readonly firstPort: number;
  readonly readyMs: number;
  stop(): Promise<void>;
}

type Json = Readonly<Record<string, unknown>>;

const READY_MS = 60_000;

/** @param options.extraCaPem of the servers' authority */
export async function startRawCore(
  engine: Engine,
  program: string,
  configs: readonly ProxyConfig[],
  options: { readonly firstPort: number; readonly extraCaPem: string },
): Promise<RawCore> {
  const { firstPort } = options;
  const startedAt = performance.now();
  const args = ["--pdeathsig", "KILL", "--", program, "run", "-c", engine === "xray" ? "stdin:" : "stdin"];
  const child = spawn("setpriv", args, { stdio: ["pipe", "ignore", "ignore"] });
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify(fileOf(engine, configs, options)));
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  // xray opens its ports in no order: all are waited for.
  while (countListening(firstPort, configs.length) < configs.length) {
    if (child.exitCode !== null || performance.now() - startedAt > READY_MS) {
      await stop();
      throw new Error(`${engine} did not come up with ${configs.length} configs`);
    }
    await pause(20);
  }
  return { engine, child, firstPort, readyMs: performance.now() - startedAt, stop };
}

function fileOf(
  engine: Engine,
  configs: readonly ProxyConfig[],
  { firstPort, extraCaPem }: { readonly firstPort: number; readonly extraCaPem: string },
): Json {
  const entries: CoreEntry[] = configs.map((config, index) => ({
    tag: `n_${index}`,
    config,
    address: config.host,
    password: "unused",
  }));
  const batch = { entries, port: firstPort, identityPassword: "unused", isVerbose: false, extraCaPem };
  const ours: Json = JSON.parse(cores[engine].render(batch));
  const tagged = entries.map(({ tag }, index) => ({ tag, port: firstPort + index }));
  if (engine === "xray") {
    return {
      ...ours,
      log: { loglevel: "none" },
      inbounds: tagged.map(({ tag, port }) => ({ tag: `in_${tag}`, listen: LOCAL_HOST, port, protocol: "socks" })),
      routing: { rules: tagged.map(({ tag }) => ({ inboundTag: [`in_${tag}`], outboundTag: tag })) },
    };
  }
  return {
    ...ours,
    // As the core is by itself.
    experimental: {},
    log: { disabled: true },
    inbounds: tagged.map(({ tag, port }) => ({
      type: "socks",
      tag: `in_${tag}`,
      listen: LOCAL_HOST,
      listen_port: port,
    })),
    route: { rules: tagged.map(({ tag }) => ({ inbound: [`in_${tag}`], outbound: tag })) },
  };
}

/** proc(5), net/tcp: 0A is a socket that listens. */
function countListening(firstPort: number, count: number): number {
  let listening = 0;
  for (const table of ["tcp", "tcp6"]) {
    for (const line of readFileSync(`/proc/net/${table}`, "utf8").split("\n")) {
      const [, local = "", , state] = line.trim().split(/\s+/);
      const port = Number.parseInt(local.slice(local.lastIndexOf(":") + 1), 16);
      if (state === "0A" && port >= firstPort && port < firstPort + count) listening++;
    }
  }
  return listening;
}

export interface RawTarget {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** What the answer's body must be. */
  readonly expected: string;
}

/** RFC 1928: no authentication; CONNECT to an IPv4 address. @returns whether the expected answer came in time */
export function askThrough(engine: Engine, port: number, target: RawTarget, timeoutMs: number): Promise<boolean> {
  const address = target.host.split(".").map(Number);
  const greeting = Buffer.from([5, 1, 0]);
  const order = Buffer.from([5, 1, 0, 1, ...address, target.port >> 8, target.port & 255]);
  const request = Buffer.from(
    `GET ${target.path} HTTP/1.1\r\nHost: ${target.host}:${target.port}\r\nConnection: close\r\n\r\n`,
  );
  return new Promise((resolve) => {
    const socket = connect(port, LOCAL_HOST);
    let read = Buffer.alloc(0);
    let step = 0;
    const end = (isRight: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(isRight);
    };
    const timer = setTimeout(() => end(false), timeoutMs);
    socket.setNoDelay(true);
    socket.on("error", () => end(false));
    socket.on("close", () => end(false));
    socket.on("connect", () => socket.write(greeting));
    socket.on("data", (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      if (step === 0 && read.length >= 2) {
        step = 1;
        read = read.subarray(2);
        // xray drops what comes 100 ms after its answer; sing-box loses what comes before.
        socket.write(engine === "xray" ? Buffer.concat([order, request]) : order);
      }
      if (step === 1 && read.length >= 10) {
        if (read[1] !== 0) return end(false);
        step = 2;
        read = read.subarray(10);
        if (engine === "singbox") socket.write(request);
      }
      if (step === 2 && isAnswer(read.toString("latin1"), target.expected)) end(true);
    });
  });
}

function isAnswer(text: string, expected: string): boolean {
  const body = text.indexOf("\r\n\r\n");
  return body > 0 && text.startsWith("HTTP/1.1 200 ") && text.slice(body + 4) === expected;
}
