/**
 * Checks without a schedule: which runs next, and which outcome counts. Pure.
 *
 * waiting ──next()──▶ running ──ended()──▶ undecided ──judge()──▶ settled
 *    ▲                                         │ failed in a crowd, or unfit
 *    └───────────────── lane ◀─────────────────┘
 *
 * The lane runs few checks at a time, and late if possible: it starts when nothing else waits, or when many checks have gathered in it.
 * When several second looks in a row confirmed the failure, load was not the cause: failures that still wait count without a second look. While
 * other checks wait, a few failures still get one, as samples; the first sample that passes turns second looks for all on again. So a list of dead
 * servers takes only its time-outs: a second look at each would double the time, and one at the end would add another time-out.
 */
import type { CheckOutcome } from "../model/result.ts";
import type { CheckSpec } from "./check.ts";

/** In the lane at the same time; our choice. */
const LANE_WIDTH = 32;
/**
 * The lane starts although others still wait when it holds this many per place: four times what is in flight, because places used for second
 * looks are missing for first runs until the last wave of time-outs, which has free places; within what may be undecided. Our choice.
 */
const LANE_LENGTH_PER_PLACE = 4;
const LANE_LENGTH = { least: 256, most: 2_048 } as const;
/** Second looks in a row that found the failure again; our choice. */
const CONVINCED_AFTER = 32;
/** Places of all, of which one goes on taking second looks then; our choice: what it costs is not seen. */
const PLACES_PER_SAMPLE = 64;
/** Runs of a check that ends as unfit each time, before `unfit` is its outcome; our choice. */
const MOST_UNFIT_RUNS = 3;
/** Ended and not yet counted, beyond which nothing new is asked for: bounds memory. */
const MOST_UNDECIDED = 4_096;

export interface Ticket {
  readonly spec: CheckSpec;
  /** Checks with the same one never run at the same time; null: any number may. */
  readonly identity: string | null;
  /** Used to decide whether our own network was cut; null when the caller does not check that. */
  readonly host: string | null;
  readonly settle: (outcome: CheckOutcome) => void;
  /** Runs so far. */
  attempt: number;
  /** Its latest failure may be of our own crowd's making. */
  wasCrowded: boolean;
  /** The failure that counts unless a second look passes; null while there is none. */
  doubted: CheckOutcome | null;
}

