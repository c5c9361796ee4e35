/**
 * Readers of a status page in a process of their own, on raw sockets, because a client library would cost more than the server. Closed loop: each
 * asks, waits for the whole answer, and asks again. Open loop: requests leave at fixed times, whatever came of those before, as of people who do
 * not know of each other; what such a request waits for is counted from its time on.
 */
import { connect, type Socket } from "node:net";

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
const HEAD_END = Buffer.from("\r\n\r\n");
/** Requests of one address, of those that a page lets in a minute. */
const PER_ADDRESS = 100;

/** One keep-alive connection. */
class Line {
  readonly #socket: Socket;
  #chunks: Buffer[] = [];
  #length = 0;
  #wanted = 0;
  #settle: (bytes: number) => void = () => {};
  tag = "";

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk) => this.#take(chunk as Buffer));
    socket.on("close", () => fail("a connection ended"));
    socket.on("error", (error) => fail(String(error)));
  }

  static open(): Promise<Line> {
    return new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(new Line(socket)));
    });
  }

  ask(head: string): Promise<number> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#socket.write(head);
    });
  }

  /** Its end is no fault. */
  close(): void {
    this.#socket.removeAllListeners("close");
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#wanted === 0) {
      this.#chunks.push(chunk);
      this.#readHead();
    }
    if (this.#wanted === 0 || this.#length < this.#wanted) return;
    const bytes = this.#length;
    [this.#length, this.#wanted] = [0, 0];
    this.#settle(bytes);
  }

  #readHead(): void {
    const bytes = this.#chunks.length === 1 ? (this.#chunks[0] ?? HEAD_END) : Buffer.concat(this.#chunks);
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) return;
    const head = bytes.toString("latin1", 0, end);
    this.#chunks = [];
    const status = head.slice(9, 12);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? (status === "304" ? 0 : Number.NaN));
    if (Number.isNaN(length) || (status !== "200" && status !== "304")) fail(bytes.toString("latin1").slice(0, 600));
    this.tag = /\r\netag: ([^\r]+)/i.exec(head)?.[1] ?? "";
    this.#wanted = end + HEAD_END.length + length;
  }
}

function fail(reason: string): never {
  process.stderr.write(`a reader got no good answer: ${reason}\n`);
  process.exit(1);
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
    const lines = await Promise.all(Array.from({ length: connections }, () => Line.open()));
    const startedAt = performance.now();
    const endAt = startedAt + seconds * 1_000;
    if (rate === null) await Promise.all(lines.map((line) => this.#closed(line, endAt)));
    else await this.#open(lines, rate, endAt);
    const elapsedS = (performance.now() - startedAt) / 1_000;
    for (const line of lines) line.close();
    return {
      ...{ answers: this.#latencies.length, bytes: this.#bytes / this.#latencies.length, seconds: elapsedS },
      ...{ p50Ms: at(this.#latencies, 0.5), p99Ms: at(this.#latencies, 0.99), maxMs: at(this.#latencies, 1) },
      sentLateP99Ms: at(this.#sentLate, 0.99),
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
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    while (asking.size > 0) await Promise.all(asking);
  }

  async #ask(line: Line, fromMs: number): Promise<void> {
    const bytes = await line.ask(this.#head(line));
    this.#bytes += bytes;
    this.#latencies.push(performance.now() - fromMs);
  }

  #head(line: Line): string {
    const { path, coding, isKnown, fromAddress } = this.#what;
    const address = fromAddress + Math.floor(this.#count / PER_ADDRESS);
    this.#count += 1;
    return [
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1`,
      // As a proxy says whose request it is: readers of a page are many.
      `X-Forwarded-For: 10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`,
      ...(coding === "gzip" ? ["Accept-Encoding: gzip, deflate, br"] : []),
      ...(isKnown && line.tag !== "" ? [`If-None-Match: ${line.tag}`] : []),
      "\r\n",
    ].join("\r\n");
  }
}

function at(values: number[], share: number): number {
  values.sort((a, b) => a - b);
  return values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
}

process.on("message", (message: ToPageReader) => {
  void new Measurement(message).run().then((report) => process.send?.(report));
});
process.on("disconnect", () => process.exit(0));
