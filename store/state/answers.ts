/**
 * Answers to requests that carried an Idempotency-Key, kept for a while: one that is sent again gets the same answer and does nothing twice.
 * In process they are in memory; with Redis they outlive the process and are shared by all.
 */

export type Begun =
  /** The first request with this key: keep() or forget() must follow. */
  | { readonly type: "first" }
  /** The same request is being answered now. */
  | { readonly type: "running" }
  /** The key was used for another request. */
  | { readonly type: "other" }
  | { readonly type: "answered"; readonly answer: string };

export interface Answers {
  /**
   * At once for all processes: of several that begin with one name, one is first.
   * @param request identifies the request's content, without blanks
   * @param runsMs how long the first may take; one that dies is forgotten then
   */
  begin(name: string, request: string, runsMs: number, nowMs: number): Promise<Begun>;
  keep(name: string, request: string, answer: string, keptMs: number, nowMs: number): Promise<void>;
  forget(name: string): Promise<void>;
}

/** Most bytes of all answers in memory, 200 bytes added for each; the oldest are dropped first. Those of a workspace's 10,000 keys of a day have room. */
const MOST_BYTES = 16 * 1_048_576;
const OVERHEAD_BYTES = 200;

interface Kept {
  readonly request: string;
  /** null while it is being answered. */
  readonly answer: string | null;
  readonly expiresAtMs: number;
}

export class MemoryAnswers implements Answers {
  readonly #kept = new Map<string, Kept>();
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes;
  }

  async begin(name: string, request: string, runsMs: number, nowMs: number): Promise<Begun> {
    const known = this.#kept.get(name);
    if (known === undefined || known.expiresAtMs <= nowMs) {
      this.#set(name, { request, answer: null, expiresAtMs: nowMs + runsMs });
      return { type: "first" };
    }
    if (known.request !== request) return { type: "other" };
    return known.answer === null ? { type: "running" } : { type: "answered", answer: known.answer };
  }

  async keep(name: string, request: string, answer: string, keptMs: number, nowMs: number): Promise<void> {
    this.#set(name, { request, answer, expiresAtMs: nowMs + keptMs });
  }

  async forget(name: string): Promise<void> {
    this.#drop(name);
  }

  #set(name: string, kept: Kept): void {
    this.#drop(name);
    this.#kept.set(name, kept);
    this.#bytes += sizeOf(kept);
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#mostBytes) break;
      this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    const kept = this.#kept.get(name);
    if (kept === undefined) return;
    this.#kept.delete(name);
    this.#bytes -= sizeOf(kept);
  }
}

function sizeOf({ answer }: Kept): number {
  // Sealed answers are ASCII, of which V8 keeps a byte for a character.
  return OVERHEAD_BYTES + (answer?.length ?? 0);
}
