/**
 * One connection of a caller: its requests one after another, each answered before the next is looked at. What it may hold and how long it may take
 * is bounded in every phase; its time limits are looked at by the server, in ticks, so that no request needs a timer.
 */
import type { Socket } from "node:net";
import { answerHead } from "./answer-head.ts";
import { type HeadRefusal, REFUSAL_HEADERS, TOO_MUCH_AT_ONCE } from "./head.ts";
import type { HeldBytes, Holder } from "./held-bytes.ts";
import {
  type ApiAnswer,
  type ApiResponse,
  isBodiless,
  isStream,
  type ListenOptions,
  type StreamedResponse,
} from "./http.ts";
import { requestOf } from "./request.ts";
import { type RequestHead, RequestReader, type WholeRequest } from "./request-reader.ts";
import { CLOSED_SINK, type Pipe, PipedSink } from "./stream-sink.ts";

/** A connection without a request, and one that sends no whole head. */
const IDLE_TIMEOUT_MS = 10_000;
/** How long our caller has to read the last answer and end its side before the connection is cut, ms. */
const LINGER_MS = 1_000;
/** What a caller may send behind its last request before the connection is cut, bytes. It is thrown away. */
const MAX_LINGER_BYTES = 1_048_576;
/** Bytes of further requests that wait for the answer before; beyond it nothing more is read for now. */
const MAX_WAITING_BYTES = 65_536;
/** Answers to requests that came together leave together, as far as they are no longer than this. */
const MAX_BATCH_LENGTH = 65_536;
const CLOSE_LINE = "Connection: close\r\n";
const NEVER = Number.POSITIVE_INFINITY;

/** The server, as its connections see it. */
export interface ConnectionServer {
  readonly options: ListenOptions;
  /** What all of its connections hold of requests. */
  readonly held: HeldBytes;
  /** Whether every answer is to end its connection. */
  readonly areLast: boolean;
  /** Whether connections without a request are to end. */
  readonly areIdleEnded: boolean;
  /** @returns the tick at which that much time is over */
  tickAfter(ms: number): number;
  /** A handler begins (1) or ends (-1) its work. */
  count(change: 1 | -1): void;
}

/**
 * reading: it takes requests. answering: a handler makes an answer. sending: an answer was written, and the caller has not taken all of it. streaming: an
 * answer goes on. closing: our side has ended, and the caller's has not. gone: the socket is closed.
 */
type Phase = "reading" | "answering" | "sending" | "streaming" | "closing" | "gone";

export class Connection implements Holder {
  readonly #socket: Socket;
  readonly #server: ConnectionServer;
  readonly #reader = new RequestReader();
  #phase: Phase = "reading";
  /** The tick at which the connection is late in its phase, and ends. */
  #deadline: number;
  #readerPhase: "idle" | "head" | "body" = "idle";
  /** Answers that were not handed to the socket yet. */
  #batch = "";
  /** Whether the caller has ended its side. */
  #isHalf = false;
  #remoteAddress: string | null = null;
  #lingeredBytes = 0;
  #heldBytes = 0;
  #sink: PipedSink | null = null;
  #farewell: StreamedResponse["farewell"];

  /** @param onGone called once */
  constructor(socket: Socket, server: ConnectionServer, onGone: () => void) {
    this.#socket = socket;
    this.#server = server;
    this.#deadline = server.tickAfter(IDLE_TIMEOUT_MS);
    socket.on("data", (bytes: Buffer) => this.#take(bytes));
    socket.on("end", () => this.#onHalf());
    // What follows is "close".
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#phase = "gone";
      this.#forget();
      this.#sink?.gone();
      onGone();
    });
  }

