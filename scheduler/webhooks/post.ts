/**
 * One attempt: POST over a new connection, whose address the guard has judged at this dial. Redirects are not followed. The status
 * decides; the body of the answer is discarded, and read up to a bound only.
 */

import { type IncomingMessage, request as requestHttp } from "node:http";
import { DeadlinePassed, NetworkFault } from "../../engine/net/fault.ts";
import { dialHttp } from "../../engine/transport/dial-http.ts";
import type { Transport } from "../../engine/transport/transport.ts";
import { isDelivered } from "../../model/webhook.ts";

/** From the first look-up to the status, ms (docs/api-contract.md#webhooks). */
export const ATTEMPT_MS = 15_000;
/** How much a receiver may send after its status, and for how long, before the connection is closed. */
const BODY_BYTES = 64 * 1_024;
const BODY_MS = 1_000;

export interface PostOutcome {
  /** null: no answer came. */
  readonly statusCode: number | null;
  /** null: delivered. */
  readonly error: string | null;
}

/** Never rejects: every error is an outcome. An abort is a failure like others; the caller knows that it aborted. */
export type Post = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
) => Promise<PostOutcome>;

export function createPost(transport: Transport, userAgent: string): Post {
  return async (url, headers, body, signal) => {
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    const timer = setTimeout(abort, ATTEMPT_MS);
    signal.addEventListener("abort", abort, { once: true });
    try {
      const all = { ...headers, "user-agent": userAgent };
      const statusCode = await exchange(transport, new URL(url), all, body, controller.signal);
      return { statusCode, error: refusalOf(statusCode) };
    } catch (error) {
      return { statusCode: null, error: wordsOf(error) };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      // The transport closes its sockets by their signal.
      controller.abort();
    }
  };
}

async function exchange(
  transport: Transport,
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<number> {
  const socket = await dialHttp(transport, url, signal);
  return new Promise((resolve, reject) => {
    const request = requestHttp({
      createConnection: () => socket,
      method: "POST",
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, "content-length": Buffer.byteLength(body), connection: "close" },
    });
    // Also errors after the answer: they change nothing, but an uncaught one would end the process.
    request.on("error", (error) => reject(signal.aborted ? new DeadlinePassed() : error));
    request.once("close", () => reject(new Error("the connection ended without an answer")));
    request.once("response", (response) => {
      const { statusCode } = response;
      if (statusCode === undefined) return reject(new Error("the answer has no status"));
      resolve(drained(response).then(() => statusCode));
    });
    request.end(body);
  });
}

/** Resolves when the body has ended or its bound is reached. Waiting for the end lets the receiver finish; it changes no outcome. */
function drained(response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let sizeBytes = 0;
    const timer = setTimeout(end, BODY_MS);
    function end(): void {
      clearTimeout(timer);
      response.destroy();
      resolve();
    }
    response.on("data", (piece: Buffer) => {
      sizeBytes += piece.length;
      if (sizeBytes > BODY_BYTES) end();
    });
    response.on("error", end);
    response.once("close", end);
  });
}

function refusalOf(statusCode: number): string | null {
  if (isDelivered(statusCode)) return null;
  const isRedirect = statusCode >= 300 && statusCode < 400;
  return isRedirect ? `HTTP ${statusCode}: redirects are not followed` : `HTTP ${statusCode}`;
}

function wordsOf(error: unknown): string {
  if (error instanceof DeadlinePassed) return `no answer within ${ATTEMPT_MS / 1_000} s`;
  if (error instanceof NetworkFault) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined ? String(message ?? error) : `${code}`;
}
