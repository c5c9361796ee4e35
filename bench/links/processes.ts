/** Processes of the bench: a target that answers with the token it is asked for, sing-box with a server for each protocol, and a black hole. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { LOCAL_HOST } from "../../engine/cores/core.ts";

/** Ends with us, also when we are killed. */
function spawnBound(program: string, args: readonly string[]): ChildProcess {
  return spawn("setpriv", ["--pdeathsig", "KILL", "--", program, ...args], { stdio: ["pipe", "pipe", "ignore"] });
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

export interface Target {
  readonly port: number;
  readonly child: ChildProcess;
}

/** What is asked through every config: little work, so that it is not what is measured. */
const TARGET = `const s = require("net").createServer((c) => {
  c.setNoDelay(true).on("error", () => {});
  c.on("data", (d) => {
    const [, path = ""] = d.toString("latin1").split(" ", 2);
    const token = new URLSearchParams(path.slice(path.indexOf("?") + 1)).get("token") ?? "none";
    c.end("HTTP/1.1 200 OK\\r\\nContent-Type: text/plain\\r\\nContent-Length: " + token.length + "\\r\\nConnection: close\\r\\n\\r\\n" + token);
  });
});
s.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => console.log(s.address().port));`;

export function startTarget(): Promise<Target> {
  return listening(TARGET);
}

/** Listens, and then stands still: once its queue is full the kernel drops what comes (listen(2)). On all of 127.0.0.0/8. */
const BLACK_HOLE = `const s = require("net").createServer();
s.listen({ port: 0, host: "0.0.0.0", backlog: 1 }, () => {
  process.stdout.write(s.address().port + "\\n", () => process.kill(process.pid, "SIGSTOP"));
});`;

export async function startBlackHole(): Promise<Target> {
  const hole = await listening(BLACK_HOLE);
  for (let full = 0; full < 4; full++) {
    const socket = connect(hole.port, LOCAL_HOST).on("error", () => {});
    hole.child.once("exit", () => socket.destroy());
  }
  return hole;
}

async function listening(script: string): Promise<Target> {
  const child = spawnBound(process.execPath, ["-e", script]);
  if (child.stdout === null) throw new Error("no output");
  const [line] = await once(createInterface(child.stdout), "line");
  return { port: Number(line), child };
}

export interface Authority {
  readonly pem: string;
  readonly certificate: readonly string[];
  readonly key: readonly string[];
}

/** A certificate of the servers, its own authority. */
export function makeAuthority(folder: string, name: string): Authority {
  const [key, crt] = [join(folder, "server.key"), join(folder, "server.crt")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const names = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
  execFileSync("openssl", ["req", "-x509", ...curve, "-keyout", key, "-out", crt, "-days", "30", ...names], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const lines = (file: string): readonly string[] => readFileSync(file, "utf8").trim().split("\n");
  return { pem: readFileSync(crt, "utf8"), certificate: lines(crt), key: lines(key) };
}

const READY_MS = 30_000;

/** sing-box with these inbounds. Ready when the last of them answers: it opens them in order. */
export async function startServers(
  program: string,
  inbounds: readonly object[],
  lastPort: number,
): Promise<ChildProcess> {
  const child = spawnBound(program, ["run", "-c", "stdin"]);
  child.stdin?.on("error", () => {});
  child.stdin?.end(JSON.stringify({ log: { disabled: true }, inbounds, outbounds: [{ type: "direct" }] }));
  const untilMs = performance.now() + READY_MS;
  while (!(await answers(lastPort))) {
    if (child.exitCode !== null || performance.now() > untilMs) throw new Error("the servers did not come up");
    await pause(20);
  }
  return child;
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, LOCAL_HOST);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