  /** @param tick the present one */
  endIfLate(tick: number): void {
    if (tick < this.#deadline) return;
    if (this.#phase !== "reading" || this.#readerPhase === "body") this.#cut();
    else if (this.#readerPhase === "head") this.#last(answerHead(408, [], `${CLOSE_LINE}Content-Length: 0\r\n`));
    else this.#last("");
  }

  /** Ends it where no request is being read or answered. */
  endIfIdle(): void {
    if (this.#phase === "reading" && this.#readerPhase !== "body") this.#last("");
  }

  /** Others need what it holds. */
  giveUp(): void {
    if (this.#phase === "reading") this.#refuse(TOO_MUCH_AT_ONCE);
    else this.#cut();
  }

  /** Ends its stream, if it has one. */
  leave(): void {
    this.#sink?.leave(this.#farewell?.() ?? "");
  }

  destroy(): void {
    this.#cut();
  }

  #take(bytes: Buffer): void {
    switch (this.#phase) {
      case "reading":
        this.#reader.push(bytes);
        this.#read();
        this.#count();
        return;
      case "answering":
      case "sending":
        this.#reader.push(bytes);
        if (this.#reader.waiting > MAX_WAITING_BYTES) this.#socket.pause();
        this.#count();
        return;
      case "closing":
        this.#lingeredBytes += bytes.length;
        if (this.#lingeredBytes > MAX_LINGER_BYTES) this.#socket.destroy();
        return;
      default:
        // A stream is the last of its connection.
        return;
    }
  }

  /** Tells the server what this connection holds now: nothing, nearly always. */
  #count(): void {
    const bytes = this.#reader.heldBytes;
    if (bytes === this.#heldBytes) return;
    this.#heldBytes = bytes;
    this.#server.held.set(this, bytes);
  }

  /** Nothing more of what came is looked at. */
  #forget(): void {
    this.#reader.clear();
    this.#count();
  }

  /** Takes what is here, request by request, until more has to come or one has to be waited for. */
  #read(): void {
    while (this.#phase === "reading") {
      const next = this.#reader.next();
      if (next === null) break;
      if (next === "too long") this.#cut();
      else if ("status" in next) this.#refuse(next);
      else this.#answer(next);
      if (this.#batch.length > MAX_BATCH_LENGTH) this.#flush();
    }
    if (this.#phase === "reading") this.#waitForMore();
    this.#flush();
  }

  #waitForMore(): void {
    const phase = this.#reader.phase;
    if (phase === "idle" && (this.#isHalf || this.#server.areIdleEnded)) {
      this.#last("");
      return;
    }
    if (this.#reader.takeContinue()) this.#batch += "HTTP/1.1 100 Continue\r\n\r\n";
    // A head that drips has one time limit from its first byte on, and a body has.
    if (phase === this.#readerPhase && phase !== "idle") return;
    this.#readerPhase = phase;
    const { bodyTimeoutMs } = this.#server.options;
    const limits = { idle: IDLE_TIMEOUT_MS, head: Math.min(IDLE_TIMEOUT_MS, bodyTimeoutMs), body: bodyTimeoutMs };
    this.#deadline = this.#server.tickAfter(limits[phase]);
  }

  #answer(request: WholeRequest): void {
    this.#readerPhase = "idle";
    this.#remoteAddress ??= this.#socket.remoteAddress ?? "";
    const answered = this.#server.options.handle(requestOf(request.line, this.#remoteAddress, request.body));
    if (!(answered instanceof Promise)) {
      this.#give(request.line, answered);
      return;
    }
    this.#phase = "answering";
    this.#deadline = NEVER;
    this.#server.count(1);
    void answered.then((answer) => {
      this.#server.count(-1);
      if (this.#phase !== "answering") {
        if (isStream(answer)) answer.open(CLOSED_SINK)();
        return;
      }
      this.#phase = "reading";
      this.#give(request.line, answer);
      this.#goOn();
    });
  }

  /** Takes what came meanwhile. */
  #goOn(): void {
    this.#read();
    this.#count();
    if (this.#phase === "reading") this.#socket.resume();
  }

  #refuse({ status, body }: HeadRefusal): void {
    const last = `${status === 503 ? "Retry-After: 1\r\n" : ""}${CLOSE_LINE}Content-Length: ${Buffer.byteLength(body)}\r\n`;
    this.#last(answerHead(status, REFUSAL_HEADERS, last) + body);
  }

  #give(line: RequestHead, answer: ApiAnswer): void {
    const isHead = line.method === "HEAD";
    if (!isStream(answer)) this.#write(answer, isHead, line.isLast || this.#server.areLast);
    else if (isHead || this.#isHalf) {
      answer.open(CLOSED_SINK)();
      this.#last(isHead ? answerHead(answer.status, answer.headers, CLOSE_LINE) : "");
    } else this.#stream(answer, line.version === "1.1");
  }

  #write({ status, headers, body, whole }: ApiResponse, isHead: boolean, isLast: boolean): void {
    if (whole !== undefined && !isHead && !isLast) {
      this.#writeWhole(whole.bytes());
      return;
    }
    const length = isBodiless(status) ? "" : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
    const head = answerHead(status, headers, isLast ? length + CLOSE_LINE : length);
    if (isHead || isBodiless(status)) this.#batch += head;
    else if (typeof body === "string") this.#batch += head + body;
    else {
      this.#socket.cork();
      this.#socket.write(this.#batch + head);
      this.#socket.write(body);
      this.#socket.uncork();
      this.#batch = "";
      this.#flush();
    }
    if (isLast) this.#last("");
  }

  #writeWhole(bytes: Buffer): void {
    if (this.#batch !== "") this.#socket.write(this.#batch);
    this.#batch = "";
    this.#socket.write(bytes);
    this.#flush();
  }

  /** Ends our side behind what was written, and the connection soon after: one whose other side never ends would be half open for ever. */
  #last(text: string): void {
    this.#batch += text;
    this.#phase = "closing";
    this.#forget();
    this.#deadline = this.#server.tickAfter(this.#server.options.answerTimeoutMs);
    this.#flush();
    this.#socket.end(() => {
      this.#deadline = this.#server.tickAfter(LINGER_MS);
    });
    this.#socket.resume();
  }

  /** Lets everything leave. What the caller does not take is waited for before another request is answered: one answer is held, whatever it asks for. */
  #flush(): void {
    if (this.#batch !== "") this.#socket.write(this.#batch);
    this.#batch = "";
    if (this.#phase !== "reading" || this.#socket.writableLength === 0) return;
    this.#phase = "sending";
    this.#deadline = this.#server.tickAfter(this.#server.options.answerTimeoutMs);
    this.#onceTaken(() => {
      if (this.#phase !== "sending") return;
      this.#phase = "reading";
      this.#readerPhase = "idle";
      this.#goOn();
    });
  }

  /** @param act called when the kernel has everything that was written; not where the connection ends before */
  #onceTaken(act: () => void): void {
    this.#socket.write("", (error) => {
      if (error === null || error === undefined) act();
    });
  }

  /** Ends it at once. */
  #cut(): void {
    this.#phase = "closing";
    this.#forget();
    this.#socket.destroy();
  }

  #stream(response: StreamedResponse, isChunked: boolean): void {
    this.#phase = "streaming";
    this.#deadline = NEVER;
    const coding = isChunked ? "Transfer-Encoding: chunked\r\n" : "";
    this.#batch += answerHead(response.status, response.headers, CLOSE_LINE + coding);
    this.#flush();
    const sink = new PipedSink(this.#pipe(isChunked), this.#server.options.stallTimeoutMs);
    this.#sink = sink;
    this.#farewell = response.farewell?.bind(response);
    const stop = response.open(sink);
    sink.onEnd(() => {
      this.#sink = null;
      stop();
    });
    if (this.#server.areLast) this.leave();
  }

  #pipe(isChunked: boolean): Pipe {
    const socket = this.#socket;
    let isWaiting = false;
    return {
      send: (bytes) => {
        socket.cork();
        if (isChunked) socket.write(`${Buffer.byteLength(bytes).toString(16)}\r\n`);
        socket.write(bytes);
        if (isChunked) socket.write("\r\n");
        socket.uncork();
        if (socket.writableLength === 0) return true;
        if (!isWaiting)
          this.#onceTaken(() => {
            isWaiting = false;
            this.#sink?.writable();
          });
        isWaiting = true;
        return false;
      },
      end: () => this.#last(isChunked ? "0\r\n\r\n" : ""),
      cut: () => this.#cut(),
    };
  }

  #onHalf(): void {
    this.#isHalf = true;
    if (this.#phase === "streaming" || (this.#phase === "reading" && this.#readerPhase === "body")) this.#cut();
    else if (this.#phase === "reading") this.#last("");
  }
}
