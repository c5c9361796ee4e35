/**
 * The load, in a process of its own and as cheap as Node makes it: raw sockets, one request text, answers counted by their bytes, which
 * are all alike. It says what it cost itself, because two cores are shared.
 *
 * Arguments: port, connections, requests in flight on each, seconds, process of the server, and the request as base64.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

export interface LoadReport {
  readonly requests: number;
  readonly seconds: number;
  /** Of this client. */
  readonly cpuS: number;
  /** Of the server's first thread, where its API runs. */
  readonly serverCpuS: number;
}

const [port = "0", connections = "0", pipelined = "0", seconds = "0", pid = "0", request = ""] = process.argv.slice(2);
const IN_FLIGHT = Number(pipelined);
const batch = Buffer.from(Buffer.from(request, "base64").toString("latin1").repeat(IN_FLIGHT), "latin1");
const one = Buffer.from(request, "base64");
/** Before the counting begins, ms: code gets hot, connections are there. */
const WARM_UP_MS = 1_500;
const OK = Buffer.from("HTTP/1.1 200");

let isCounting = false;
let answeredBytes = 0;
let answerBytes = 0;

function refuse(text: string): never {
  process.stderr.write(`the load got no good answer: ${text.slice(0, 300)}\n`);
  process.exit(1);
}

/** The length of an answer: head, and the body its Content-Length tells. */
function lengthOf(answer: Buffer): number {
  const head = answer.indexOf("\r\n\r\n") + 4;
  const length = /content-length: (\d+)/i.exec(answer.toString("latin1", 0, head))?.[1];
  if (!answer.subarray(0, OK.length).equals(OK) || length === undefined) refuse(answer.toString("latin1"));
  return head + Number(length);
}

function measureOne(): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(one));
    socket.once("data", (answer) => {
      socket.destroy();
      resolve(lengthOf(answer));
    });
  });
}

function open(): Promise<Socket> {
  return new Promise((resolve) => {
    const wanted = answerBytes * IN_FLIGHT;
    let got = 0;
    const socket = connect(Number(port), "127.0.0.1", () => resolve(socket));
    socket.setNoDelay(true);
    socket.on("data", (chunk) => {
      if (got === 0 && !chunk.subarray(0, OK.length).equals(OK)) refuse(chunk.toString("latin1"));
      got += chunk.length;
      if (isCounting) answeredBytes += chunk.length;
      if (got > wanted) refuse(`answers of unlike lengths: ${chunk.toString("latin1")}`);
      if (got < wanted) return;
      got = 0;
      socket.write(batch);
    });
    socket.on("error", (error) => refuse(String(error)));
  });
}

/** User and system time (proc(5), fields 14 and 15), in ticks of 10 ms. */
function serverCpuS(): number {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

answerBytes = await measureOne();
for (const socket of await Promise.all(Array.from({ length: Number(connections) }, open))) socket.write(batch);
await pause(WARM_UP_MS);
const cpu = process.cpuUsage();
const serverFromS = serverCpuS();
const startedAt = performance.now();
isCounting = true;
await pause(Number(seconds) * 1_000);
isCounting = false;
const elapsedS = (performance.now() - startedAt) / 1_000;
const { user, system } = process.cpuUsage(cpu);
const report: LoadReport = {
  requests: Math.floor(answeredBytes / answerBytes),
  seconds: elapsedS,
  cpuS: (user + system) / 1e6,
  serverCpuS: serverCpuS() - serverFromS,
};
process.send?.(report, () => process.exit(0));
