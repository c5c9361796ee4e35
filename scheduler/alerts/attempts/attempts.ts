/** How one attempt of a webhook or a channel reaches its receiver: from the caller's thread, or from a thread of its own (start.ts). */
import type { EngineOptions } from "../../../engine/contract/options.ts";
import { createTransport } from "../../../engine/transport/index.ts";
import type { Transport } from "../../../engine/transport/transport.ts";
import type { MailOut } from "../mail.ts";
import { createExchange, type Exchange } from "../post.ts";
import { HandshakeTurns } from "./turns.ts";

/** Both never reject: an abort is a failure like others. */
export interface Attempts {
  readonly exchange: Exchange;
  readonly mail: MailOut;
}

export function attemptsOver(transport: Transport): Attempts {
  const turns = new HandshakeTurns(setImmediate);
  return {
    exchange: createExchange(transport, turns),
    // Loaded with the first mail.
    mail: async (...letter) => (await import("../mail.ts")).createMailOut(transport, turns)(...letter),
  };
}

/** On the caller's thread. */
export function attemptsHere(engine: EngineOptions): Attempts {
  return attemptsOver(createTransport(engine));
}
