/** What one response means for a check: status judged, redirect noted, body searched. Pure but for zlib's threads. */
import type { ProbeContext } from "../contract/probe.ts";
import { NetworkFault } from "../net/fault.ts";
import { codingsOf, type Decoder, decodeContent } from "../protocols/http/content-coding.ts";
import type { ResponseHead } from "../protocols/http/head.ts";
import { type Hop, isRedirect } from "../protocols/http/hop.ts";
import { BODY_LIMIT_BYTES, type ResponseListener } from "../protocols/http/response.ts";
import { isAmong } from "../protocols/http/status-codes.ts";
import { charsetOf, searchText, type TextSearch, textOf } from "../protocols/http/text-search.ts";
import type { WebPlan } from "./plan.ts";

export class Answer implements ResponseListener {
  readonly #plan: WebPlan;
  /** An answer to HEAD is over with its headers, whatever they say of a body. */
  readonly #hasBody: boolean;
  readonly #context: Pick<ProbeContext, "phase">;
  #head: ResponseHead | null = null;
  #search: TextSearch | null = null;
  #decoder: Decoder | null = null;
  /** The body, where it is looked into as a whole. */
  #pieces: Buffer[] | null = null;
  #wireBytes = 0;

  constructor(plan: WebPlan, { parts }: Hop, context: Pick<ProbeContext, "phase">) {
    this.#plan = plan;
    this.#hasBody = parts.method !== "HEAD";
    this.#context = context;
  }

  get status(): number {
    return this.#head?.status ?? 0;
  }

  get accepted(): boolean {
    return isAmong(this.#plan.accepted, this.status);
  }

  /** Where it sends us; null when it does not, also when a redirect's own code is accepted (docs/api-contract.md#uptime-fields). */
  get location(): string | null {
    if (this.accepted || this.#plan.maxRedirects === 0) return null;
    return isRedirect(this.status) ? (this.#head?.location ?? null) : null;
  }

  /** Whether the keyword was in the body; call finish() first. */
  get found(): boolean {
    return this.#search?.found ?? false;
  }

  head(head: ResponseHead): boolean {
    this.#head = head;
    this.#context.phase("transfer");
    if (!this.accepted || !this.#hasBody) return false;
    if (this.#plan.keyword !== null) this.#search = searchText(this.#plan.keyword, charsetOf(head.contentType));
    if (this.#plan.rules !== null) this.#pieces = [];
    if (this.#search !== null || this.#pieces !== null) this.#openDecoder(head);
    return true;
  }

  body(bytes: Buffer): boolean {
    this.#wireBytes += bytes.length;
    if (this.#decoder !== null) return this.#decoder.push(bytes);
    this.#take(bytes);
    return true;
  }

  /** Ends the search; what it returns waits for what is still being decoded. */
  finish(): Promise<void> | undefined {
    if (this.#decoder !== null) return this.#finishDecoding(this.#decoder);
    this.#search?.end();
    return undefined;
  }

  async #finishDecoding(decoder: Decoder): Promise<void> {
    try {
      await decoder.end(this.#wireBytes >= BODY_LIMIT_BYTES);
    } catch (error) {
      throw new NetworkFault("protocol-error", "The compressed body cannot be read", { cause: error });
    }
    this.#search?.end();
  }

  close(): void {
    this.#decoder?.close();
  }

  /** The whole text; call finish() first. */
  get text(): string {
    return textOf(Buffer.concat(this.#pieces ?? []), charsetOf(this.#head?.contentType ?? null));
  }

  /** Whether the text ends where our reading did; call finish() first. */
  get isCut(): boolean {
    return (this.#pieces ?? []).reduce((sum, { length }) => sum + length, 0) >= BODY_LIMIT_BYTES;
  }

  /** Copied, because the piece belongs to the socket. */
  #take(piece: Uint8Array): void {
    this.#search?.push(piece);
    this.#pieces?.push(Buffer.from(piece));
  }

  #openDecoder(head: ResponseHead): void {
    const codings = codingsOf(head.contentEncoding);
    if (codings === undefined) {
      throw new NetworkFault("protocol-error", `The body's encoding is not known: ${head.contentEncoding ?? ""}`);
    }
    if (codings.length > 0) this.#decoder = decodeContent(codings, BODY_LIMIT_BYTES, (piece) => this.#take(piece));
  }
}
