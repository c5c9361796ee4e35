/** Tells the pages that are open what was written: a text a batch and project, and none of projects that no page shows. */
import type { IncidentChange } from "../../model/incident.ts";
import { STATUS_LETTERS } from "../../model/letters.ts";
import { type IncidentTurnWord, type LiveCheck, type LiveTurn, writeLiveMessage } from "../../model/live-message.ts";
import type { LiveState } from "../../model/status.ts";
import type { Broadcasts } from "../../store/state/broadcasts.ts";
import type { JudgedRow } from "./judged-outcome.ts";

const TURNS: Readonly<Partial<Record<IncidentChange["type"], IncidentTurnWord>>> = {
  open: "opened",
  raise: "raised",
  close: "recovered",
};

interface OfProject {
  /** The latest of each monitor. */
  readonly checks: Map<number, LiveCheck>;
  readonly turns: LiveTurn[];
}

export class LivePublisher {
  readonly #broadcasts: Pick<Broadcasts, "isHeard" | "publish">;
  readonly #projectOf: (monitorId: number) => number | undefined;

  /** @param projectOf undefined: the monitor is gone */
  constructor(
    broadcasts: Pick<Broadcasts, "isHeard" | "publish">,
    projectOf: (monitorId: number) => number | undefined,
  ) {
    this.#broadcasts = broadcasts;
    this.#projectOf = projectOf;
  }

  /** @param items that SQL has, in order @param moved states that moved without a check */
  written(items: readonly JudgedRow[], moved: readonly LiveState[]): void {
    const projects = new Map<number, OfProject>();
    for (const { live, incidents } of items) {
      const own = this.#ofProject(projects, live.monitorId);
      if (own === undefined) continue;
      addCheck(own, live, live.statusSinceMs === live.lastCheckedAtMs);
      for (const { type, monitorId } of incidents) {
        const what = TURNS[type];
        if (what !== undefined) own.turns.push({ monitorId, incidentId: null, what });
      }
    }
    for (const live of moved) {
      const own = this.#ofProject(projects, live.monitorId);
      if (own !== undefined) addCheck(own, live, true);
    }
    for (const [projectId, { checks, turns }] of projects)
      this.#broadcasts.publish(projectId, writeLiveMessage({ checks: [...checks.values()], turns }));
  }

  #ofProject(projects: Map<number, OfProject>, monitorId: number): OfProject | undefined {
    const projectId = this.#projectOf(monitorId);
    if (projectId === undefined || !this.#broadcasts.isHeard(projectId)) return undefined;
    const known = projects.get(projectId) ?? { checks: new Map(), turns: [] };
    projects.set(projectId, known);
    return known;
  }
}

/** A status that changed within the batch has changed, whatever came after. */
function addCheck({ checks }: OfProject, live: LiveState, isChanged: boolean): void {
  const before = checks.get(live.monitorId);
  checks.set(live.monitorId, {
    monitorId: live.monitorId,
    letter: STATUS_LETTERS[live.status],
    latencyMs: live.latencyMs === null ? null : Math.round(live.latencyMs),
    checkedAtMs: live.lastCheckedAtMs,
    isChanged: isChanged || before?.isChanged === true,
  });
}
