/** An IKE SA once keys are agreed: our requests, the gateway's answers and its own requests (RFC 7296 sections 2.1 to 2.3). Pure. */
import { decodeDelete } from "./bodies.ts";
import type { IkeKeys } from "./keys.ts";
import { EXCHANGE, type NewPayload, PAYLOAD, type Payload } from "./message.ts";
import { NOTIFY, notify } from "./notify.ts";
import { PROTOCOL } from "./proposals.ts";
import { Opener, Sealer } from "./sealed.ts";

/** A request of ours: sent again bit by bit until it is answered. */
export interface Request {
  /** One, or the fragments of one message. */
  readonly datagrams: readonly Buffer[];
  /** The key exchange goes to port 500 and 4500, everything behind it to 4500 only. */
  readonly stage: "init" | "auth" | "goodbye";
}

export type Heard =
  | { readonly kind: "answer"; readonly payloads: readonly Payload[]; readonly raw: Buffer }
  /** The gateway asked something; `isOver` when it was to end the IKE SA or its tunnel. */
  | { readonly kind: "request"; readonly reply: readonly Buffer[]; readonly isOver: boolean }
  | { readonly kind: "ignored" };

export const IGNORED: Heard = { kind: "ignored" };

export class IkeSa {
  readonly keys: IkeKeys;
  readonly initiatorSpi: Buffer;
  readonly responderSpi: Buffer;
  readonly #mayFragment: boolean;
  readonly #sealer: Sealer;
  readonly #opener: Opener;
  /** IKE_SA_INIT was 0. */
  #nextId = 1;
  #awaited: { readonly id: number; readonly exchange: number } | undefined;
  /** The gateway's requests count from 0; the last reply is kept, because it asks again when the reply is lost. */
  #expectedId = 0;
  #lastReply: { readonly id: number; readonly reply: readonly Buffer[] } | undefined;

  constructor(
    keys: IkeKeys,
    spis: { readonly initiatorSpi: Buffer; readonly responderSpi: Buffer },
    random: (sizeBytes: number) => Uint8Array,
    mayFragment: boolean,
  ) {
    this.keys = keys;
    this.initiatorSpi = spis.initiatorSpi;
    this.responderSpi = spis.responderSpi;
    this.#mayFragment = mayFragment;
    this.#sealer = new Sealer(keys.fromInitiator, random);
    this.#opener = new Opener(keys.fromResponder);
  }

  request(exchange: number, stage: Request["stage"], payloads: readonly NewPayload[]): Request {
    const id = this.#nextId++;
    this.#awaited = { id, exchange };
    return { stage, datagrams: this.#seal(exchange, id, false, payloads) };
  }

  /** @throws IkeFormatError for what is from the gateway and cannot be read */
  hear(datagram: Uint8Array): Heard {
    const opened = this.#opener.open(datagram);
    if (opened === undefined) return IGNORED;
    const { header, payloads } = opened;
    const isOurs = header.initiatorSpi.equals(this.initiatorSpi) && header.responderSpi.equals(this.responderSpi);
    // A packet of ours that is mirrored fails the keys already; its flag says so too.
    if (!isOurs || header.isFromInitiator) return IGNORED;
    if (!header.isResponse) return this.#answer(header.exchange, header.messageId, payloads);
    const isAwaited = header.messageId === this.#awaited?.id && header.exchange === this.#awaited.exchange;
    if (!isAwaited) return IGNORED;
    this.#awaited = undefined;
    return { kind: "answer", payloads, raw: Buffer.from(datagram) };
  }

  #answer(exchange: number, id: number, payloads: readonly Payload[]): Heard {
    if (id === this.#lastReply?.id) return { kind: "request", reply: this.#lastReply.reply, isOver: false };
    if (id !== this.#expectedId) return IGNORED;
    this.#expectedId += 1;
    // A probe is over before anything needs new keys.
    const isRefused = exchange !== EXCHANGE.informational;
    const reply = this.#seal(exchange, id, true, isRefused ? [notify(NOTIFY.temporaryFailure)] : []);
    this.#lastReply = { id, reply };
    return { kind: "request", reply, isOver: payloads.some(endsTunnel) };
  }

  #seal(exchange: number, messageId: number, isResponse: boolean, payloads: readonly NewPayload[]): readonly Buffer[] {
    const { initiatorSpi, responderSpi } = this;
    const header = { initiatorSpi, responderSpi, exchange, messageId, isResponse, isFromInitiator: true };
    return this.#sealer.seal(header, payloads, this.#mayFragment);
  }
}

function endsTunnel({ type, body }: Payload): boolean {
  if (type !== PAYLOAD.delete) return false;
  const { protocol } = decodeDelete(body);
  return protocol === PROTOCOL.ike || protocol === PROTOCOL.esp;
}
