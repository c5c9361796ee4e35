/** Only the main thread may start cores, so a prober thread asks for outbounds over a MessagePort; when the port closes, its outbounds are closed. */

import type { MessagePort } from "node:worker_threads";
import { IdTable } from "../../model/id-table.ts";
import type { Engine } from "../../model/subscription.ts";
import type { OwnVerdict } from "../../model/verdict.ts";
import { DeadlinePassed, NetworkFault } from "../net/fault.ts";
import { createLocalLines, type LocalLines } from "../verify/line.ts";
import { LOCAL_HOST } from "./core.ts";
import type { Finding } from "./finding.ts";
import { MessageBatcher } from "./message-batcher.ts";
import type { OpenOutbound, OutboundSpec, Outbounds } from "./outbound.ts";
import { StartLimiter } from "./start-limiter.ts";

export type ToSupervisor =
  /** spec: an OutboundSpec as JSON, which costs a third of the copy that a message makes of an object. */
  | { readonly type: "open"; readonly id: number; readonly spec: string }
  | {
      readonly type: "close";
      readonly id: number /** Its local port did not answer. */;
      readonly isUnresponsive: boolean;
    }
  | { readonly type: "findings"; readonly id: number };

export interface OpenedOutbound {
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly startedMs: number;
  readonly isCrowded: boolean;
}

export interface OutboundRefusal {
  readonly verdict: OwnVerdict | "misconfigured";
  readonly message: string;
  readonly hint?: string;
}

export type FromSupervisor =
  | { readonly type: "opened"; readonly id: number; readonly outbound: OpenedOutbound }
  | { readonly type: "refused"; readonly id: number; readonly refusal: OutboundRefusal }
  | {
      readonly type: "findings";
      readonly id: number;
      readonly findings: readonly Finding[];
      readonly hasDied: boolean;
    }
  | { readonly type: "died"; readonly id: number };

/** How long the main thread may take to answer with a core's findings, ms. */
const FINDINGS_TIMEOUT_MS = 1_000;

const NOT_READY = "No proxy core got ready on this checker within the check's time";

/** One outbound of this thread, from the request until it is closed. */
interface TrackedOutbound {
  opened?: (outbound: OpenedOutbound) => void;
  refused?: (refusal: OutboundRefusal) => void;
  findings?: (findings: readonly Finding[]) => void;
  /** Gives the place in the start limiter back. */
  release?: () => void;
  hasDied: boolean;
}

/**
 * @param port whose other end the supervisor has (supervisor.ts, connect)
 * @param lines to the cores' local ports
 */
export function connectOutbounds(port: MessagePort, lines: LocalLines = createLocalLines()): Outbounds {
  return new OutboundPort(port, lines);
}

class OutboundPort implements Outbounds {
  readonly #outgoing: MessageBatcher<ToSupervisor>;
  readonly #lines: LocalLines;
  readonly #outbounds = new IdTable<TrackedOutbound>();
  readonly #starts = new StartLimiter();
  #lastId = 0;

  constructor(port: MessagePort, lines: LocalLines) {
    this.#outgoing = new MessageBatcher<ToSupervisor>(port);
    this.#lines = lines;
    port.on("message", (messages: readonly FromSupervisor[]) => {
      for (const message of messages) this.#onMessage(message);
    });
    // The port need not keep the thread alive: each waiting caller has a deadline, and its timer does.
    port.unref();
  }

  open(spec: OutboundSpec, whenAborted: (listener: (fault: Error) => void) => void): Promise<OpenOutbound> {
    return new Promise<OpenOutbound>((resolve, reject) => {
      const id = ++this.#lastId;
      const outbound: TrackedOutbound = { hasDied: false };
      let isWaiting = true;
      whenAborted((fault) => {
        if (!isWaiting) return;
        isWaiting = false;
        this.#close(id, false);
        // The server was not asked yet, so a core that was not ready in time proves nothing about the server.
        reject(fault instanceof DeadlinePassed ? new NetworkFault("unfit", NOT_READY) : fault);
      });
      if (!isWaiting) return;
      outbound.refused = ({ verdict, message, hint }) => {
        isWaiting = false;
        this.#outbounds.take(id);
        reject(new NetworkFault(verdict, message, hint === undefined ? {} : { hint }));
      };
      outbound.opened = (opened) => {
        this.#starts.acquire((release) => {
          outbound.release = release;
          if (!isWaiting) return release();
          isWaiting = false;
          resolve(this.#handleOf(id, outbound, spec.engine, opened));
        });
      };
      this.#outbounds.set(id, outbound);
      this.#outgoing.post({ type: "open", id, spec: JSON.stringify(spec) });
    });
  }

  #handleOf(id: number, outbound: TrackedOutbound, engine: Engine, opened: OpenedOutbound): OpenOutbound {
    const { port, user, password, startedMs, isCrowded } = opened;
    // Named one by one: V8 makes a spread object anew for each member that is added to it.
    return {
      user,
      password,
      startedMs,
      isCrowded,
      engine,
      open: this.#lines.to(LOCAL_HOST, port),
      findings: () => this.#findingsOf(id, outbound),
      hasDied: () => outbound.hasDied,
      close: (isUnresponsive = false) => this.#close(id, isUnresponsive),
    };
  }

  #onMessage(message: FromSupervisor): void {
    const outbound = this.#outbounds.get(message.id);
    if (outbound === undefined) return;
    if (message.type === "opened") outbound.opened?.(message.outbound);
    else if (message.type === "refused") outbound.refused?.(message.refusal);
    else {
      outbound.hasDied ||= message.type === "died" || message.hasDied;
      if (message.type === "findings") outbound.findings?.(message.findings);
    }
  }

  #close(id: number, isUnresponsive: boolean): void {
    const outbound = this.#outbounds.take(id);
    if (outbound === undefined) return;
    outbound.release?.();
    const message = { type: "close", id, isUnresponsive } as const;
    // A core that hangs holds up others; any other outbound may be closed a little later.
    if (isUnresponsive) this.#outgoing.post(message);
    else this.#outgoing.postLater(message);
  }

  #findingsOf(id: number, outbound: TrackedOutbound): Promise<readonly Finding[]> {
    return new Promise((resolve) => {
      if (!this.#outbounds.has(id)) return resolve([]);
      const late = setTimeout(() => resolve([]), FINDINGS_TIMEOUT_MS);
      outbound.findings = (all) => {
        clearTimeout(late);
        resolve(all);
      };
      this.#outgoing.post({ type: "findings", id });
    });
  }
}
