/**
 * One-off checks: a config that is tested once and never stored (POST /check). The process that asks posts it, a checker with room takes it,
 * and the answer goes back to that process. At most once: a check that is lost on the way is not repeated, and its caller gets an error.
 *
 *   asked ──taken──▶ running ──answer──▶ answered
 *     │                 └──silence──▶ lost
 *     └──no checker had room in time──▶ untaken: no checker runs it any more
 */
import { randomUUID } from "node:crypto";
import type { TunnelProtocol } from "../../model/kind.ts";
import type { CheckOutcome } from "../../model/result.ts";

/** Callers with a key, and anonymous callers: each group has its own room at a checker. */
export const CHECK_CLASSES = ["api", "public"] as const;
export type CheckClass = (typeof CHECK_CLASSES)[number];

/** Plain JSON. */
export interface OneOffCheck {
  readonly kind: TunnelProtocol;
  /** Secrets are in here: it is never logged, and sealed where it leaves the process. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Lowercased; what is dialled first. */
  readonly host: string;
  /** Checks with the same one never run at once; null: any number may. */
  readonly identity: string | null;
  readonly timeoutMs: number;
  /** The workspace whose share it takes; 0 for anonymous callers. */
  readonly organizationId: number;
}

export type OneOffResult = Pick<
  CheckOutcome,
  "verdict" | "startedAtMs" | "latencyMs" | "connectMs" | "peerAnswered" | "message" | "tunnel"
>;
/** A checker's reply. */
export type CheckReply =
  | {
      readonly type: "measured";
      readonly result: OneOffResult;
      /** How the check brought down its thread: the process that asked quarantines it. Absent: it did not, or it is in quarantine already. */
      readonly harm?: string;
    }
  /** It could not start in time, or the checker is stopping. */
  | { readonly type: "busy" };
export type CheckAnswer =
  | CheckReply
  /** No checker is there, or none has room. */
  | { readonly type: "untaken" }
  /** The checker that took it does not answer. */
  | { readonly type: "lost" };

export interface Checks {
  /** Settles in bounded time. @param location where it runs: `any` or a country */
  ask(checkClass: CheckClass, location: string, check: OneOffCheck): Promise<CheckAnswer>;
  /** Answers waiting calls as lost. */
  close(): Promise<void>;
}

export interface CheckServerOptions {
  readonly location: string;
  /** Checks at the same time, by class. */
  readonly room: Readonly<Record<CheckClass, number>>;
  /** Runs it; settles within startWithinMs and its time-out. */
  readonly take: (check: OneOffCheck, checkClass: CheckClass) => Promise<CheckReply>;
}
/** A checker's side. */
export interface CheckServer {
  /** Takes nothing more, and answers busy for what still runs, so that no caller waits for a checker that stops. */
  close(): Promise<void>;
}

/** How long a check waits for a checker with room, ms. Anonymous callers share little room, and may queue longer. */
export const TAKE_MS: Readonly<Record<CheckClass, number>> = { api: 3_000, public: 10_000 };
/** Added to that for the way back, ms. */
const RETURN_MS = 2_000;
/** The longest that a call takes, ms: below the 75 s of POST /test (docs/api-contract.md#checks-without-a-monitor). */
export const LONGEST_MS = 73_000;

/** How long a checker's caps may delay the start of what it took: a check of the same account may run for a minute before it. */
export function startWithinMs(checkClass: CheckClass, timeoutMs: number): number {
  return LONGEST_MS - TAKE_MS[checkClass] - RETURN_MS - timeoutMs;
}

/** Calls that wait for their answer. */
export interface Asking {
  /** @param onUntaken no checker took it: it is withdrawn */
  open(
    checkClass: CheckClass,
    onUntaken: (id: string) => void,
  ): { readonly id: string; readonly answer: Promise<CheckAnswer> };
  /** @returns false when no call waits for it, or it was taken before */
  taken(id: string): boolean;
  settle(id: string, answer: CheckAnswer): void;
  close(): void;
}

interface Waiting {
  readonly checkClass: CheckClass;
  readonly settle: (answer: CheckAnswer) => void;
  timer: NodeJS.Timeout;
  isTaken: boolean;
}

export function createAsking(): Asking {
  const waiting = new Map<string, Waiting>();

  function settle(id: string, answer: CheckAnswer): void {
    const one = waiting.get(id);
    if (one === undefined) return;
    waiting.delete(id);
    clearTimeout(one.timer);
    one.settle(answer);
  }

  return {
    open(checkClass, onUntaken) {
      const id = randomUUID();
      const answer = new Promise<CheckAnswer>((resolve) => {
        const timer = setTimeout(() => {
          settle(id, { type: "untaken" });
          onUntaken(id);
        }, TAKE_MS[checkClass]);
        waiting.set(id, { checkClass, settle: resolve, timer, isTaken: false });
      });
      return { id, answer };
    },
    taken(id) {
      const one = waiting.get(id);
      if (one === undefined || one.isTaken) return false;
      one.isTaken = true;
      clearTimeout(one.timer);
      one.timer = setTimeout(() => settle(id, { type: "lost" }), LONGEST_MS - TAKE_MS[one.checkClass]);
      return true;
    },
    settle,
    close() {
      for (const id of [...waiting.keys()]) settle(id, { type: "lost" });
    },
  };
}
