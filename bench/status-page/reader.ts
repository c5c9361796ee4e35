/**
 * Readers of a status page in a process of their own. Closed loop: each
 * asks, waits for the whole answer, and asks again. Open loop: requests leave at fixed times, whatever came of those before, as of people who do
 * not know of each other; what such a request waits for is counted from its time on.
 */
import { setTimeout as pause } from "node:timers/promises";
import { fail, firstOf, KeepAlive, senderOf, timeOf } from "../reads/keep-alive.ts";

export interface ToPageReader {
  readonly path: string;
  readonly coding: "plain" | "gzip";
  /** Sends the tag of the answer before. */
  readonly isKnown: boolean;
  /** Requests a second in open loop; null: closed loop. */
  readonly rate: number | null;
  /** Connections, and in closed loop readers. */
  readonly connections: number;
  readonly seconds: number;
  /** Number of the first address that asks. */
  readonly fromAddress: number;
}

export interface PageReaderReport {
  readonly answers: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** How much later than its time a request left: what the reader itself waited for a processor. Closed loop: 0. */
  readonly sentLateP99Ms: number;
}

const port = Number(process.argv[2] ?? "0");
/** A connection, and the tag of its answer before. */
interface Line {
  readonly connection: KeepAlive;
  tag: string;
}

class Measurement {
  readonly #what: ToPageReader;
  readonly #latencies: number[] = [];
  readonly #sentLate: number[] = [];
  #bytes = 0;
  #count = 0;

  constructor(what: ToPageReader) {
    this.#what = what;
  }

  async run(): Promise<PageReaderReport> {
    const { connections, rate, seconds } = this.#what;
    const opened = await Promise.all(Array.from({ length: connections }, () => KeepAlive.open(port)));
    const lines = opened.map((connection): Line => ({ connection, tag: "" }));
    const startedAt = performance.now();
    const endAt = startedAt + seconds * 1_000;
    if (rate === null) await Promise.all(lines.map((line) => this.#closed(line, endAt)));
    else await this.#open(lines, rate, endAt);
    const elapsedS = (performance.now() - startedAt) / 1_000;
    for (const connection of opened) connection.close();
    return {
      ...{ answers: this.#latencies.length, bytes: this.#bytes / this.#latencies.length, seconds: elapsedS },
      ...{
        p50Ms: timeOf(this.#latencies, 0.5),
        p99Ms: timeOf(this.#latencies, 0.99),
        maxMs: timeOf(this.#latencies, 1),
      },
      sentLateP99Ms: timeOf(this.#sentLate, 0.99),
    };
  }

  async #closed(line: Line, endAt: number): Promise<void> {
    while (performance.now() < endAt) await this.#ask(line, performance.now());
  }

  async #open(lines: readonly Line[], rate: number, endAt: number): Promise<void> {
    const free = [...lines];
    const waiting: number[] = [];
    const startedAt = performance.now();
    const asking = new Set<Promise<void>>();
    const send = (): void => {
      while (free.length > 0 && waiting.length > 0) {
        // In turn: the service ends connections that are idle.
        const [line, dueAt] = [free.shift(), waiting.shift()];
        if (line === undefined || dueAt === undefined) return;
        this.#sentLate.push(performance.now() - dueAt);
        const asked: Promise<void> = this.#ask(line, dueAt).then(() => {
          free.push(line);
          asking.delete(asked);
          send();
        });
        asking.add(asked);
      }
    };
    for (let sent = 0; performance.now() < endAt; ) {
      for (; startedAt + (sent * 1_000) / rate <= performance.now(); sent++)
        waiting.push(startedAt + (sent * 1_000) / rate);
      send();
      await pause(1);
    }
    while (asking.size > 0) await Promise.all(asking);
  }

  async #ask(line: Line, fromMs: number): Promise<void> {
    const { status, head, bytes } = await line.connection.ask(this.#request(line));
    if (status !== 200 && status !== 304) fail(head);
    line.tag = /\r\netag: ([^\r]+)/i.exec(head)?.[1] ?? "";
    this.#bytes += bytes;
    this.#latencies.push(performance.now() - fromMs);
  }

  #request({ tag }: Line): string {
    const { path, coding, isKnown, fromAddress } = this.#what;
    const sender = senderOf(firstOf(fromAddress) + this.#count++);
    const packed = coding === "gzip" ? "Accept-Encoding: gzip, deflate, br\r\n" : "";
    const known = isKnown && tag !== "" ? `If-None-Match: ${tag}\r\n` : "";
    return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${sender}${packed}${known}\r\n`;
  }
}

process.on("message", (message: ToPageReader) => {
  void new Measurement(message).run().then((report) => process.send?.(report));
});
process.on("disconnect", () => process.exit(0));
