/** An IKE SA once keys are agreed: our requests, the gateway's answers and its own requests (RFC 7296 sections 2.1 to 2.3). Pure. */
import { decodeDelete } from "./bodies.ts";
import type { IkeKeys } from "./keys.ts";
import {
  decodeHeader,
  EXCHANGE,
  type Header,
  IkeFormatError,
  type NewPayload,
  PAYLOAD,
  type Payload,
} from "./message.ts";
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
  /** The gateway said so before, and was answered: the path repeats, or the gateway does. */
  | { readonly kind: "repeated" }
  | { readonly kind: "ignored" };

export const IGNORED: Heard = { kind: "ignored" };

export class IkeSa {
  readonly keys: IkeKeys;
  readonly initiatorSpi: Buffer;
  readonly responderSpi: Buffer;
  readonly #mayFragment: boolean;
  readonly #sealer: Sealer;
  /** Each gathers fragments of one message: those of a request do not push out those of an answer. */
  readonly #answers: Opener;
  readonly #requests: Opener;
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
    this.#answers = new Opener(keys.fromResponder);
    this.#requests = new Opener(keys.fromResponder);
  }

  request(exchange: number, stage: Request["stage"], payloads: readonly NewPayload[]): Request {
    const id = this.#nextId++;
    this.#awaited = { id, exchange };
    return { stage, datagrams: this.#seal(exchange, id, false, payloads) };
  }

  /**
   * The header shows whether it is expected, before its keys are tried: a late fragment must not push out those of the present message.
   *
   * @throws IkeFormatError for what is from the gateway and cannot be read
   */
  hear(datagram: Uint8Array): Heard {
    const header = headerOf(datagram);
    const isOurs =
      header?.initiatorSpi.equals(this.initiatorSpi) === true && header.responderSpi.equals(this.responderSpi);
    // A packet of ours that is mirrored has our flag.
    if (!isOurs || header.isFromInitiator) return IGNORED;
    return header.isResponse ? this.#take(header, datagram) : this.#answer(header, datagram);
  }

  #take({ exchange, messageId }: Header, datagram: Uint8Array): Heard {
    const isAwaited = messageId === this.#awaited?.id && exchange === this.#awaited.exchange;
    const opened = isAwaited ? this.#answers.open(datagram) : undefined;
    if (opened === undefined) return IGNORED;
    this.#awaited = undefined;
    return { kind: "answer", payloads: opened.payloads, raw: Buffer.from(datagram) };
  }

  #answer({ exchange, messageId: id }: Header, datagram: Uint8Array): Heard {
    const isRepeated = id === this.#lastReply?.id;
    const opened = isRepeated || id === this.#expectedId ? this.#requests.open(datagram) : undefined;
    if (opened === undefined) return IGNORED;
    if (isRepeated) return { kind: "request", reply: this.#lastReply?.reply ?? [], isOver: false };
    this.#expectedId += 1;
    // A probe is over before anything needs new keys.
    const isRefused = exchange !== EXCHANGE.informational;
    const reply = this.#seal(exchange, id, true, isRefused ? [notify(NOTIFY.temporaryFailure)] : []);
    this.#lastReply = { id, reply };
    return { kind: "request", reply, isOver: opened.payloads.some(endsTunnel) };
  }

  #seal(exchange: number, messageId: number, isResponse: boolean, payloads: readonly NewPayload[]): readonly Buffer[] {
    const { initiatorSpi, responderSpi } = this;
    const header = { initiatorSpi, responderSpi, exchange, messageId, isResponse, isFromInitiator: true };
    return this.#sealer.seal(header, payloads, this.#mayFragment);
  }
}

function headerOf(datagram: Uint8Array): Header | undefined {
  try {
    return decodeHeader(datagram);
  } catch (error) {
    if (error instanceof IkeFormatError) return undefined;
    throw error;
  }
}

function endsTunnel({ type, body }: Payload): boolean {
  if (type !== PAYLOAD.delete) return false;
  const { protocol } = decodeDelete(body);
  return protocol === PROTOCOL.ike || protocol === PROTOCOL.esp;
}
