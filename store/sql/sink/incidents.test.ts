import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { IncidentChange, IncidentLevel } from "../../../model/incident.ts";
import { must, mustEqual } from "../../../testkit/must.ts";
import { assertProperty } from "../../../testkit/property.ts";
import { foldIncidentChanges, type IncidentDraft } from "./incidents.ts";

const WHY = { message: "refused", category: "server_not_connected" as const, locations: ["any"] };

function change(type: IncidentChange["type"], monitorId: number, atMs: number, level: IncidentLevel): IncidentChange {
  switch (type) {
    case "open":
      return { type, monitorId, atMs, startedAtMs: atMs, level, ...WHY };
    case "location":
      return { type, monitorId, atMs, location: "de", status: "down", message: null };
    case "close":
      return { type, monitorId, atMs };
    case "raise":
    case "message":
      return { type, monitorId, atMs, ...WHY };
  }
}

/** What an incident says of itself through its events. */
function levelByEvents(draft: IncidentDraft): unknown {
  let level: unknown;
  for (const event of draft.events) {
    if (event.type === "opened") level = event.data.level;
    if (event.type === "level_changed") level = event.data.to;
  }
  return level;
}

describe("foldIncidentChanges", () => {
  it("never has two open, never lowers, and tells each turn once, whatever the changes are", () => {
    const type = fc.constantFrom<IncidentChange["type"]>("open", "raise", "message", "location", "close");
    const level = fc.constantFrom<IncidentLevel>("down", "degraded");
    const step = fc.tuple(type, fc.integer({ min: 1, max: 4 }), level);
    // Monitor 4 was deleted.
    const projectOf = new Map([1, 2, 3].map((id) => [id, 10 + id] as const));
    assertProperty(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const changes = steps.map(([type, monitorId, level], index) => change(type, monitorId, 1_000 * index, level));
        const drafts = foldIncidentChanges(changes, projectOf, new Map());
        for (const monitorId of [1, 2, 3, 4]) {
          const mine = drafts.filter((draft) => draft.monitorId === monitorId);
          const open = mine.filter((draft) => draft.endedAtMs === null);
          must(open.length <= 1, "two incidents are open");
          if (open.length === 1) mustEqual(mine.at(-1), open[0]);
          if (monitorId === 4) mustEqual(mine, []);
          mustEqual(open.length === 1, isOpenAfter(changes, monitorId) && monitorId !== 4);
          for (const draft of mine) {
            mustEqual(draft.projectId, 10 + monitorId);
            const types = draft.events.map((event) => event.type);
            mustEqual(types.filter((one) => one === "opened").length, 1);
            mustEqual(types[0], "opened");
            mustEqual(types.filter((one) => one === "recovered").length, draft.endedAtMs === null ? 0 : 1);
            must(types.filter((one) => one === "level_changed").length <= 1, "the level changed twice");
            mustEqual(draft.level, levelByEvents(draft));
          }
        }
      }),
      { numRuns: 20_000 },
    );
  });

  it("never ends an incident before it began", () => {
    const changes = [change("open", 1, 5_000, "down"), change("close", 1, 4_000, "down")];
    const [draft] = foldIncidentChanges(changes, new Map([[1, 1]]), new Map());
    expect(draft).toMatchObject({ startedAtMs: 5_000, endedAtMs: 5_000 });
    expect(draft?.events.at(-1)?.data).toEqual({ duration_seconds: 0 });
  });
});

/** The plain rule: the last of `open` and `close` decides. */
function isOpenAfter(changes: readonly IncidentChange[], monitorId: number): boolean {
  const turns = changes.filter((one) => one.monitorId === monitorId && (one.type === "open" || one.type === "close"));
  return turns.at(-1)?.type === "open";
}
