/**
 * Readers in a process of their own: each asks, waits for the whole answer, and asks again. Raw sockets, because a client library would cost
 * more than the server. Started with port and key; gets the paths of a measurement, says what it saw.
 */
import { connect, type Socket } from "node:net";

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
const HEAD_END = Buffer.from("\r\n\r\n");

interface Answer {
  readonly status: number;
  readonly bytes: number;
}

/** One keep-alive connection. */
class Reader {
  readonly #socket: Socket;
  #chunks: Buffer[] = [];
  #length = 0;
  #wanted = 0;
  #status = 0;
  #settle: (answer: Answer) => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk) => this.#take(chunk as Buffer));
    socket.on("close", () => fail("a connection ended"));
    socket.on("error", (error) => fail(String(error)));
  }

  static open(): Promise<Reader> {
    return new Promise((resolve) => {
      const socket = connect(Number(port), "127.0.0.1", () => resolve(new Reader(socket)));
    });
  }

  ask(path: string, headers: string): Promise<Answer> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#socket.write(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${key}\r\nX-Project-Id: prj_1\r\n${headers}\r\n`,
      );
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
    const answer = { status: this.#status, bytes: this.#length };
    this.#length = 0;
    this.#wanted = 0;
    this.#settle(answer);
  }

  #readHead(): void {
    const bytes = this.#chunks.length === 1 ? (this.#chunks[0] ?? HEAD_END) : Buffer.concat(this.#chunks);
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) return;
    const head = bytes.toString("latin1", 0, end);
    this.#chunks = [];
    this.#status = Number(head.slice(9, 12));
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
    const isRefusal = this.#status === 503 && /\r\nretry-after: /i.test(head);
    if (Number.isNaN(length) || (this.#status !== 200 && !isRefusal)) fail(bytes.toString("latin1").slice(0, 600));
    this.#wanted = end + HEAD_END.length + length;
  }
}

function fail(reason: string): never {
  process.stderr.write(`a reader got no good answer: ${reason}\n`);
  process.exit(1);
}

/** Requests of one address, of those that a page lets in a minute. */
const PER_ADDRESS = 100;

/** As a proxy says whose request it is: readers of a page are many. @param n counts requests */
function senderOf(n: number): string {
  const address = Math.floor(n / PER_ADDRESS);
  return `X-Forwarded-For: 10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}\r\n`;
}

async function measure({ paths, headers, fromAddress, readers, seconds }: ToReader): Promise<ReaderReport> {
  const latencies: number[] = [];
  let bytes = 0;
  let refused = 0;
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1_000;
  const work = async (): Promise<void> => {
    const reader = await Reader.open();
    while (performance.now() < endAt) {
      const askedAt = performance.now();
      const path = paths[Math.floor(Math.random() * paths.length)] ?? "/";
      const answer = await reader.ask(path, senderOf(fromAddress * PER_ADDRESS + latencies.length) + headers);
      latencies.push(performance.now() - askedAt);
      bytes += answer.bytes;
      if (answer.status !== 200) refused += 1;
      // One that was refused comes again as a page would, and not at once.
      if (answer.status !== 200) await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    reader.close();
  };
  await Promise.all(Array.from({ length: readers }, work));
  const elapsedS = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  latencies.sort((a, b) => a - b);
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    answers: latencies.length,
    refused,
    seconds: elapsedS,
    megabytes: bytes / 1e6,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
    cpuS: (user + system) / 1e6,
  };
}

process.on("message", (message: ToReader) => {
  void measure(message).then((report) => process.send?.(report));
});
process.on("disconnect", () => process.exit(0));
