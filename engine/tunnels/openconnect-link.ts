/** One TLS connection to an OpenConnect server: requests and their answers one after the other, and after CONNECT the tunnel's frames. */
import type { TLSSocket } from "node:tls";
import { faultOfAbort, NetworkFault } from "../net/fault.ts";
import { HttpSyntaxError } from "../protocols/http/syntax-error.ts";
import {
  CstpError,
  encodeFrame,
  encodeGoodbye,
  FRAME,
  type Frame,
  FrameReader,
  reasonOf,
} from "../protocols/openconnect/cstp.ts";
import { AnswerParser, encodeRequest, type HttpAnswer, type HttpRequest } from "../protocols/openconnect/http.ts";
import { closedBeforeLogin, needsCertificate, unexpected } from "../protocols/openconnect/refusals.ts";

/** A check sees some 10 kB of a server; beyond this it is drowning us. */
const RECEIVED_LIMIT_BYTES = 8 * 1024 * 1024;
/** What waits to be sent to a server that does not read; more is dropped, as any network does. */
const WAITING_LIMIT_BYTES = 64 * 1024;

interface Waiting {
  readonly parser: AnswerParser;
  readonly isConnect: boolean;
  resolve(answer: HttpAnswer): void;
  reject(fault: Error): void;
}

export class OpenconnectLink {
  readonly #socket: TLSSocket;
  readonly #signal: AbortSignal;
  readonly #now: () => number;
  /** The server has asked for a client certificate, and there is none: only with such a request it names signature algorithms. */
  readonly #asksForCertificate: boolean;
  #waiting: Waiting | null = null;
  #frames: FrameReader | null = null;
  #listener: ((packet: Uint8Array, atMs: number) => void) | null = null;
  #onGone: (() => void) | null = null;
  #received = 0;
  #isOver = false;
  #hasAnswered = false;
  #isLeaving = false;
  #ending: string | null = null;
  #fault: Error | null = null;

  /** @param signal ends the socket below */
  constructor(socket: TLSSocket, signal: AbortSignal, now: () => number) {
    this.#socket = socket;
    this.#signal = signal;
    this.#now = now;
    this.#asksForCertificate = socket.getSharedSigalgs().length > 0;
    socket.on("data", (bytes: Buffer) => this.#receive(bytes));
    socket.once("close", () => this.#leave());
  }

  /** Nothing more can be asked here. */
  get isOver(): boolean {
    return this.#isOver || this.#socket.destroyed || this.#socket.readableEnded;
  }

  /** Why the server has ended the tunnel; null while it has not. */
  get ending(): string | null {
    return this.#ending;
  }

  /** Why this client has ended the tunnel; null while it has not. */
  get fault(): Error | null {
    return this.#fault;
  }

  ask(request: HttpRequest): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const isConnect = request.method === "CONNECT";
      this.#waiting = { parser: new AnswerParser(request.method), isConnect, resolve, reject };
      if (this.isOver) this.#leave();
      else this.#socket.write(encodeRequest(request));
    });
  }

  send(ipPacket: Uint8Array): void {
    this.#sendFrame(FRAME.data, ipPacket);
  }

  onPacket(listener: ((packet: Uint8Array, atMs: number) => void) | null): void {
    this.#listener = listener;
  }

  /** Says that the session is over. @param onGone called once the server has closed */
  sayGoodbye(onGone: () => void): void {
    if (this.isOver || this.#frames === null) {
      onGone();
      return;
    }
    this.#onGone = onGone;
    this.#isLeaving = true;
    this.#socket.end(encodeGoodbye("the check is over"));
  }

  drop(): void {
    this.#socket.destroy();
  }

  #receive(bytes: Buffer): void {
    this.#received += bytes.length;
    try {
      if (this.#received > RECEIVED_LIMIT_BYTES) throw unexpected("The server floods this checker");
      if (this.#frames !== null) this.#readFrames(this.#frames, bytes);
      else this.#readAnswer(bytes);
    } catch (error) {
      this.#fail(faultOf(error));
    }
  }

  #readAnswer(bytes: Buffer): void {
    const waiting = this.#waiting;
    // No request is open.
    if (waiting === null) return;
    const answer = waiting.parser.push(bytes);
    if (answer === undefined) return;
    this.#waiting = null;
    this.#hasAnswered = true;
    this.#isOver = answer.isLast;
    waiting.resolve(answer);
    if (!waiting.isConnect || answer.status !== 200) return;
    this.#isOver = false;
    this.#frames = new FrameReader();
    this.#readFrames(this.#frames, waiting.parser.rest);
  }

  #readFrames(frames: FrameReader, bytes: Buffer): void {
    const atMs = this.#now();
    frames.push(bytes, (frame) => this.#take(frame, atMs));
  }

  #take(frame: Frame, atMs: number): void {
    if (frame.type === FRAME.data) this.#listener?.(frame.payload, atMs);
    else if (frame.type === FRAME.dpdRequest) this.#sendFrame(FRAME.dpdResponse, frame.payload);
    else if (frame.type === FRAME.disconnect || frame.type === FRAME.terminate) this.#endedWith(reasonOf(frame));
  }

  #sendFrame(type: number, payload: Uint8Array): void {
    if (this.isOver || this.#socket.writableLength > WAITING_LIMIT_BYTES) return;
    this.#socket.write(encodeFrame(type, payload));
  }

  /** What follows our farewell says nothing. */
  #endedWith(reason: string): void {
    if (!this.#isLeaving) this.#ending ??= reason;
  }

  #fail(fault: Error): void {
    if (this.#frames !== null) this.#fault ??= fault;
    this.#waiting?.reject(fault);
    this.#waiting = null;
    this.#socket.destroy();
  }

  /** The connection is gone. */
  #leave(): void {
    this.#isOver = true;
    this.#onGone?.();
    if (this.#frames !== null) this.#endedWith("it closed the connection");
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting === null) return;
    const answer = this.#signal.aborted ? undefined : waiting.parser.end();
    if (answer === undefined) waiting.reject(this.#endOf());
    else waiting.resolve(answer);
  }

  #endOf(): Error {
    if (this.#signal.aborted) return faultOfAbort(this.#signal);
    const { errored } = this.#socket;
    const code = errored !== null && "code" in errored ? String(errored.code) : "";
    if (code.endsWith("CERTIFICATE_REQUIRED")) return needsCertificate();
    if (this.#hasAnswered) {
      return new NetworkFault("closed", "The server closed the connection in the middle of the login", {
        peerAnswered: true,
      });
    }
    // Over TLS 1.3 a server sees only after our handshake that the certificate is missing, and ocserv then closes without an alert.
    return this.#asksForCertificate ? needsCertificate() : closedBeforeLogin();
  }
}

function faultOf(error: unknown): Error {
  if (error instanceof HttpSyntaxError) return unexpected(`The answer is not valid HTTP: ${error.message}`);
  if (error instanceof CstpError) return unexpected(`The tunnel cannot be read: ${error.message}`);
  return error instanceof Error ? error : new Error("an answer cannot be read");
}
