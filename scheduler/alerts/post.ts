/**
 * One attempt over HTTP: a request over a new connection, whose address the guard has judged at this dial. Redirects are not followed. Of the
 * answer its status, its headers and its first bytes are kept; the rest is read up to a bound only, and thrown away.
 */
import { type IncomingMessage, request as requestHttp } from "node:http";
import type { Socket } from "node:net";
import { StringDecoder } from "node:string_decoder";
import { classify } from "../../engine/net/classify.ts";
import { DeadlinePassed, NetworkFault } from "../../engine/net/fault.ts";
import { dialHttp } from "../../engine/transport/dial-http.ts";
import { boundInterim } from "../../engine/transport/interim.ts";
import type { Transport } from "../../engine/transport/transport.ts";
import type { HandshakeTurns } from "./attempts/turns.ts";
import type { ChannelAnswer, ChannelRequest } from "./channels/channel.ts";

/** From the first look-up to the status, ms (docs/api-contract.md#webhooks). */
export const ATTEMPT_MS = 15_000;
/** Of an answer that is kept: enough for a service's words. */
const KEPT_BYTES = 2_048;
/** How much a receiver may send after its status, and for how long, before the connection is closed. */
const BODY_BYTES = 64 * 1_024;
const BODY_MS = 1_000;

/** Why no answer came. */
export interface Fault {
  /** For people, one line. */
  readonly error: string;
  /** Nothing but a change of settings can help: the guard refuses the address. */
  readonly isRefused: boolean;
  /** The entry of SONDE_ALLOW_NETS that would open it. */
  readonly openedBy: string | null;
}

export type Exchanged =
  | { readonly answer: ChannelAnswer; readonly fault: null }
  | { readonly answer: null; readonly fault: Fault };

export interface Caller {
  readonly userAgent: string;
  /** Takes turns with others (attempts/turns.ts). 0: the service itself. */
  readonly projectId: number;
}

/** Never rejects. An abort is a failure like others; the caller knows that it aborted. */
export type Exchange = (request: ChannelRequest, caller: Caller, signal: AbortSignal) => Promise<Exchanged>;

export function createExchange(transport: Transport, turns: HandshakeTurns): Exchange {
  return async (request, { userAgent, projectId }, signal) => {
    try {
      return await withinAttempt(signal, async (ending) => {
        const headers = { ...request.headers, "user-agent": userAgent };
        const url = new URL(request.url);
        const socket = await dialHttp(transport, url, ending, (read) => turns.ask(projectId, read));
        return { answer: await exchange(socket, url, { ...request, headers }, ending), fault: null };
      });
    } catch (error) {
      return { answer: null, fault: faultOf(error) };
    }
  };
}

/**
 * Does the work with a signal that aborts when the attempt's time is over, when the caller's does, and when the work has ended: the transport
 * closes its sockets by it.
 */
export async function withinAttempt<T>(signal: AbortSignal, work: (ending: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const timer = setTimeout(abort, ATTEMPT_MS);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    controller.abort();
  }
}

export function faultOf(error: unknown): Fault {
  if (error instanceof DeadlinePassed)
    return { error: `no answer within ${ATTEMPT_MS / 1_000} s`, isRefused: false, openedBy: null };
  if (error instanceof NetworkFault) {
    return { error: error.message, isRefused: error.verdict === "misconfigured", openedBy: error.openedBy ?? null };
  }
  return { error: classify(error, null).message, isRefused: false, openedBy: null };
}

function exchange(
  socket: Socket,
  url: URL,
  { method, headers, body, mostAnswerBytes }: ChannelRequest,
  signal: AbortSignal,
): Promise<ChannelAnswer> {
  return new Promise((resolve, reject) => {
    const request = requestHttp({
      createConnection: () => socket,
      method,
      path: `${url.pathname}${url.search}`,
      headers: {
        ...headers,
        host: url.host,
        ...(body !== null && { "content-length": Buffer.byteLength(body) }),
        connection: "close",
      },
    });
    boundInterim(request);
    // Also errors after the answer: they change nothing, but an uncaught one would end the process.
    request.on("error", (error) => reject(signal.aborted ? new DeadlinePassed() : error));
    request.once("close", () => reject(new Error("the connection ended without an answer")));
    request.once("response", (response) => {
      const { statusCode: status } = response;
      if (status === undefined) return reject(new Error("the answer has no status"));
      const text = mostAnswerBytes === undefined ? beginning(response) : whole(response, mostAnswerBytes);
      resolve(text.then((read) => ({ status, headers: headersOf(response), text: read })));
    });
    request.end(body ?? undefined);
  });
}

function headersOf({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const texts = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]);
  return Object.fromEntries(texts.filter(([, value]) => value !== undefined));
}

/**
 * The first bytes of the body, once it has ended or its bound is reached. Waiting for the end lets the receiver finish; how it ends changes no
 * outcome.
 */
function beginning(response: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const decoder = new StringDecoder("utf8");
    let text = "";
    let sizeBytes = 0;
    const timer = setTimeout(end, BODY_MS);
    function end(): void {
      clearTimeout(timer);
      response.destroy();
      resolve(text);
    }
    response.on("data", (piece: Buffer) => {
      if (sizeBytes < KEPT_BYTES) text += decoder.write(piece.subarray(0, KEPT_BYTES - sizeBytes));
      sizeBytes += piece.length;
      if (sizeBytes > BODY_BYTES) end();
    });
    response.on("error", end);
    response.once("close", end);
  });
}

function whole(response: IncomingMessage, mostBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let sizeBytes = 0;
    response.on("data", (piece: Buffer) => {
      pieces.push(piece);
      sizeBytes += piece.length;
      if (sizeBytes > mostBytes)
        response.destroy(new NetworkFault("protocol-error", `The answer is larger than ${mostBytes} bytes`));
    });
    response.on("error", reject);
    response.once("close", () => {
      if (response.complete) resolve(Buffer.concat(pieces).toString("utf8"));
      else reject(new NetworkFault("closed", "The answer ended in its midst"));
    });
  });
}
