/** HTTP/1.1 as bare bytes with our own reader: what nearly every check takes, and what its cost depends on. */

import { NetworkFault } from "../net/fault.ts";
import { type Missing, type ResponseListener, ResponseReader } from "../protocols/http/response.ts";
import { HttpSyntaxError } from "../protocols/http/syntax-error.ts";
import type { AnswerReader, DialContext } from "../transport/transport.ts";

export const MISSING: Readonly<Record<Missing, string>> = {
  answer: "The server closed the connection without an answer",
  headers: "The server closed the connection in the middle of the headers",
  body: "The server closed the connection before the body was complete",
};

/** Reads one answer, and reports its progress to the check. */
export class FastAnswer implements AnswerReader {
  readonly #reader: ResponseReader;
  readonly #context: DialContext;
  #hasHeard = false;

  constructor(listener: ResponseListener, context: DialContext) {
    this.#reader = new ResponseReader(listener);
    this.#context = context;
  }

  connected(): void {
    this.#context.phase("request");
  }

  push(bytes: Buffer): boolean {
    if (!this.#hasHeard) {
      this.#hasHeard = true;
      this.#context.answered();
    }
    try {
      return this.#reader.push(bytes);
    } catch (error) {
      throw error instanceof HttpSyntaxError ? notHttp(error) : error;
    }
  }

  end(): NetworkFault | null {
    const missing = this.#reader.end();
    return missing === null ? null : new NetworkFault("closed", MISSING[missing]);
  }
}

export function notHttp(error: HttpSyntaxError): NetworkFault {
  return new NetworkFault("protocol-error", `The answer is not valid HTTP: ${error.message}`);
}
