/**
 * Readers in a process of their own: each asks, waits for the whole answer, and asks again. Started with port and key; gets the paths of a
 * measurement, says what it saw.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type Answer, fail, firstOf, KeepAlive, senderOf, timeOf } from "./keep-alive.ts";

export interface ToReader {
  readonly paths: readonly string[];
  /** Further ones of each request, each with its line's end. */
  readonly headers: string;
  /** Number of the first address that asks. */
  readonly fromAddress: number;
  readonly readers: number;
  readonly seconds: number;
}

export interface ReaderReport {
  readonly answers: number;
  /** Of these, 503 with Retry-After. */
  readonly refused: number;
  readonly seconds: number;
  readonly megabytes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly cpuS: number;
}

const [port = "0", key = ""] = process.argv.slice(2);
const ours = `Host: 127.0.0.1\r\nX-API-Key: ${key}\r\nX-Project-Id: prj_1\r\n`;

function isRefusal({ status, head }: Answer): boolean {
  return status === 503 && /\r\nretry-after: /i.test(head);
}

async function measure({ paths, headers, fromAddress, readers, seconds }: ToReader): Promise<ReaderReport> {
  const latencies: number[] = [];
  let bytes = 0;
  let refused = 0;
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1_000;
  const work = async (): Promise<void> => {
    const reader = await KeepAlive.open(Number(port));
    while (performance.now() < endAt) {
      const askedAt = performance.now();
      const path = paths[Math.floor(Math.random() * paths.length)] ?? "/";
      const sender = senderOf(firstOf(fromAddress) + latencies.length);
      const answer = await reader.ask(`GET ${path} HTTP/1.1\r\n${ours}${sender}${headers}\r\n`);
      if (answer.status !== 200 && !isRefusal(answer)) fail(answer.head);
      latencies.push(performance.now() - askedAt);
      bytes += answer.bytes;
      if (answer.status !== 200) refused += 1;
      // One that was refused comes again as a page would, and not at once.
      if (answer.status !== 200) await pause(1_000);
    }
    reader.close();
  };
  await Promise.all(Array.from({ length: readers }, work));
  const elapsedS = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    answers: latencies.length,
    refused,
    seconds: elapsedS,
    megabytes: bytes / 1e6,
    p50Ms: timeOf(latencies, 0.5),
    p99Ms: timeOf(latencies, 0.99),
    maxMs: timeOf(latencies, 1),
    cpuS: (user + system) / 1e6,
  };
}

process.on("message", (message: ToReader) => {
  void measure(message).then((report) => process.send?.(report));
});
process.on("disconnect", () => process.exit(0));
