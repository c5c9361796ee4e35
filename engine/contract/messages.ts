/**
 * Messages between the scheduler and the probers over MessagePorts; one message carries many items.
 * A spec is sent once per prober and afterwards only its key is sent, so a due check costs three numbers.
 */
import type { Kind } from "../../model/kind.ts";
import type { CheckOutcome } from "../../model/result.ts";

/** What to measure. The prober keeps it until a message `forget`. */
export interface CheckSpec {
  /** Unique among the specs a scheduler has defined; a changed monitor gets a new one. */
  readonly key: number;
  readonly kind: Kind;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Of a monitor that stands for many: each is run by its own kind's probe, side by side, and their outcomes are merged. Absent: none. */
  readonly configs?: readonly ConfigSpec[];
  /** The reason why it cannot be run, a fault of ours: every run ends with it. */
  readonly fault?: string;
  /** The whole check must end within this. */
  readonly timeoutMs: number;
  /** An anonymous caller asks for it: it dials only what SONDE_PUBLIC_ALLOW_NETS lets through (docs/api-contract.md#addresses). */
  readonly isPublic?: boolean;
  /** How often the check was redefined under its key; absent: never. */
  readonly revision?: number;
  /** Its workspace: checks of two workspaces never share a process of a proxy core. Absent: 0, which all anonymous callers share. */
  readonly workspace?: number;
}

export interface ConfigSpec {
  readonly id: number;
  readonly kind: Kind;
  readonly settings: Readonly<Record<string, unknown>>;
  /** It cannot be run, for a reason of ours. */
  readonly fault?: string;
}

/** One run of a spec. */
export interface CheckRun {
  readonly checkId: number;
  readonly specKey: number;
  /** Unix ms when it should have started. */
  readonly dueAtMs: number;
  /** It runs with nothing else in flight in its prober, because it failed in a crowded moment, or was in flight when a prober died. */
  readonly alone: boolean;
  /** No caller waits for its pass: that may come a little later, with others in one message. Absent: it may not. */
  readonly isPatient?: boolean;
  /** Where and until when; only checkers that are processes of their own look at it. */
  readonly place?: RunTarget;
}

/** Decides which checker runs it. */
export interface RunTarget {
  readonly location: string;
  /** Runs with the same one stay with one checker of the location: the monitor's id. */
  readonly home: number;
  /** It confirms a failure: at another checker than its home, where there is one (docs/decisions/0002-one-check-one-way.md). */
  readonly elsewhere: boolean;
  /** Unix ms after which the outcome is not needed: a check that has not started by then ends as cancelled. */
  readonly expiresAtMs: number;
  /** Lowercased; null for what has none. With `wasHealthy` what the checker's trust in its own network judges by. */
  readonly host: string | null;
  readonly wasHealthy: boolean;
  /** Whose use no other run anywhere may overlap (docs/decisions/0002-one-check-one-way.md); null: none stands behind it. */
  readonly account: { readonly identity: string; readonly timeoutMs: number } | null;
}

export type ToProber =
  | { readonly type: "define"; readonly specs: readonly CheckSpec[] }
  | { readonly type: "forget"; readonly specKeys: readonly number[] }
  | { readonly type: "run" /** Of packRuns(). */; readonly runs: Float64Array }
  | { readonly type: "stop" };

/** Outcomes as engine/prober/packed.ts sends them. */
export interface PackedOutcomes {
  /** Passes without further details: only their numbers. */
  readonly passes: Float64Array;
  /** All other outcomes. */
  readonly others: readonly CheckOutcome[];
}

export type FromProber =
  | ({ readonly type: "results" } & PackedOutcomes)
  | { readonly type: "fitness"; readonly fitness: ProberFitness }
  /** Processor time, ms by spec, of stretches in which a check held the thread: this check, or the one named next to it. */
  | { readonly type: "held"; readonly holds: ReadonlyMap<number, number> }
  | { readonly type: "stopped" };

/** A prober's own state over the last second; sent every second. */
export interface ProberFitness {
  readonly fit: boolean;
  /** Why not, for people; empty when fit. */
  readonly reasons: readonly string[];
  readonly inFlight: number;
  /** Longest gap between two turns of its event loop, ms. */
  readonly maxLoopGapMs: number;
  /** Local refusals (EMFILE, ENOBUFS, EADDRNOTAVAIL …). */
  readonly localRefusals: number;
  /** Share of time its event loop was busy, 0 to 1. */
  readonly loopUtilization: number;
}

/**
 * Messages from the main thread to the scheduler about its probers: one started (with its port), is silent, died, …
 * Sent over the control port that engine/pool/pool.ts gives the scheduler task.
 */
export type FromPool =
  | {
      readonly type: "prober-up";
      readonly prober: number;
      readonly port: import("node:worker_threads").MessagePort;
      /** It is the one that is set aside for checks that hold the thread. */
      readonly isAside?: boolean;
    }
  /** It will be terminated and no longer answers: nothing is sent to it until `prober-down`. */
  | { readonly type: "prober-silent"; readonly prober: number }
  | {
      readonly type: "prober-down";
      readonly prober: number;
      readonly reason: string;
      /** It hangs in native code, where it cannot be ended: the suspected check would make the next prober hang too. */
      readonly hangs: boolean;
      /** The check that was last about to do something in it; null when none was. */
      readonly suspect: number | null;
      /** Which of that check's configs; null: it has none. */
      readonly suspectConfig: number | null;
    }
  /** Whether as many probers hang as may: only what has run before is run. */
  | { readonly type: "hung-probers"; readonly isFull: boolean };

/** What the scheduler's side asks of the pool, over the same port. */
export type ToPool =
  /** Whether a prober is to be set aside, beside the others. */
  | { readonly type: "want-aside"; readonly isWanted: boolean }
  /** The probers of a pool that stands by are to start. */
  | { readonly type: "want-probers" };
