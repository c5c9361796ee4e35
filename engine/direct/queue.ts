/**
 * Checks without a schedule: which runs next, and which outcome counts. Limits and second looks are those of schedules
 * (engine/limits). Pure.
 *
 * waiting ──next()──▶ running ──ended()──▶ undecided ──judge()──▶ settled
 *    ▲                                         │ failed in a crowd, or unfit
 *    └─────────────── retries ◀────────────────┘
 *
 * Few retries run at a time, and late if possible: they start when nothing else waits, or when many of them have gathered.
 * When several second looks in a row confirmed the failure, load was not the cause: failures that still wait count without a second look. While
 * other checks wait, a few failures still get one, as samples; the first sample that passes turns second looks for all on again. So a list of dead
 * servers takes only its time-outs: a second look at each would double the time, and one at the end would add another time-out.
 */
import type { CheckOutcome } from "../../model/result.ts";
import type { CheckSpec } from "../contract/messages.ts";
import { Admission, ConcurrencyLimits, type Limited } from "../limits/concurrency.ts";
import { SecondLooks } from "../limits/second-looks.ts";

/** Retries at the same time; our choice. */
const RETRIES_AT_ONCE = 32;
/**
 * Retries start although others still wait when so many have gathered per place: four times what is in flight, because places used for second
 * looks are missing for first runs until the last wave of time-outs, which has free places; within what may be undecided. Our choice.
 */
const GATHERED_PER_PLACE = 4;
const GATHERED = { least: 256, most: 2_048 } as const;
/** Second looks in a row that found the failure again; our choice. */
const CONVINCED_AFTER = 32;
/** Places of all, of which one goes on taking second looks then; our choice: what it costs is not seen. */
const PLACES_PER_SAMPLE = 64;
/** Runs of a check that ends as unfit each time, before `unfit` is its outcome; our choice. */
const MOST_UNFIT_RUNS = 3;
/** Most checks that have ended and do not count yet. At the bound no new checks are taken; this bounds memory. */
const MOST_UNDECIDED = 4_096;

/** Limits of accounts and hosts that are remembered although no check uses them; our choice. */
const LIMITS_KEPT = 1_024;

const NO_LIMITS: QueuedCheck["limits"] = [];

/** What a caller wants checked. */
export interface WantedCheck {
  readonly spec: CheckSpec;
  /** Checks with the same one never run at the same time; null: any number may. */
  readonly identity: string | null;
  /** Used to decide whether our own network was cut; null when the caller does not check that. */
  readonly host: string | null;
  /** The host that the cap of each host counts; null: not known. */
  readonly target: string | null;
  readonly settle: (outcome: CheckOutcome) => void;
}

export interface QueuedCheck extends WantedCheck, Limited<QueuedCheck> {
  /** A list has no earlier results. */
  readonly wasHealthy: false;
  readonly isNew: true;
  /** Runs so far. */
  attempt: number;
  wasCrowded: boolean;
  /** The failure that counts unless a second look passes; null while there is none. */
  doubted: CheckOutcome | null;
}

export class DirectQueue {
  readonly #concurrency: number;
  readonly #mostGathered: number;
  readonly #admission: Admission<QueuedCheck>;
  readonly #perHost: number | null;
  /** Limits of accounts, one check at a time, and of hosts. */
  readonly #limits = new ConcurrencyLimits<QueuedCheck>();
  /** Number of limits at which unused ones are forgotten. */
  #sweepAt = LIMITS_KEPT;
  /** Checks that wait for their account or host. */
  readonly #atLimits = new Set<QueuedCheck>();
  /** Checks that have not started yet. */
  #waiting: QueuedCheck[] = [];
  /** Checks that are run again; those that were unfit come first. */
  readonly #retries = new SecondLooks<QueuedCheck>(RETRIES_AT_ONCE);
  /** Second looks among the retries that run, or have ended and are not judged yet. */
  #looksRunning = 0;
  #undecided = 0;
  #confirmedInARow = 0;
  /** Failures that have or await a second look. */
  #doubts = 0;
  /** At the last call of next(), no check waited for its first run. */
  #isLast = false;
  #secondLooks = 0;

  /** @param perHost checks in flight at one host; null: no cap of its own */
  constructor(concurrency: number, perHost: number | null = null) {
    this.#perHost = perHost;
    this.#concurrency = concurrency;
    this.#admission = new Admission<QueuedCheck>(concurrency);
    // Checks start in next() only, so that the caller learns of each.
    this.#admission.hold(true);
    this.#mostGathered = Math.min(GATHERED.most, Math.max(GATHERED.least, concurrency * GATHERED_PER_PLACE));
  }

  get running(): number {
    return this.#admission.running;
  }

  /** Not yet run. */
  get waiting(): number {
    return this.#waiting.length + this.#admission.waiting;
  }

  /** Checks that have ended and do not count yet. */
  get undecided(): number {
    return this.#undecided + this.#retries.waiting;
  }

  get secondLooks(): number {
    return this.#secondLooks;
  }

  /** Whether one more check could start now. */
  get hasRoom(): boolean {
    return this.waiting < this.#concurrency && this.undecided < MOST_UNDECIDED;
  }

