/** A keep-alive connection that asks one thing after the other, on a raw socket: a client library would cost more than the server. */
import { connect, type Socket } from "node:net";
import { percentile } from "../statistics.ts";

export interface Answer {
  readonly status: number;
  /** Its status line and headers. */
  readonly head: string;
  /** Of head and body. */
  readonly bytes: number;
}

const HEAD_END = Buffer.from("\r\n\r\n");
/** Requests of one address, of those that a status page lets in a minute. */
const PER_ADDRESS = 100;

export class KeepAlive {
  readonly #socket: Socket;
  #chunks: Buffer[] = [];
  #head = "";
  #length = 0;
  #wanted = 0;
  #settle: (answer: Answer) => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk) => this.#take(chunk as Buffer));
    socket.on("close", () => fail("a connection ended"));
    socket.on("error", (error) => fail(String(error)));
  }

  static open(port: number): Promise<KeepAlive> {
    return new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(new KeepAlive(socket)));
    });
  }

  /** @param request whole, without a body */
  ask(request: string): Promise<Answer> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#socket.write(request);
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
    const answer = { status: statusOf(this.#head), head: this.#head, bytes: this.#length };
    [this.#length, this.#wanted] = [0, 0];
    this.#settle(answer);
  }

  #readHead(): void {
    const bytes = this.#chunks.length === 1 ? (this.#chunks[0] ?? HEAD_END) : Buffer.concat(this.#chunks);
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) return;
    this.#head = bytes.toString("latin1", 0, end);
    this.#chunks = [];
    const isBodiless = statusOf(this.#head) === 304;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1] ?? (isBodiless ? 0 : Number.NaN));
    if (Number.isNaN(length)) fail(this.#head);
    this.#wanted = end + HEAD_END.length + length;
  }
}

function statusOf(head: string): number {
  return Number(head.slice(9, 12));
}

/** Ends the readers' process: what they measure from here on would be something else. */
export function fail(reason: string): never {
  process.stderr.write(`a reader got no good answer: ${reason.slice(0, 600)}\n`);
  process.exit(1);
}

/** A header line, as a proxy says whose request it is: readers of a page are many. @param n counts requests */
export function senderOf(n: number): string {
  const address = Math.floor(n / PER_ADDRESS);
  return `X-Forwarded-For: 10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}\r\n`;
}

/** The first request of the nth address, as senderOf() counts. */
export function firstOf(address: number): number {
  return address * PER_ADDRESS;
}

/** 0 of none. */
export function timeOf(times: readonly number[], share: number): number {
  return times.length === 0 ? 0 : percentile(times, share);
}
