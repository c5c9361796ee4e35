/**
 * One verify endpoint asked over one connection, through a core's local SOCKS port or directly, over HTTP or HTTPS. The network's words end in a
 * result, never in an exception. Over plain HTTP a second request on the opened path measures the round trip; over TLS the only one does.
 */
import { isIP } from "node:net";
import { Duplex } from "node:stream";
import { type SecureContext, type TLSSocket, connect as tlsConnect } from "node:tls";
import type { TcpStream, TcpStreamListener } from "../../native/tcp-stream.ts";
import { connectRequest, greeting, SocksReplies } from "../protocols/socks/client.ts";
import type { Transport } from "../transport/transport.ts";
import { VerifyAnswer } from "./answer-reader.ts";
import { type Exit, requestOf, type VerifyEndpoint } from "./endpoint.ts";
import type { OpenLine } from "./line.ts";

/** Codes of Node for an answer that is no TLS at all; others are about a certificate, or an alert. */
const NO_TLS = /^(?:EPROTO|ERR_SSL_(?!.*ALERT))/;
/** Said of a connection that takes no second request. */
const CLOSES = /^HTTP\/1\.0|\nconnection: *close/i;
/** Of an answer's first piece, where its head is. */
const HEAD_BYTES = 2_048;
/** How long the second answer is awaited: some cores do not report that a connection has ended, ms. */
const MIN_PATIENCE_MS = 1_000;

export interface ExchangeOptions {
  readonly open: OpenLine;
  /** Of the local port; null: the endpoint itself is at the other end. */
  readonly login: { readonly user: string; readonly password: string } | null;
  /**
   * Sends the first bytes along with CONNECT: xray answers at once and gives some servers 100 ms for what follows. sing-box loses what comes before
   * its answer.
   */
  readonly isEager: boolean;
  readonly endpoint: VerifyEndpoint;
  readonly token: string;
  /** Asked for over https only. */
  readonly secureContext: () => SecureContext;
  /** Monotonic ms. */
  readonly now: () => number;
  readonly after: Transport["after"];
  /** Read of the answer's body before it is judged, and no further; absent: as much as a proof is long. */
  readonly bodyBytes?: number;
}

export type Passage =
  | {
      readonly kind: "passed";
      /** One request and its answer on the opened path. */
      readonly latencyMs: number;
      /** From asking for the path to the first byte through it. */
      readonly firstByteMs: number;
      readonly exit: Exit | null;
    }
  /** The connection itself never stood: nothing was asked. */
  | { readonly kind: "unreached" }
  /** The local port did not open the path. @member code of RFC 1928, section 6 */
  | { readonly kind: "no-path"; readonly code: number | null }
  /** It ended before the answer was whole. @member heard whether any byte had come through */
  | { readonly kind: "closed"; readonly heard: boolean; readonly afterMs: number }
  /** Something else answered than the endpoint. @member isComplaint it could not read what we sent */
  | { readonly kind: "other"; readonly words: string; readonly isComplaint: boolean };

export interface Exchange {
  readonly done: Promise<Passage>;
  /** The local port has let us in: a core that hangs does not. */
  readonly isLetIn: boolean;
  /** The local port says that the path is open, whatever that means to its core. */
  readonly isOpen: boolean;
  /** A byte has come through. */
  readonly heard: boolean;
  /** Of the latest answer's body. */
  received(): { readonly bytes: number; readonly sinceRequestMs: number };
  /** Ends it; `done` is then left as it is. */
  close(): void;
}

export function startExchange(options: ExchangeOptions): Exchange {
  return new RunningExchange(options);
}

