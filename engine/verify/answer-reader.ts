/** Reads a verify endpoint's answer as far as it is framed or long enough, never to the end of the connection. */
import type { ResponseHead } from "../protocols/http/head.ts";
import { ResponseReader } from "../protocols/http/response.ts";
import { type Answer, judgeAnswer, type VerifyEndpoint } from "./endpoint.ts";

/** The longest answers, `trace`, are 300 bytes. */
const BODY_LIMIT_BYTES = 4_096;

export class VerifyAnswer {
  readonly #endpoint: VerifyEndpoint;
  readonly #token: string;
  readonly #reader: ResponseReader;
  #status = 0;
  #body: Buffer = Buffer.alloc(0);
  #bytes = 0;
  #answer: Answer | null = null;
  /** Before it is judged; null: as soon as it can be. */
  readonly #wantedBytes: number | null;

  /** @param wantedBytes of the body are read before it is judged; absent: as few as prove something */
  constructor(endpoint: VerifyEndpoint, token: string, wantedBytes: number | null = null) {
    this.#endpoint = endpoint;
    this.#token = token;
    this.#wantedBytes = wantedBytes;
    this.#reader = new ResponseReader(
      {
        head: (head: ResponseHead) => {
          this.#status = head.status;
          return true;
        },
        body: (bytes) => this.#take(bytes),
      },
      wantedBytes ?? undefined,
    );
  }

  /** What it says; null as long as more must be read. @throws HttpSyntaxError */
  push(bytes: Buffer): Answer | null {
    const before = this.#bytes;
    if (this.#reader.push(bytes)) this.#answer ??= this.#judge();
    else if (this.#wantedBytes !== null) return this.#answer;
    // Where a body has no length, the proof ends it. Asked once for what came together: of chunks it may be thousands.
    else if (this.#bytes > before && this.#endpoint.proof !== "ip") {
      const judged = this.#judge();
      if (judged.kind === "proof") this.#answer ??= judged;
    }
    return this.#answer;
  }

  /** Of the body so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the connection is where the next answer would begin. */
  get isWhole(): boolean {
    return this.#reader.done && this.#bytes <= BODY_LIMIT_BYTES;
  }

  #take(bytes: Buffer): boolean {
    // Valid during the call only. What does not fit is left out.
    const kept = Math.min(this.#bytes, BODY_LIMIT_BYTES);
    const wanted = Math.min(kept + bytes.length, BODY_LIMIT_BYTES);
    if (wanted > this.#body.length) {
      const larger = Buffer.allocUnsafe(Math.min(BODY_LIMIT_BYTES, 2 * wanted));
      this.#body.copy(larger, 0, 0, kept);
      this.#body = larger;
    }
    bytes.copy(this.#body, kept, 0, wanted - kept);
    this.#bytes += bytes.length;
    return this.#bytes < (this.#wantedBytes ?? BODY_LIMIT_BYTES + 1);
  }

  #judge(): Answer {
    const body = this.#body.toString("latin1", 0, Math.min(this.#bytes, BODY_LIMIT_BYTES));
    return judgeAnswer(this.#endpoint, this.#token, this.#status, body);
  }

  /** The connection has ended: what there is must do. */
  end(): Answer | null {
    return this.#status === 0 || this.#reader.end() !== null ? this.#answer : (this.#answer ?? this.#judge());
  }
}
