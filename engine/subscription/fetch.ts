/**
 * A subscription's body over HTTP: our own transport resolves and judges each hop at its dial; redirects, time and size are bounded, and a compressed
 * body counts as it is unpacked (docs/api-contract.md#subscriptions). Errors name the host only, because the rest of the address is a secret.
 */
import { type IncomingMessage, request as requestHttp } from "node:http";
import { decodeText } from "../../model/decode-text.ts";
import { classify } from "../net/classify.ts";
import { DeadlinePassed } from "../net/fault.ts";
import { ACCEPT_ENCODING, codingsOf, decodeContent } from "../protocols/http/content-coding.ts";
import { type Hop, hopTo, isRedirect, parseWebUrl, redirectedHop } from "../protocols/http/hop.ts";
import { boundInterim } from "../transport/interim.ts";
import type { DialContext, Transport } from "../transport/transport.ts";

/** Of one request, redirects included (docs/api-contract.md#subscriptions). */
const FETCH_MS = 30_000;
const MAX_REDIRECTS = 3;
/** As sent and as unpacked. */
const MAX_BYTES = 5 * 1024 * 1024;
/** A longer one is not kept, characters. */
const MAX_ETAG = 512;

export interface FetchOrder {
  readonly url: string;
  /** What we call ourselves: providers choose the format by it. */
  readonly agent: string;
  /** Of the body that is known already; null: none is. */
  readonly etag: string | null;
  /** Ends it early. */
  readonly signal?: AbortSignal;
}

export type Fetched =
  | { readonly kind: "body"; readonly text: string; readonly etag: string | null }
  /** The provider says that it is what the etag names. */
  | { readonly kind: "unchanged" };

/** It could not be had. The message is a whole sentence for people. */
export class FetchError extends Error {
  override readonly name = "FetchError";
  /** The provider did answer: to a client of another name it may say something else. */
  readonly hasAnswered: boolean;

  constructor(message: string, hasAnswered: boolean) {
    super(message);
    this.hasAnswered = hasAnswered;
  }
}

/** @throws FetchError */
export async function fetchBody(transport: Transport, { url, agent, etag, signal }: FetchOrder): Promise<Fetched> {
  const parsed = parseWebUrl(url);
  if (parsed === undefined) throw new FetchError("The address is not an http or https address.", false);
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const timer = setTimeout(abort, FETCH_MS);
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted === true) abort();
  try {
    return await follow(transport, hopTo(parsed, ACCEPT_ENCODING), { agent, etag }, controller.signal);
  } catch (error) {
    throw error instanceof FetchError ? error : faultOf(error, controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    // Sockets of the transport live as long as their signal.
    controller.abort();
  }
}

async function follow(
  transport: Transport,
  first: Hop,
  order: Pick<FetchOrder, "agent" | "etag">,
  signal: AbortSignal,
): Promise<Fetched> {
  let hop = first;
  for (let redirects = 0; ; redirects++) {
    const response = await ask(transport, hop, order, signal).catch((error: unknown) => {
      throw redirects === 0 ? error : afterRedirect(error, hop, signal);
    });
    const status = response.statusCode ?? 0;
    const { location } = response.headers;
    if (!isRedirect(status) || location === undefined) return read(response, order.etag, signal);
    response.destroy();
    if (redirects === MAX_REDIRECTS) throw new FetchError(`It redirects more than ${MAX_REDIRECTS} times.`, true);
    const next = redirectedHop(hop, location, ACCEPT_ENCODING);
    if (next === undefined) throw new FetchError("It redirects to an address that is not http or https.", true);
    hop = next;
  }
}

async function ask(
  transport: Transport,
  hop: Hop,
  { agent, etag }: Pick<FetchOrder, "agent" | "etag">,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const context: DialContext = { signal, phase() {}, tried() {}, answered() {} };
  const addresses = await transport.resolve(hop.host, hop.port, "both", context);
  const name = hop.servername === "" ? { host: hop.host } : { servername: hop.servername };
  const socket = hop.tls
    ? await transport.connectTls(addresses, hop.port, { ...name, ALPNProtocols: ["http/1.1"] }, context)
    : await transport.connectTcp(addresses, hop.port, context);
  return new Promise((resolve, reject) => {
    const condition = etag === null ? {} : { "if-none-match": etag };
    const request = requestHttp({
      createConnection: () => socket,
      path: hop.target,
      headers: { ...hop.headers, "user-agent": agent, connection: "close", ...condition },
    });
    boundInterim(request);
    // The listener stays after the answer too: later errors are ignored, and must not be uncaught.
    request.on("error", (error) => reject(signal.aborted ? new DeadlinePassed() : error));
    request.once("close", () => reject(new FetchError("The connection ended without an answer.", false)));
    request.once("response", resolve);
    request.end();
  });
}

async function read(response: IncomingMessage, etag: string | null, signal: AbortSignal): Promise<Fetched> {
  const status = response.statusCode ?? 0;
  if (status === 304 && etag !== null) {
    response.destroy();
    return { kind: "unchanged" };
  }
  if (status < 200 || status > 299) {
    response.destroy();
    throw new FetchError(`The provider answered with HTTP ${status}.`, true);
  }
  const codings = codingsOf(response.headers["content-encoding"] ?? null);
  if (codings === undefined) {
    response.destroy();
    throw new FetchError("The answer is packed in a way that is not known here.", true);
  }
  const pieces = await collect(response, codings, signal);
  const newEtag = response.headers.etag;
  const isUsable = newEtag !== undefined && newEtag.length <= MAX_ETAG && /^(?:W\/)?"[\x21\x23-\x7e]*"$/.test(newEtag);
  return { kind: "body", text: decodeText(pieces), etag: isUsable ? newEtag : null };
}

async function collect(response: IncomingMessage, codings: readonly string[], signal: AbortSignal): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  const take = (piece: Buffer): void => {
    pieces.push(piece);
    sizeBytes += piece.length;
  };
  // One byte above the limit, which shows that there is more.
  const decoder = codings.length === 0 ? undefined : decodeContent(codings, MAX_BYTES + 1, take);
  let wireBytes = 0;
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      wireBytes += piece.length;
      if (decoder === undefined) take(piece);
      else if (!decoder.push(piece)) break;
      if (wireBytes > MAX_BYTES || sizeBytes > MAX_BYTES) break;
    }
    if (wireBytes <= MAX_BYTES) await decoder?.end(sizeBytes > MAX_BYTES).catch(unreadable);
  } catch (error) {
    if (signal.aborted || error instanceof FetchError) throw error;
    throw new FetchError("The connection ended before the list was complete.", false);
  } finally {
    decoder?.close();
    response.destroy();
  }
  if (wireBytes > MAX_BYTES || sizeBytes > MAX_BYTES) {
    throw new FetchError(`The list is larger than ${MAX_BYTES / 1024 / 1024} MiB.`, true);
  }
  return Buffer.concat(pieces);
}

function unreadable(): never {
  throw new FetchError("The answer is packed, and cannot be unpacked.", true);
}

function afterRedirect(error: unknown, hop: Hop, signal: AbortSignal): unknown {
  const fault = error instanceof FetchError ? error : faultOf(error, signal);
  return new FetchError(`After a redirect to ${hop.url.host}: ${fault.message}`, fault.hasAnswered);
}

function faultOf(error: unknown, signal: AbortSignal): FetchError {
  if (signal.aborted) return new FetchError(`The provider did not answer within ${FETCH_MS / 1_000} s.`, false);
  const { message } = classify(error, "connect");
  return new FetchError(message.endsWith(".") ? message : `${message}.`, false);
}