class RunningExchange implements Exchange, TcpStreamListener {
  readonly done: Promise<Passage>;
  isLetIn = false;
  isOpen: boolean;
  heard = false;
  readonly #options: ExchangeOptions;
  readonly #replies = new SocksReplies();
  readonly #startedAt: number;
  readonly #line: TcpStream;
  #isConnected = false;
  #settle: (passage: Passage) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #answer: VerifyAnswer;
  #isOver = false;
  #sentAt = 0;
  #heardAt = 0;
  #firstByteMs: number | null = null;
  /** What the second request needs of the first. */
  #passed: { readonly latencyMs: number; readonly exit: Exit | null } | null = null;
  #forget: () => void = () => {};
  #secure: TLSSocket | null = null;
  #carrier: Carrier | null = null;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    const { open, login, endpoint, token, now, bodyBytes } = options;
    this.done = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#reject = reject;
    });
    this.isOpen = login === null;
    this.#answer = new VerifyAnswer(endpoint, token, bodyBytes);
    this.#startedAt = now();
    this.#line = open(this);
  }

  onConnected(): void {
    this.#isConnected = true;
    this.#safely(() => this.#begin());
  }

  onBytes(bytes: Buffer): void {
    this.#safely(() => this.#hear(bytes));
  }

  onEnd(): void {
    this.#ended();
  }

  onFailed(): void {
    if (this.#isConnected) this.#ended();
    else this.#end({ kind: "unreached" });
  }

  received(): { readonly bytes: number; readonly sinceRequestMs: number } {
    return { bytes: this.#answer.bytes, sinceRequestMs: this.#heardAt - this.#sentAt };
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#tearDown();
  }

  /** A flaw in here is this check's, and not the end of everything else in its thread. */
  #safely(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#reject(error);
      this.close();
    }
  }

  #begin(): void {
    if (this.#isOver) return;
    const { login, endpoint, isEager } = this.#options;
    const first =
      login === null ? [] : [greeting(login.user, login.password), connectRequest(endpoint.host, endpoint.port)];
    const isReady = login === null || isEager;
    if (endpoint.isHttps) {
      this.#carrier = new Carrier(this.#line, first, isReady);
      this.#secure = this.#startTls(this.#carrier);
      return;
    }
    if (isReady) first.push(this.#request());
    this.#line.send(Buffer.concat(first));
  }

  #request(): Buffer {
    this.#sentAt = this.#options.now();
    return requestOf(this.#options.endpoint, this.#options.token);
  }

  #hear(bytes: Buffer): void {
    if (this.#isOver) return;
    this.isLetIn = true;
    if (this.isOpen) {
      this.#receive(bytes);
      return;
    }
    const read = this.#replies.push(bytes);
    if (read.kind === "refused") this.#end({ kind: "no-path", code: read.code });
    if (read.kind !== "done") return;
    this.isOpen = true;
    if (this.#carrier !== null) this.#carrier.opened();
    else if (!this.#options.isEager) this.#line.send(this.#request());
    if (read.rest.length > 0) this.#receive(read.rest);
  }

  #receive(bytes: Buffer): void {
    this.heard = true;
    this.#firstByteMs ??= this.#options.now() - this.#startedAt;
    // Valid during the call only.
    if (this.#carrier !== null) this.#carrier.push(Buffer.from(bytes));
    else this.#read(bytes);
  }

  #read(bytes: Buffer): void {
    const { now, endpoint, token, bodyBytes } = this.#options;
    this.#heardAt = now();
    const latencyMs = this.#heardAt - this.#sentAt;
    let answer: ReturnType<VerifyAnswer["push"]>;
    try {
      answer = this.#answer.push(bytes);
    } catch {
      this.#other("something that is not HTTP", true);
      return;
    }
    if (answer === null) return;
    if (answer.kind === "other") {
      this.#other(answer.words, answer.isComplaint);
      return;
    }
    const { exit } = answer;
    if (
      this.#passed === null &&
      bodyBytes === undefined &&
      !endpoint.isHttps &&
      this.#answer.isWhole &&
      !CLOSES.test(bytes.toString("latin1", 0, HEAD_BYTES))
    ) {
      this.#passed = { latencyMs, exit };
      this.#answer = new VerifyAnswer(endpoint, token);
      this.#forget = this.#options.after(Math.max(MIN_PATIENCE_MS, 3 * latencyMs), () => this.#other("", false));
      this.#line.send(this.#request());
      return;
    }
    this.#pass(latencyMs, exit);
  }

  /** What was proven stays proven, also when the second request fails. */
  #other(words: string, isComplaint: boolean): void {
    if (this.#passed === null) this.#end({ kind: "other", words, isComplaint });
    else this.#pass(this.#passed.latencyMs, this.#passed.exit);
  }

  #pass(latencyMs: number, exit: Exit | null): void {
    this.#end({ kind: "passed", latencyMs, firstByteMs: this.#firstByteMs ?? latencyMs, exit });
  }

  #ended(): void {
    if (this.#isOver) return;
    if (this.#secure !== null && this.heard) {
      // Its last records are read first; it then says so itself.
      this.#carrier?.push(null);
      return;
    }
    const answer = this.#answer.end();
    if (this.#passed !== null) this.#pass(this.#passed.latencyMs, this.#passed.exit);
    else if (answer?.kind === "proof") this.#pass(this.#options.now() - this.#sentAt, answer.exit);
    else this.#end({ kind: "closed", heard: this.heard, afterMs: this.#options.now() - this.#startedAt });
  }

  #end(passage: Passage): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#settle(passage);
    this.#tearDown();
  }

  /** TLS ends from above (transport/stream.ts). */
  #tearDown(): void {
    this.#forget();
    this.#secure?.destroy();
    this.#line.close();
  }

  #startTls(carrier: Carrier): TLSSocket {
    const { endpoint, secureContext } = this.#options;
    const secure = tlsConnect({
      socket: carrier,
      secureContext: secureContext(),
      host: endpoint.host,
      servername: isIP(endpoint.host) === 0 ? endpoint.host : "",
      ALPNProtocols: ["http/1.1"],
    });
    secure.on("error", (error: NodeJS.ErrnoException) => {
      if (!this.heard || error.code === "ECONNRESET") this.#endedWithin();
      else
        this.#other(`no valid TLS of ${endpoint.host} (${error.code ?? "handshake"})`, NO_TLS.test(error.code ?? ""));
    });
    secure.on("secureConnect", () => secure.write(this.#request()));
    secure.on("data", (bytes: Buffer) => {
      if (!this.#isOver) this.#safely(() => this.#read(bytes));
    });
    secure.on("end", () => this.#endedWithin());
    secure.on("close", () => this.#endedWithin());
    return secure;
  }

  #endedWithin(): void {
    if (this.#isOver) return;
    const answer = this.#answer.end();
    if (answer?.kind === "proof") this.#pass(this.#options.now() - this.#sentAt, answer.exit);
    else this.#end({ kind: "closed", heard: this.heard, afterMs: this.#options.now() - this.#startedAt });
  }
}

/** What TLS takes for its connection: its first record goes out along with the SOCKS requests, or after their answers. */
class Carrier extends Duplex {
  readonly #line: TcpStream;
  #first: readonly Buffer[];
  #isReady: boolean;
  #held: (() => void) | null = null;

  constructor(line: TcpStream, first: readonly Buffer[], isReady: boolean) {
    super();
    this.#line = line;
    this.#first = first;
    this.#isReady = isReady;
    // A destroyed carrier says so here as well; what it means comes from above.
    this.on("error", () => {});
    if (isReady) return;
    line.send(Buffer.concat(first));
    this.#first = [];
  }

  opened(): void {
    this.#isReady = true;
    this.#held?.();
    this.#held = null;
  }

  override _read(): void {}

  override _write(records: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const send = (): void => {
      const all = this.#first.length === 0 ? records : Buffer.concat([...this.#first, records]);
      this.#first = [];
      this.#line.send(all);
      done();
    };
    if (this.#isReady) send();
    else this.#held = send;
  }
}
