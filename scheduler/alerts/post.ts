/**
 * One attempt: POST over a connection of its own, whose address the guard has judged at this very dial. Redirects are not followed. The
 * status decides; the answer's body is thrown away, and no more of it than a bound is waited for.
 */
import { type IncomingMessage, request as requestHttp } from "node:http";
import { isIP } from "node:net";
import { DeadlinePassed, NetworkFault } from "../../engine/transport/fault.ts";
import type { DialContext, Transport } from "../../engine/transport/transport.ts";
import { isDelivered } from "../../model/webhook.ts";

/** From the first look-up to the status, ms (docs/api-contract.md#webhooks). */
export const ATTEMPT_MS = 15_000;
/** What a receiver may go on saying after its status before the connection is cut. */
const BODY_BYTES = 64 * 1_024;
const BODY_MS = 1_000;

export interface PostOutcome {
  /** null: no answer came. */
  readonly statusCode: number | null;
  /** null: delivered. */
  readonly error: string | null;
}

/** Never rejects: whatever happens is an outcome. An abort is a failure like others; the caller knows that it aborted. */
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
      // Sockets of the transport live as long as their signal.
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
  const context: DialContext = { signal, phase() {}, tried() {}, answered() {} };
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isTls = url.protocol === "https:";
  const port = Number(url.port) || (isTls ? 443 : 80);
  const addresses = await transport.resolve(host, port, "both", context);
  const name = isIP(host) === 0 ? { servername: host.replace(/\.$/, "") } : { host };
  const socket = isTls
    ? await transport.connectTls(addresses, port, { ...name, ALPNProtocols: ["http/1.1"] }, context)
    : await transport.connectTcp(addresses, port, context);
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

/** Resolves when the body has ended or enough of it came; its end is polite to wait for, and means nothing. */
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
