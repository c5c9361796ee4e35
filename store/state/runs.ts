/**
 * Runs on their way between schedulers and checkers that are processes of their own. Every checker has a stream, kept under its location,
 * and so has every scheduler for the outcomes from each location; so a monitor stays with one checker, and a checker's user reaches one
 * location only. Bodies are sealed with the location's key.
 *
 *   scheduler ── send ──▶ sonde:runs:{de}:<checker> ──▶ checker: reads what is sealed for it, and runs it if it may still begin
 *   scheduler ◀────────── sonde:outcomes:{de}:<scheduler> ◀── answer ──┘
 *
 * The names are few and fixed (redis-run-keys.ts); each process takes a free one.
 *
 * Nothing here needs to be durable: the scheduler knows which checker has which run. A checker renews its stream while it lives, so a run
 * that is sent to a dead or frozen checker is refused at once. A run that was sent before is missed at its own deadline, after which the
 * checker does not begin it. In both cases it runs elsewhere, or its turn counts as skipped.
 */

import type { CheckOutcome } from "../../model/result.ts";
import type { MessageSealing } from "../sealed-text.ts";
import type { CheckerState } from "./checkers.ts";

/** One run, as it is sent. Plain JSON; times are Unix ms by Redis's clock, because machines' clocks differ. */
export interface SentRun {
  /** The scheduler's own number: one final outcome is taken for it. */
  readonly checkId: number;
  /** Of the specs of the same batch. */
  readonly specKey: number;
  readonly dueAtMs: number;
  /** Unix ms after which no checker begins the run. */
  readonly startByMs: number;
  /** Run with nothing else in flight in its prober. */
  readonly alone: boolean;
  /** Lowercased; null for what has none. With `wasHealthy` what a checker's trust in its own network judges by. */
  readonly host: string | null;
  readonly wasHealthy: boolean;
}

/** Runs of one scheduler, with what they measure: a checker needs nothing that was sent before. */
export interface RunBatch<Spec> {
  readonly specs: readonly Spec[];
  readonly runs: readonly SentRun[];
}

/** How a run brought down the thread that it ran in. */
export interface SentHarm {
  readonly reason: string;
  /** Which of its monitor's configs did it; null: not known, or it has none. */
  readonly configId: number | null;
}

/** An outcome as a checker sends it. */
export interface SentOutcome extends CheckOutcome {
  /**
   * The run is over, and its failure may come from the checker's own network. Within seconds an outcome of the same check without this flag
   * says whether it counts.
   */
  readonly withheld?: true;
  /** How it harmed its prober: its configuration must not run again for a while, in any process. */
  readonly harm?: SentHarm;
}

/** A process that checks. */
export interface CheckerName {
  readonly location: string;
  /** New at each start. In Redis: its address, behind the name that it has taken. */
  readonly id: string;
}

export interface RunSender<Spec> {
  /**
   * sent: it is in the checker's stream · absent: that checker is not there (any more), and nothing was sent · away: Redis is, and
   * nothing was sent · unknown: it may have been sent
   */
  send(checker: CheckerName, batch: RunBatch<Spec>): Promise<"sent" | "absent" | "away" | "unknown">;
  /** False when it has given no sign of life for STREAM_KEPT_MS; true also when Redis cannot say. */
  isThere(checker: CheckerName): Promise<boolean>;
  close(): Promise<void>;
}

export interface RunSenderOptions {
  /** New at each start. */
  readonly scheduler: string;
  /** Where it has checkers, now. */
  readonly locations: () => readonly string[];
  /** undefined: a location without a key has no checkers. */
  readonly sealingOf: (location: string) => MessageSealing | undefined;
  /** Reads the locations' keys anew: asked when an outcome was sealed with one that is not known. */
  readonly refreshKeys: () => Promise<void>;
  /** Started at and due by Redis's clock. */
  readonly onOutcomes: (location: string, outcomes: readonly SentOutcome[]) => void;
  /** Everything that had arrived by then (our own monotonic clock, ms) was given to onOutcomes; but not of those that are behind. */
  readonly onCaughtUp: (monotonicMs: number, behind: ReadonlySet<string>) => void;
  /** So many outcomes from there were invalid and are dropped. @param reason for the log; it contains nothing that was sent */
  readonly onRefused: (location: string, count: number, reason: string) => void;
}

/** A checker's side. */
export interface RunServer {
  /** The checker's clock minus Redis's, ms. */
  readonly clockOffsetMs: number;
  /** Kept, within bounds, while Redis is away. */
  answer(scheduler: string, outcomes: readonly SentOutcome[]): void;
  /** Sends its report at once. */
  report(): void;
  /** Takes nothing more: what was sent and not read yet is handed to `take` as leaving. */
  leave(): Promise<void>;
  /** Resolves when the waiting answers were sent, or a bound has passed. */
  close(): Promise<void>;
}

export interface RunServerOptions<Spec> {
  readonly checker: CheckerName & { readonly name: string; readonly version: string };
  readonly sealing: MessageSealing;
  readonly state: () => CheckerState;
  /** @throws Refused */
  readonly readSpec: (value: unknown) => Spec;
  /** @param isLeaving they are not to be begun any more, but answered as cancelled */
  readonly take: (scheduler: string, batch: RunBatch<Spec>, isLeaving: boolean) => void;
  /** Called when Redis goes away, and when it is back. */
  readonly onLink: (problem: string | null) => void;
}

/** Entries of a checker's stream; beyond it the oldest go, and their runs are missed at their deadline. */
export const MOST_WAITING = 4_096;
/** Entries of outcomes that are not read yet; beyond it the oldest go, and their turns count as skipped. */
export const MOST_OUTCOMES = 16_384;
/**
 * A checker's stream expires this long after its last renewal, ms; its runs then go to another checker. A checker that pauses for 3 s keeps
 * it.
 */
export const STREAM_KEPT_MS = 3_500;
/** Between two signs, ms. */
export const BEAT_MS = 300;
/** Outcomes of a scheduler that is gone, ms. */
export const OUTCOMES_KEPT_MS = 600_000;
