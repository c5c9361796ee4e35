/** One request to open a config, from the request until it is closed, refused, or given up. */
import { createHash } from "node:crypto";
import type { MessagePort } from "node:worker_threads";
import { createRandomBytes } from "../random-bytes.ts";
import type { Waiting } from "./batch.ts";
import type { Mailbox } from "./mailbox.ts";
import type { OutboundRequest } from "./outbound.ts";
import type { FromSupervisor, OutboundRefusal } from "./outbound-port.ts";
import type { RunningCore } from "./running-core.ts";

/** A thread that opens outbounds. */
export interface Asker {
  readonly port: MessagePort;
  readonly mailbox: Mailbox<FromSupervisor>;
  /** What it waits for or has open, by its own numbers. */
  readonly tickets: Map<number, Ticket>;
}

const TAG_BYTES = 8;
const PASSWORD_BYTES = 12;
const randomBytes = createRandomBytes();

export class Ticket implements Waiting {
  readonly asker: Asker;
  readonly id: number;
  readonly request: OutboundRequest;
  readonly askedAtMs: number;
  /** Inside a core, and its user's name at the local port. */
  readonly tag = `n_${randomText(TAG_BYTES)}`;
  /** At the local port. */
  readonly password = randomText(PASSWORD_BYTES);
  /** How often a core died with it inside. */
  deaths = 0;
  /** The caller no longer waits for it. */
  isGone = false;
  core: RunningCore | null = null;
  #key: string | undefined;

  /** @param askedAtMs monotonic */
  constructor(asker: Asker, id: number, request: OutboundRequest, askedAtMs: number) {
    this.asker = asker;
    this.id = id;
    this.request = request;
    this.askedAtMs = askedAtMs;
  }

  /** The same for the same config at the same address in the same core: a hash, made when it is first asked for. */
  get key(): string {
    this.#key ??= keyOf(this.request);
    return this.#key;
  }

  refuse(refusal: OutboundRefusal): void {
    this.isGone = true;
    this.asker.tickets.delete(this.id);
    this.asker.mailbox.post({ type: "refused", id: this.id, refusal });
  }
}

/** The tickets whose caller still waits. */
export function refuseAll(batch: readonly Ticket[], refusal: OutboundRefusal): void {
  for (const ticket of batch) if (!ticket.isGone && ticket.core === null) ticket.refuse(refusal);
}

export function randomText(sizeBytes: number): string {
  return Buffer.from(randomBytes(sizeBytes)).toString("hex");
}

function keyOf({ engine, address, config }: OutboundRequest): string {
  return createHash("sha256")
    .update(`${engine}\0${address}\0${JSON.stringify(config)}`)
    .digest("base64");
}
