/** Whose turn it is among the workspaces whose reads wait: the one whose latest turn is longest ago. One that reads without end leaves others theirs. */
import { BoundedMap } from "../model/bounded-map.ts";

/** A workspace of which none waits has a place beyond those that all share: one that reads in a loop would have them all. As many at most. */
const MOST_WORKSPACES_WAITING = 64;
/** Workspaces whose latest turn is known: bounds memory. One that was left out comes first. */
const MOST_WORKSPACES = 10_000;

export class ReadingTurns {
  readonly #places: number;
  #waiting = 0;
  /** How many of a workspace. */
  readonly #waitingOf = new Map<number, number>();
  /** Workspace to its latest turn, counted. */
  readonly #latest = new BoundedMap<number, number>(MOST_WORKSPACES);
  #turn = 0;

  /** @param places that all share */
  constructor(places: number) {
    this.#places = places;
  }

  hasPlace(workspace: number): boolean {
    if (this.#waiting < this.#places) return true;
    return !this.#waitingOf.has(workspace) && this.#waitingOf.size < MOST_WORKSPACES_WAITING;
  }

  begin(workspace: number): void {
    this.#waiting += 1;
    this.#waitingOf.set(workspace, (this.#waitingOf.get(workspace) ?? 0) + 1);
  }

  /** Also one that waited in vain had its turn, or it would go on to hold up others. */
  end(workspace: number): void {
    this.#waiting -= 1;
    const left = (this.#waitingOf.get(workspace) ?? 0) - 1;
    if (left > 0) this.#waitingOf.set(workspace, left);
    else this.#waitingOf.delete(workspace);
    this.had(workspace);
  }

  had(workspace: number): void {
    this.#latest.set(workspace, ++this.#turn);
  }

  /** Whether one that waits comes first. */
  isAnothers(workspace: number): boolean {
    const latest = this.#latest.get(workspace) ?? 0;
    for (const other of this.#waitingOf.keys())
      if (other !== workspace && (this.#latest.get(other) ?? 0) < latest) return true;
    return false;
  }
}
