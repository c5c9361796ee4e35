/** Requests and responses as both servers speak them. Everything a handler may need is read before the first await. */
import type { MaybePromise } from "../model/maybe-promise.ts";

/** A body longer than this is not kept: the longest config (102,400 bytes) with every byte escaped fits. */
export const MAX_BODY_BYTES = 1_048_576;
/** Documents, whose texts have up to 4 MiB, and lists of 10,000 links: by the path of their route. */
const LONGER_BODIES: ReadonlyMap<string, number> = new Map([
  ["/api/v1/apply", 4_194_304],
  ["/api/v1/check/bulk", 2_097_152],
]);

/** @param path as sent, without the query */
export function mostBodyBytes(path: string): number {
  return LONGER_BODIES.get(path) ?? MAX_BODY_BYTES;
}

/** What is thrown away of a longer one, so that its sender still reads our answer; beyond it the connection ends. */
export const MAX_DISCARDED_BYTES = 16 * MAX_BODY_BYTES;

/** Connections at one time; further ones are closed at once. A proxy needs hundreds, an idle one ends after 10 s by itself. */
export const MAX_CONNECTIONS = 16_384;

export interface ApiRequest {
  /** As sent: methods are case-sensitive (RFC 9110 section 9.1). */
  readonly method: string;
  /** Raw, without the query. */
  readonly path: string;
  /** Raw, without the question mark; empty when there is none. */
  readonly query: string;
  /** Headers by their own name; empty when absent. */
  readonly apiKey: string;
  readonly authorization: string;
  readonly projectId: string;
  readonly forwardedFor: string;
  /** Whether it came by a proxy, or for another host than this machine's loopback; false proves nothing. */
  readonly isProxied: boolean;
  readonly ifNoneMatch: string;
  readonly acceptEncoding: string;
  /** null when absent; empty when it cannot be read. */
  readonly idempotencyKey: string | null;
  /** All cookies as one list, as sent. */
  readonly cookie: string;
  /** Of the page that asks, as a browser says it (RFC 6454 section 7). */
  readonly origin: string;
  /** Whom the caller means, with the port where it was named. */
  readonly host: string;
  /** `Sec-Fetch-Site`: how a browser says where the page that asks came from. */
  readonly secFetchSite: string;
  /** `X-Sonde-Page`: what our own page says, and a form of another cannot. */
  readonly page: string;
  readonly userAgent: string;
  /** What its reader understands, as a browser says it. */
  readonly acceptLanguage: string;
  /** Of the connection; a proxy's when one stands before us. */
  readonly remoteAddress: string;
  /** null when nothing was sent. */
  readonly body: Uint8Array | "too-large" | null;
}

export interface ApiResponse {
  readonly status: number;
  /** Names and values in turn: cheaper to walk than a map. */
  readonly headers: readonly string[];
  readonly body: string | Uint8Array;
  /** Of a list, where it is known already: what listed.ts would make of the body. */
  readonly tag?: string;
  /** What the audit log reads of it, where the body is too long to be parsed for that (long-answer.ts). */
  readonly answered?: Readonly<Record<string, unknown>>;
  /** It shows secrets: never compressed (listed.ts). */
  readonly holdsSecrets?: true;
  /** Its own in the place of those of every answer (security-headers.ts). */
  readonly security?: readonly string[];
  /** It is kept, and given to many: its headers are whole, and these are the bytes of head and body (whole-answer.ts). */
  readonly whole?: { bytes(): Buffer };
}

/** What a stream writes into. After the end of the stream all of it does nothing. */
export interface StreamSink {
  /**
   * Sends, or keeps what the reader does not take yet.
   * @returns false once the reader takes no more for now: the writer should hold back until `onDrain`
   */
  write(text: string): boolean;
  /** Whether the reader takes no more for now. It ends with its connection when that lasts, or when too much waits. */
  readonly full: boolean;
  /** @param drained called each time when the reader takes more again; a second one replaces the first */
  onDrain(drained: () => void): void;
  /** Ends the stream behind what was written. */
  end(): void;
}

/** An answer that goes on until its writer or its reader ends it. It is the last of its connection. */
export interface StreamedResponse {
  readonly status: 200;
  /** Names and values in turn; no length and no coding. */
  readonly headers: readonly string[];
  readonly security?: readonly string[];
  /**
   * Called exactly once, also when the reader is gone already. Never throws.
   * @returns what to do when the stream has ended, its writer, its reader or the server; called exactly once, not before open() returns
   */
  open(sink: StreamSink): () => void;
  /** Written last when the server stops; absent: nothing. */
  farewell?(): string;
}

export type ApiAnswer = ApiResponse | StreamedResponse;

export function isStream(answer: ApiAnswer): answer is StreamedResponse {
  return "open" in answer;
}

/** At once when nothing has to be waited for; never throws, never rejects. */
export type Handle = (request: ApiRequest) => MaybePromise<ApiAnswer>;

export interface ListenOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly handle: Handle;
  /** A body that is not complete by then ends its connection. */
  readonly bodyTimeoutMs: number;
  /** An answer that is not taken by then ends its connection. */
  readonly answerTimeoutMs: number;
  /** A stream whose reader does not catch up in this time ends with its connection. */
  readonly stallTimeoutMs: number;
  /** How long close() leaves kept connections to those that may just be sending on them: an answer then ends its connection. */
  readonly lingerMs: number;
  /** How long close() waits for what is in flight, the lingering included. */
  readonly drainTimeoutMs: number;
}

export interface HttpServer {
  readonly kind: "net" | "node";
  readonly port: number;
  /** Ends the streams, takes no more connections, answers what is in flight and what kept connections still bring, then closes the rest. */
  close(): Promise<void>;
}

/** The port cannot be had: one line that says what to do. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

/** One line that says what to do. */
export function listenFailure(code: string, host: string, port: number): string {
  switch (code) {
    case "EADDRINUSE":
      return `${host} port ${port} is taken: stop what listens there, or set SONDE_PORT to another port`;
    case "EACCES":
      return `port ${port} may not be opened by this user: set SONDE_PORT to one above 1023`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `${host} is not an address of this machine: set SONDE_HOST to one that is, such as 127.0.0.1 or 0.0.0.0`;
    default:
      return `cannot listen on ${host} port ${port}${code === "" ? "" : ` (${code})`}: set SONDE_HOST and SONDE_PORT`;
  }
}

/** 204 and 304 have no body and no length (RFC 9110 sections 15.3.5 and 15.4.5). */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}

export const JSON_HEADERS: readonly string[] = ["Content-Type", "application/json"];

export function json(status: number, body: unknown, headers: readonly string[] = JSON_HEADERS): ApiResponse {
  return { status, headers, body: JSON.stringify(body) };
}

export function ok(body: unknown): ApiResponse {
  return { status: 200, headers: JSON_HEADERS, body: JSON.stringify(body) };
}
