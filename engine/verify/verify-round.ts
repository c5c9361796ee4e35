/** Verify endpoints asked through an open outbound until one proves the passage: the second when the first fails, or stays silent for long. */

import type { ProbeContext } from "../contract/probe.ts";
import type { OpenOutbound } from "../cores/outbound.ts";
import { whenAborted } from "../net/fault.ts";
import type { VerifyEndpoint } from "./endpoint.ts";
import { type Exchange, type Passage, startExchange } from "./exchange.ts";
import type { Seen } from "./share-link-verdict.ts";

export type Asked =
  | Extract<Passage, { kind: "passed" }>
  | { readonly kind: "failed"; readonly seen: readonly Seen[]; readonly endpoints: readonly VerifyEndpoint[] }
  /** The core's own port did not answer: nothing was asked. */
  | { readonly kind: "mute" };

/** How long the first endpoint may be silent before the second is asked beside it, ms. */
const PATIENCE_MS = 3_000;
/** Of a try's time, so that the second has some. */
const PATIENCE_SHARE = 0.4;
/** A core's own port lets its user in within a turn of its scheduler; so long when the machine is busy, ms. */
const MUTE_AFTER_MS = 3_000;
const TOKEN_BYTES = 12;

export function askThroughOutbound(outbound: OpenOutbound, limitMs: number, context: ProbeContext): Promise<Asked> {
  return new Round(outbound, limitMs, context).done;
}

class Round {
  readonly done: Promise<Asked>;
  readonly #outbound: OpenOutbound;
  readonly #context: ProbeContext;
  readonly #limitMs: number;
  /** Of every question that was begun. */
  readonly #endpoints: VerifyEndpoint[] = [];
  readonly #waiting: VerifyEndpoint[];
  readonly #running = new Set<Exchange>();
  readonly #seen: Seen[] = [];
  readonly #timers: (() => void)[] = [];
  #settle: (asked: Asked) => void = () => {};
  #fail: (error: unknown) => void = () => {};
  #isOver = false;

  constructor(outbound: OpenOutbound, limitMs: number, context: ProbeContext) {
    this.#outbound = outbound;
    this.#context = context;
    this.#limitMs = limitMs;
    this.done = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#fail = reject;
    });
    const chosen = context.verifier?.next() ?? [];
    // One endpoint alone is asked twice: that a connection ends once says little.
    this.#waiting = chosen.length === 1 ? [...chosen, ...chosen] : [...chosen];
    const { after } = context.transport;
    this.#timers.push(
      after(limitMs, () => this.#giveUp()),
      after(Math.min(PATIENCE_MS, limitMs * PATIENCE_SHARE), () => {
        this.#askAside();
        this.#askNext();
      }),
    );
    whenAborted(context, () => this.#giveUp());
    this.#askNext();
  }

  #askNext(): void {
    const endpoint = this.#waiting.shift();
    if (this.#isOver || endpoint === undefined) return;
    this.#endpoints.push(endpoint);
    this.#ask(endpoint).catch((error: unknown) => this.#end(() => this.#fail(error)));
  }

  /** Asks the endpoint directly too, so that by the end of the round it is known whether the endpoint itself works. */
  #askAside(): void {
    if (this.#isOver) return;
    for (const endpoint of this.#endpoints) void this.#context.verifier?.answersDirectly(endpoint);
    for (const endpoint of this.#waiting) void this.#context.verifier?.answersDirectly(endpoint);
  }

  async #ask(endpoint: VerifyEndpoint): Promise<void> {
    const { open, user, password, engine } = this.#outbound;
    const { transport, randomBytes, now, verifier } = this.#context;
    if (verifier === undefined) return;
    const exchange = startExchange({
      open,
      login: { user, password },
      isEager: engine === "xray",
      endpoint,
      token: Buffer.from(randomBytes(TOKEN_BYTES)).toString("hex"),
      secureContext: verifier.secureContext,
      now,
      after: transport.after,
    });
    this.#running.add(exchange);
    this.#timers.push(transport.after(Math.min(MUTE_AFTER_MS, this.#limitMs), () => this.#listen(exchange)));
    const passage = await exchange.done;
    this.#running.delete(exchange);
    this.#take(passage);
  }

  #take(passage: Passage): void {
    if (this.#isOver) return;
    if (passage.kind === "passed") {
      this.#end(() => this.#settle(passage));
      return;
    }
    // The core no longer listens on its port.
    if (passage.kind === "unreached") {
      this.#end(() => this.#settle({ kind: "mute" }));
      return;
    }
    this.#seen.push(passage);
    if (passage.kind !== "no-path") this.#askAside();
    // Without a way to the server there is nothing more to ask.
    const isLast = passage.kind === "no-path" || (this.#waiting.length === 0 && this.#running.size === 0);
    if (isLast) this.#giveUp();
    else this.#askNext();
  }

  /** The kernel accepts connections for a core that hangs, so only the silence after them shows it; an earlier login proves nothing. */
  #listen(exchange: Exchange): void {
    if (this.#running.has(exchange) && !exchange.isLetIn) this.#end(() => this.#settle({ kind: "mute" }));
  }

  #giveUp(): void {
    const silent = [...this.#running].map(({ isOpen }): Seen => ({ kind: "silent", isOpen }));
    this.#end(() => this.#settle({ kind: "failed", seen: [...this.#seen, ...silent], endpoints: this.#endpoints }));
  }

  #end(settle: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const cancel of this.#timers) cancel();
    settle();
    for (const exchange of this.#running) exchange.close();
  }
}
