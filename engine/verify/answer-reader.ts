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
  #pieces: Buffer[] = [];
  #bytes = 0;
  #answer: Answer | null = null;

  constructor(endpoint: VerifyEndpoint, token: string) {
    this.#endpoint = endpoint;
    this.#token = token;
    this.#reader = new ResponseReader({
      head: (head: ResponseHead) => {
        this.#status = head.status;
        return true;
      },
      body: (bytes) => this.#take(bytes),
    });
  }

  /** What it says; null as long as more must be read. @throws HttpSyntaxError */
  push(bytes: Buffer): Answer | null {
    if (this.#reader.push(bytes)) this.#answer ??= this.#judge();
    return this.#answer;
  }

  /** Whether the connection is where the next answer would begin. */
  get isWhole(): boolean {
    return this.#reader.done && this.#bytes <= BODY_LIMIT_BYTES;
  }

  #take(bytes: Buffer): boolean {
    this.#bytes += bytes.length;
    // Valid during the call only.
    this.#pieces.push(Buffer.from(bytes));
    // Where a body has no length, the proof ends it.
    const judged = this.#judge();
    if (judged.kind === "proof" && this.#endpoint.proof !== "ip") this.#answer = judged;
    return this.#bytes <= BODY_LIMIT_BYTES;
  }

  #judge(): Answer {
    const body = Buffer.concat(this.#pieces).subarray(0, BODY_LIMIT_BYTES).toString("latin1");
    return judgeAnswer(this.#endpoint, this.#token, this.#status, body);
  }

  /** The connection has ended: what there is must do. */
  end(): Answer | null {
    return this.#status === 0 || this.#reader.end() !== null ? this.#answer : (this.#answer ?? this.#judge());
  }
}
