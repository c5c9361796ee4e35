/** Requests and responses as both servers speak them. Everything a handler may need is read before the first await. */
import type { MaybePromise } from "../model/maybe-promise.ts";

/** A body longer than this is not kept: the longest config (102,400 bytes) with every byte escaped fits. */
export const MAX_BODY_BYTES = 1_048_576;
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
  /** It shows secrets: never compressed (listed.ts). */
  readonly holdsSecrets?: true;
}

/** At once when nothing has to be waited for; never throws, never rejects. */
export type Handle = (request: ApiRequest) => MaybePromise<ApiResponse>;

export interface ListenOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly handle: Handle;
  /** A body that is not complete by then ends its connection. */
  readonly bodyTimeoutMs: number;
  /** An answer that is not taken by then ends its connection. */
  readonly answerTimeoutMs: number;
  /** How long close() leaves kept connections to those that may just be sending on them: an answer then ends its connection. */
  readonly lingerMs: number;
  /** How long close() waits for what is in flight, the lingering included. */
  readonly drainTimeoutMs: number;
}

export interface HttpServer {
  readonly kind: "uws" | "node";
  readonly port: number;
  /** Takes no more connections, answers what is in flight and what kept connections still bring, then closes the rest. */
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