export class Desk {
  readonly #concurrency: number;
  readonly #laneLength: number;
  #waiting: Ticket[] = [];
  #lane: Ticket[] = [];
  /** Identities at work, each with those who wait for it. */
  readonly #busy = new Map<string, Ticket[]>();
  /** Those whose identity was left to them by the one before. */
  readonly #heirs = new Set<Ticket>();
  #lined = 0;
  #running = 0;
  #laneRunning = 0;
  /** Of those in the lane: second looks, ended ones until they are judged. */
  #looksRunning = 0;
  #undecided = 0;
  #confirmedInARow = 0;
  /** Failures that have or await a second look. */
  #doubts = 0;
  /** At the last call of next(), no check waited for its first run. */
  #isLast = false;
  #secondLooks = 0;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
    const length = Math.max(LANE_LENGTH.least, concurrency * LANE_LENGTH_PER_PLACE);
    this.#laneLength = Math.min(LANE_LENGTH.most, length);
  }

  get running(): number {
    return this.#running;
  }

  /** Not yet run. */
  get waiting(): number {
    return this.#waiting.length + this.#lined;
  }

  /** Ended, and waiting for what it means. */
  get undecided(): number {
    return this.#undecided + this.#lane.length;
  }

  get secondLooks(): number {
    return this.#secondLooks;
  }

  /** Whether one more would not only wait here. */
  get hasRoom(): boolean {
    return this.waiting < this.#concurrency && this.undecided < MOST_UNDECIDED;
  }

  add(ticket: Ticket): void {
    this.#waiting.push(ticket);
  }

  /**
   * What starts now: counted as running from here on.
   * @param isMoreToCome the caller has more checks to add as soon as there is room
   */
  next(isMoreToCome = false): Ticket[] {
    const starting: Ticket[] = [];
    const isEarly = this.#isConvinced || this.#lane.length >= this.#laneLength || this.#laneRunning > 0;
    if (isEarly) this.#startLane(starting);
    while (this.#running < this.#concurrency && this.#waiting.length > 0) this.#start(this.#waiting.shift(), starting);
    this.#isLast = this.#waiting.length === 0 && !isMoreToCome;
    if (this.#isLast) this.#startLane(starting);
    return starting;
  }

  #startLane(starting: Ticket[]): void {
    while (this.#laneRunning < LANE_WIDTH && this.#running < this.#concurrency && this.#lane.length > 0) {
      if (this.#isAwaitingEvidence && this.#lane[0]?.doubted !== null) return;
      this.#start(this.#lane.shift(), starting);
    }
  }

  /** So many looks are on their way that they alone may convince: one more would be taken for nothing, and be the last to end. */
  get #isAwaitingEvidence(): boolean {
    const looks = this.#confirmedInARow + this.#looksRunning;
    return !this.#isConvinced && looks >= CONVINCED_AFTER;
  }

  /** A run has ended: its place and identity are free. What it means is for judge(). */
  ended({ identity, attempt }: Ticket): void {
    this.#running -= 1;
    if (attempt > 1) this.#laneRunning -= 1;
    this.#undecided += 1;
    const line = identity === null ? undefined : this.#busy.get(identity);
    const heir = line?.shift();
    if (heir !== undefined) {
      this.#lined -= 1;
      this.#heirs.add(heir);
      (heir.attempt > 0 ? this.#lane : this.#waiting).unshift(heir);
    } else if (identity !== null) {
      this.#busy.delete(identity);
    }
  }

  /** Once it is known whether our own network was cut. */
  judge(ticket: Ticket, outcome: CheckOutcome): void {
    this.#undecided -= 1;
    if (ticket.doubted !== null) this.#looksRunning -= 1;
    if (outcome.verdict === "unfit" && ticket.attempt < MOST_UNFIT_RUNS) {
      this.#lane.unshift(ticket);
      return;
    }
    if (ticket.doubted !== null) {
      this.#doubts -= 1;
      this.#learn(outcome);
      ticket.settle(outcome.verdict === "unfit" ? ticket.doubted : outcome);
    } else if (ticket.wasCrowded && this.#isWorthALook()) {
      ticket.doubted = outcome;
      this.#doubts += 1;
      this.#lane.push(ticket);
    } else {
      ticket.settle(outcome);
    }
  }

  /** Nothing starts any more. @returns what never ran, or would have been looked at again */
  takeAll(): Ticket[] {
    const all = [...this.#lane, ...this.#waiting, ...[...this.#busy.values()].flat()];
    this.#lane = [];
    this.#waiting = [];
    this.#busy.clear();
    this.#lined = 0;
    return all;
  }

  #start(ticket: Ticket | undefined, starting: Ticket[]): void {
    if (ticket === undefined) return;
    const { identity } = ticket;
    if (identity !== null && !this.#heirs.delete(ticket)) {
      const line = this.#busy.get(identity);
      if (line !== undefined) {
        this.#lined += 1;
        line.push(ticket);
        return;
      }
      this.#busy.set(identity, []);
    }
    ticket.attempt += 1;
    this.#running += 1;
    if (ticket.attempt > 1) this.#laneRunning += 1;
    if (ticket.doubted !== null) {
      this.#secondLooks += 1;
      this.#looksRunning += 1;
    }
    starting.push(ticket);
  }

  get #isConvinced(): boolean {
    return this.#confirmedInARow >= CONVINCED_AFTER;
  }

  #isWorthALook(): boolean {
    if (!this.#isConvinced) return true;
    return !this.#isLast && this.#doubts < Math.ceil(this.#concurrency / PLACES_PER_SAMPLE);
  }

  /** From a second look. */
  #learn({ verdict }: CheckOutcome): void {
    if (verdict === "ok") this.#confirmedInARow = 0;
    else if (verdict !== "unfit") this.#confirmedInARow += 1;
    if (this.#confirmedInARow !== CONVINCED_AFTER) return;
    const doubted = this.#lane.filter((ticket) => ticket.doubted !== null && !this.#heirs.has(ticket));
    this.#lane = this.#lane.filter((ticket) => ticket.doubted === null || this.#heirs.has(ticket));
    this.#doubts -= doubted.length;
    for (const { settle, doubted: failure } of doubted) if (failure !== null) settle(failure);
  }
}
