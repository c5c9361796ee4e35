/** Latency at a steady rate: each request has its time, and one that had to wait for the one before counts from that time on. */
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { percentile } from "../statistics.ts";

export interface Latency {
  readonly requests: number;
  /** Answered with 503, because checks needed the processors. */
  readonly refused: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Asked {
  readonly url: string;
  readonly key: string;
  readonly perSecond: number;
  readonly requests: number;
  path(n: number): string;
}

export async function latencyOf(asked: Asked): Promise<Latency> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let n = 0; n < 20; n++) await ask(agent, asked, n);
  const latencies: number[] = [];
  let refused = 0;
  const startedAt = performance.now();
  for (let n = 0; n < asked.requests; n++) {
    const dueAt = startedAt + (n * 1_000) / asked.perSecond;
    const waitMs = dueAt - performance.now();
    if (waitMs > 0) await pause(waitMs);
    // A timer of ours that fired late is no fault of the server's.
    const from = waitMs > 0 ? performance.now() : dueAt;
    if (!(await ask(agent, asked, n))) refused += 1;
    latencies.push(performance.now() - from);
  }
  agent.destroy();
  const [p50Ms = 0, p99Ms = 0, maxMs = 0] = [0.5, 0.99, 1].map((share) => percentile(latencies, share));
  return { requests: latencies.length, refused, p50Ms, p99Ms, maxMs };
}

/** @returns whether it was let in */
function ask(agent: Agent, { url, key, path }: Asked, n: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const headers = { "X-API-Key": key, "X-Project-Id": "prj_1" };
    const sent = request(`${url}/api/v1${path(n)}`, { agent, headers }, (answer) => {
      answer.resume();
      answer.on("end", () => {
        if (answer.statusCode === 200 || answer.statusCode === 503) resolve(answer.statusCode === 200);
        else reject(new Error(`${path(n)} answered ${answer.statusCode}`));
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}