  add({ spec, identity, host, target, settle }: WantedCheck): void {
    // Named one by one: V8 makes a spread object anew for each member that is added to it, here 3 kB and 7 µs a check.
    this.#waiting.push({
      spec,
      identity,
      host,
      target,
      settle,
      wasHealthy: false,
      isNew: true,
      attempt: 0,
      wasCrowded: false,
      doubted: null,
      limits: NO_LIMITS,
      workspace: 0,
      state: "waiting",
    });
  }

  /**
   * @returns the checks that start now; they count as running from here on
   * @param isMoreToCome the caller has more checks to add as soon as there is room
   */
  next(isMoreToCome = false): QueuedCheck[] {
    // First the checks whose account or host became free when the check before ended.
    this.#admission.hold(false);
    const starting: QueuedCheck[] = [];
    this.#collect(starting);
    const isEarly = this.#isConvinced || this.#retries.waiting >= this.#mostGathered || this.#retries.running > 0;
    if (isEarly) this.#startRetries(starting);
    while (this.running < this.#concurrency && this.#waiting.length > 0) this.#start(this.#waiting.shift(), starting);
    this.#isLast = this.#waiting.length === 0 && !isMoreToCome;
    if (this.#isLast) this.#startRetries(starting);
    this.#admission.hold(true);
    if (this.#limits.size >= this.#sweepAt) this.#sweep();
    return starting;
  }

  /** A run has ended: frees its place, account and host. judge() decides what the outcome means. */
  ended(check: QueuedCheck): void {
    if (check.attempt > 1) this.#retries.ended();
    this.#undecided += 1;
    this.#admission.release(check);
  }

  /** To be called once it is known whether our own network was cut. */
  judge(check: QueuedCheck, outcome: CheckOutcome): void {
    this.#undecided -= 1;
    if (check.doubted !== null) this.#looksRunning -= 1;
    if (outcome.verdict === "unfit" && check.attempt < MOST_UNFIT_RUNS) {
      this.#retries.addFirst(check);
      return;
    }
    if (check.doubted !== null) {
      this.#doubts -= 1;
      this.#learn(outcome);
      check.settle(outcome.verdict === "unfit" ? check.doubted : outcome);
    } else if (check.wasCrowded && this.#isWorthALook()) {
      check.doubted = outcome;
      this.#doubts += 1;
      this.#retries.add(check);
    } else {
      check.settle(outcome);
    }
  }

  /** Starts no more checks. @returns checks that never ran, or still had a run to come */
  takeAll(): QueuedCheck[] {
    const all = [...this.#retries.takeOut(), ...this.#waiting, ...this.#atLimits];
    for (const check of this.#atLimits) this.#admission.withdraw(check);
    this.#atLimits.clear();
    this.#waiting = [];
    return all;
  }

  #startRetries(starting: QueuedCheck[]): void {
    while (this.#retries.hasRoom && this.running < this.#concurrency && this.#retries.waiting > 0) {
      if (this.#isAwaitingEvidence && this.#retries.first()?.doubted !== null) return;
      this.#retries.started();
      this.#start(this.#retries.next(), starting);
    }
  }

  #start(check: QueuedCheck | undefined, starting: QueuedCheck[]): void {
    if (check === undefined) return;
    check.limits = this.#limitsOf(check);
    this.#admission.request(check);
    if (check.state === "waiting") this.#atLimits.add(check);
    else this.#collect(starting);
  }

  #limitsOf({ identity, target }: WantedCheck): QueuedCheck["limits"] {
    const account = identity === null ? [] : [this.#limits.of(`account ${identity}`, 1)];
    if (target === null || this.#perHost === null) return account;
    return [...account, this.#limits.of(`host ${target}`, this.#perHost)];
  }

  /** Collects the checks that got their places. */
  #collect(starting: QueuedCheck[]): void {
    for (const check of this.#admission.takeStarted()) {
      this.#atLimits.delete(check);
      check.attempt += 1;
      if (check.doubted !== null) {
        this.#secondLooks += 1;
        this.#looksRunning += 1;
      }
      starting.push(check);
    }
  }

  /** A list may name more accounts and hosts than memory should hold. */
  #sweep(): void {
    this.#limits.sweep(new Set([...this.#atLimits].flatMap(({ limits }) => limits)));
    this.#sweepAt = Math.max(LIMITS_KEPT, 2 * this.#limits.size);
  }

  /** Enough second looks are running to convince: one more would end last, and change nothing. */
  get #isAwaitingEvidence(): boolean {
    return !this.#isConvinced && this.#confirmedInARow + this.#looksRunning >= CONVINCED_AFTER;
  }

  get #isConvinced(): boolean {
    return this.#confirmedInARow >= CONVINCED_AFTER;
  }

  #isWorthALook(): boolean {
    if (!this.#isConvinced) return true;
    return !this.#isLast && this.#doubts < Math.ceil(this.#concurrency / PLACES_PER_SAMPLE);
  }

  /** Learns from the result of a second look. */
  #learn({ verdict }: CheckOutcome): void {
    if (verdict === "ok") this.#confirmedInARow = 0;
    else if (verdict !== "unfit") this.#confirmedInARow += 1;
    if (this.#confirmedInARow !== CONVINCED_AFTER) return;
    const doubted = this.#retries.takeOut((check) => check.doubted !== null);
    this.#doubts -= doubted.length;
    for (const { settle, doubted: failure } of doubted) if (failure !== null) settle(failure);
  }
}
