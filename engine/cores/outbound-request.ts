/** One request to open a config, from the request until it is closed, refused, or given up. */
import { createHash } from "node:crypto";
import type { MessagePort } from "node:worker_threads";
import type { IdTable } from "../../model/id-table.ts";
import { createRandomBytes } from "../../native/random-bytes.ts";
import type { QueuedConfig } from "./batch.ts";
import type { MessageBatcher } from "./message-batcher.ts";
import type { OutboundSpec } from "./outbound.ts";
import type { FromSupervisor, OutboundRefusal } from "./outbound-port.ts";
import type { RunningCore } from "./running-core.ts";

/** A thread that opens outbounds. */
export interface SupervisorClient {
  readonly port: MessagePort;
  readonly outgoing: MessageBatcher<FromSupervisor>;
  /** Requests that wait or are open, by the id that the thread gave. */
  readonly requests: IdTable<OutboundRequest>;
}

const TAG_BYTES = 8;
const PASSWORD_BYTES = 12;
const randomBytes = createRandomBytes();

export class OutboundRequest implements QueuedConfig {
  readonly client: SupervisorClient;
  readonly id: number;
  readonly spec: OutboundSpec;
  readonly requestedAtMs: number;
  /** Its name inside the core, and its user name at the core's local port. */
  readonly tag = `n_${randomText(TAG_BYTES)}`;
  /** Of that user. */
  readonly password = randomText(PASSWORD_BYTES);
  /** How often a core died with it inside. */
  crashes = 0;
  /** The caller no longer waits for it. */
  isClosed = false;
  core: RunningCore | null = null;
  #key: string | undefined;

  /** @param requestedAtMs monotonic */
  constructor(client: SupervisorClient, id: number, spec: OutboundSpec, requestedAtMs: number) {
    this.client = client;
    this.id = id;
    this.spec = spec;
    this.requestedAtMs = requestedAtMs;
  }

  /** A hash of core, address and config; computed at the first call. */
  get key(): string {
    this.#key ??= keyOf(this.spec);
    return this.#key;
  }

  refuse(refusal: OutboundRefusal): void {
    this.isClosed = true;
    this.client.requests.take(this.id);
    this.client.outgoing.post({ type: "refused", id: this.id, refusal });
  }
}

/** Refuses the requests of the batch that still wait. */
export function refuseAll(batch: readonly OutboundRequest[], refusal: OutboundRefusal): void {
  for (const request of batch) if (!request.isClosed && request.core === null) request.refuse(refusal);
}

export function randomText(sizeBytes: number): string {
  return Buffer.from(randomBytes(sizeBytes)).toString("hex");
}

function keyOf({ engine, address, config }: OutboundSpec): string {
  return createHash("sha256")
    .update(`${engine}\0${address}\0${JSON.stringify(config)}`)
    .digest("base64");
}
