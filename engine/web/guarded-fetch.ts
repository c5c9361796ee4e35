/** fetch() whose every connection, redirects included, is resolved and judged by our transport; answers are bounded. */

import type { Socket } from "node:net";
import { Agent, type buildConnector, fetch } from "undici";
import { dialHttp } from "../transport/dial-http.ts";
import type { Transport } from "../transport/transport.ts";
import { NeverPaused, tooLarge } from "./never-paused.ts";

export interface GuardedFetch {
  /** Rejects as fetch() does, also for an answer larger than the bound. Sends a body that is a text, and no other. */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  /** Ends connections and what waits for them. */
  close(): Promise<void>;
}

export interface GuardedFetchLimits {
  /** A body as it is sent and as it is decoded, each, bytes. */
  readonly bodyBytes: number;
  /** Name, connect and TLS together, ms. */
  readonly connectTimeoutMs: number;
}

export function createGuardedFetch(transport: Transport, limits: GuardedFetchLimits): GuardedFetch {
  const agent = new Agent({
    connect: (options, callback) => {
      connect(transport, options, limits.connectTimeoutMs).then(
        (socket) => callback(null, socket),
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
      );
    },
  });
  const dispatcher = agent.compose(
    (dispatch) => (options, handler) => dispatch(options, new NeverPaused(handler, limits.bodyBytes)),
  );
  return {
    async fetch(url, init = {}) {
      const response = await fetch(url, {
        method: init.method ?? "GET",
        headers: [...new Headers(init.headers)],
        redirect: init.redirect ?? "follow",
        ...(typeof init.body === "string" ? { body: init.body } : {}),
        ...(init.signal === undefined ? {} : { signal: init.signal }),
        dispatcher,
      });
      const body = await readBounded(response.body, limits.bodyBytes);
      // A body is not allowed with these (Fetch Standard, "null body status").
      const bodiless = [101, 204, 205, 304].includes(response.status);
      return new Response(bodiless ? null : body, { status: response.status, headers: [...response.headers] });
    },
    close: () => agent.destroy(),
  };
}

async function connect(transport: Transport, options: buildConnector.Options, timeoutMs: number): Promise<Socket> {
  // Sockets of the transport live no longer than their signal, so the timer is taken off once connected.
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    return await dialHttp(transport, options, controller.signal);
  } catch (error) {
    // Also ends a socket whose handshake failed.
    controller.abort();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function readBounded(body: AsyncIterable<Uint8Array> | null, limitBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const piece of body ?? []) {
    sizeBytes += piece.length;
    if (sizeBytes > limitBytes) throw tooLarge(limitBytes);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
