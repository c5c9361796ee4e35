/** Failures of a check, with their verdict. Transport and probes throw them, classify.ts reads them. */
import type { Verdict } from "../../model/verdict.ts";

export interface FaultDetail {
  /** Whether the target had answered before; omitted when the thrower does not know. */
  readonly peerAnswered?: boolean;
  /** The peer's own words, not yet stripped. */
  readonly peer?: string;
  /** What a person can do about it. */
  readonly hint?: string;
  /** The guard refused the address, and this entry of SONDE_ALLOW_NETS would open it. */
  readonly openedBy?: string;
  readonly cause?: unknown;
}

/** A failure whose verdict its thrower knows. Node's own errors are thrown as they are and mapped by classify(). */
export class NetworkFault extends Error {
  override readonly name = "NetworkFault";
  readonly verdict: Exclude<Verdict, "ok">;
  readonly peerAnswered: boolean | undefined;
  readonly peer: string | undefined;
  readonly hint: string | undefined;
  readonly openedBy: string | undefined;

  constructor(verdict: Exclude<Verdict, "ok">, message: string, detail: FaultDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.verdict = verdict;
    this.peerAnswered = detail.peerAnswered;
    this.peer = detail.peer;
    this.hint = detail.hint;
    this.openedBy = detail.openedBy;
  }
}

/**
 * What an aborted signal means: its reason when that is an error with meaning (a NetworkFault such as `cancelled`),
 * else the deadline. A bare abort() counts as the deadline too, because only deadlines abort checks.
 */
export function faultOfAbort(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof NetworkFault ? reason : new DeadlinePassed();
}

/** The part of a check's context that signals its end. */
export interface Abortable {
  readonly signal: AbortSignal;
  readonly onAbort?: ((listener: (fault: Error) => void) => void) | undefined;
}

/** Calls once when the check is aborted, at once when it has been. Listeners are never taken off: they go with the check. */
export function whenAborted(context: Abortable, listener: (fault: Error) => void): void {
  const { onAbort } = context;
  if (onAbort !== undefined) {
    onAbort(listener);
    return;
  }
  const { signal } = context;
  if (signal.aborted) listener(faultOfAbort(signal));
  else signal.addEventListener("abort", () => listener(faultOfAbort(signal)), { once: true });
}

/** The check's deadline passed; classify() chooses the message by the phase in which it happened. */
export class DeadlinePassed extends Error {
  override readonly name = "DeadlinePassed";

  constructor() {
    super("no answer within the deadline");
  }
}
