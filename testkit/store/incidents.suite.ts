/** Incidents and their events. */
import { describe, expect, it } from "vitest";
import { SYSTEM_ACTOR } from "../../model/actor.ts";
import type { IncidentChange } from "../../model/incident.ts";
import type { IncidentFilter } from "../../store/sql/incidents/port.ts";
import { ADA, batch, type Ground, make, NOW_MS, opening } from "./ground.suite.ts";

export function incidentTests(currentGround: () => Ground): void {
  describe("incidents", () => {
    it("lists open ones first: down, then unacknowledged, then newest; the rest newest first; none of paused monitors", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const ids: Record<string, number> = {};
      for (const name of ["old down", "new down", "acked down", "degraded", "closed a", "closed b", "paused"]) {
        ids[name] = await make(ground, { name });
      }
      const id = (name: string): number => ids[name] ?? 0;
      await plane.sink.apply(
        batch(1, {
          incidents: [
            opening(id("closed a"), NOW_MS - 900),
            { type: "close", monitorId: id("closed a"), atMs: NOW_MS - 100 },
            opening(id("closed b"), NOW_MS - 800),
            { type: "close", monitorId: id("closed b"), atMs: NOW_MS - 700 },
            opening(id("old down"), NOW_MS - 500),
            opening(id("new down"), NOW_MS - 300),
            opening(id("acked down"), NOW_MS - 100),
            opening(id("degraded"), NOW_MS - 50, "degraded"),
            opening(id("paused"), NOW_MS),
          ],
        }),
      );
      await plane.monitors.update(projectId, id("paused"), NOW_MS, ADA, () => ({ addPauseReason: "user" }));
      const all = async (limit = 100) => plane.incidents.list(projectId, { monitorId: null, limit });
      const acked = (await all()).find((incident) => incident.monitorId === id("acked down"));
      await plane.incidents.acknowledge(projectId, acked?.id ?? 0, NOW_MS, ADA, null);
      const order = ["new down", "old down", "acked down", "degraded", "closed b", "closed a"];
      expect((await all()).map((incident) => incident.monitorName)).toEqual(order);
      expect((await all(3)).map((incident) => incident.monitorName)).toEqual(order.slice(0, 3));
      expect((await all(5)).map((incident) => incident.monitorName)).toEqual(order.slice(0, 5));
      const mine = await plane.incidents.list(projectId, { monitorId: id("closed a"), limit: 5 });
      expect(mine.map((incident) => incident.monitorName)).toEqual(["closed a"]);
      expect(await plane.incidents.list(projectId + 1, { monitorId: null, limit: 5 })).toEqual([]);
      expect(await plane.incidents.countOpen()).toBe(4);
      expect((await plane.sink.openIncidents()).get(id("degraded"))).toBe("degraded");
      expect((await plane.sink.openIncidents()).size).toBe(5);
    });

    it("lists those of a time, a tag, a level, acknowledged or not, page by page over open and closed", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const ids: number[] = [];
      for (const name of ["a", "b", "c", "d"]) ids.push(await make(ground, { name, tags: [name] }));
      const [a = 0, b = 0, c = 0, d = 0] = ids;
      await plane.sink.apply(
        batch(1, {
          incidents: [
            opening(a, NOW_MS),
            { type: "close", monitorId: a, atMs: NOW_MS + 100 },
            opening(b, NOW_MS + 50),
            { type: "close", monitorId: b, atMs: NOW_MS + 60 },
            opening(c, NOW_MS + 200, "degraded"),
            opening(d, NOW_MS + 300),
          ],
        }),
      );
      const names = async (filter: Partial<IncidentFilter>) =>
        (await plane.incidents.list(projectId, { monitorId: null, limit: 9, ...filter }))
          .map(({ monitorName }) => monitorName)
          .join("");
      expect(await names({})).toBe("dcba");
      expect(await names({ fromMs: NOW_MS + 100 })).toBe("dca");
      expect(await names({ toMs: NOW_MS + 200 })).toBe("cba");
      expect(await names({ fromMs: NOW_MS + 61, toMs: NOW_MS + 199 })).toBe("a");
      expect(await names({ tag: "b" })).toBe("b");
      expect(await names({ level: "degraded" })).toBe("c");
      const pages = [0, 1, 2, 3, 4].map((offset) => names({ limit: 1, offset }));
      expect(await Promise.all(pages)).toEqual(["d", "c", "b", "a", ""]);
      expect(await names({ limit: 2, offset: 1 })).toBe("cb");
      expect(await names({ limit: 5, offset: 3 })).toBe("a");

      const every = (await plane.incidents.list(projectId, { monitorId: null, limit: 9 })).map(({ id }) => id);
      const two = every.slice(0, 2);
      const done = plane.incidents.acknowledgeAll(projectId, [...two, 999_999], NOW_MS + 400, ADA, "on it");
      const [later = 0, earlier = 0] = two;
      const changed = [
        { id: earlier, monitorId: c },
        { id: later, monitorId: d },
      ];
      expect(await done).toEqual({ acknowledged: changed, unchanged: 0 });
      expect([await names({ acknowledged: true }), await names({ acknowledged: false })]).toEqual(["dc", "ba"]);
      const again = plane.incidents.acknowledgeAll(projectId, every, NOW_MS + 500, ADA, null);
      expect(await again).toMatchObject({ acknowledged: [{ monitorId: a }, { monitorId: b }], unchanged: 2 });
      const kept = await plane.incidents.find(projectId, two[0] ?? 0);
      expect(kept).toMatchObject({ acknowledgedAtMs: NOW_MS + 400, acknowledgedBy: ADA, eventCount: 2 });
      expect((await plane.incidents.events(two[0] ?? 0, 9, 0)).rows[1]).toMatchObject({
        type: "acknowledged",
        data: { note: "on it" },
      });
      const foreign = plane.incidents.acknowledgeAll(projectId + 1, every, NOW_MS + 600, ADA, null);
      expect(await foreign).toEqual({ acknowledged: [], unchanged: 0 });
    });

    it("tells when a monitor was down and when it was paused", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const monitorId = await make(ground);
      const createdAtMs = (await plane.monitors.find(projectId, monitorId))?.monitor.createdAtMs ?? 0;
      const why = { message: "gone", category: null, locations: ["any"] };
      const steps = [
        opening(monitorId, NOW_MS + 100, "degraded"),
        { type: "close", monitorId, atMs: NOW_MS + 200 } as const,
        opening(monitorId, NOW_MS + 300),
        { type: "close", monitorId, atMs: NOW_MS + 400 } as const,
        opening(monitorId, NOW_MS + 500, "degraded"),
        { type: "raise", monitorId, atMs: NOW_MS + 600, ...why } as const,
      ];
      for (const [index, step] of steps.entries()) await plane.sink.apply(batch(index + 1, { incidents: [step] }));
      await plane.monitors.update(projectId, monitorId, NOW_MS + 700, ADA, () => ({ addPauseReason: "user" }));
      const monitor = { id: monitorId, createdAtMs };
      const lasting = { fromMs: NOW_MS + 600, toMs: null };
      const pauseEvents = [{ type: "paused", atMs: NOW_MS + 700 }];
      expect(await plane.incidents.downtime(monitor, 0)).toEqual({
        down: [lasting, { fromMs: NOW_MS + 300, toMs: NOW_MS + 400 }],
        pauseEvents,
        knownFromMs: createdAtMs,
      });
      const later = await plane.incidents.downtime(monitor, NOW_MS + 450);
      expect(later).toEqual({ down: [lasting], pauseEvents, knownFromMs: createdAtMs });
      const span = { fromMs: NOW_MS + 800, untilMs: NOW_MS + 900 };
      await plane.maintenance.create([monitorId], span, NOW_MS + 800);
      const raised = { fromMs: NOW_MS + 500, downFromMs: NOW_MS + 600, toMs: null };
      const past = await plane.incidents.past(monitor, 0);
      expect(past).toEqual({
        incidents: [
          raised,
          { fromMs: NOW_MS + 300, downFromMs: NOW_MS + 300, toMs: NOW_MS + 400 },
          { fromMs: NOW_MS + 100, downFromMs: null, toMs: NOW_MS + 200 },
        ],
        pauseEvents,
        maintenance: [{ fromMs: NOW_MS + 800, toMs: NOW_MS + 900 }],
        knownFromMs: createdAtMs,
      });
      const rest = await plane.incidents.past(monitor, NOW_MS + 950);
      expect(rest).toEqual({ ...past, incidents: [raised], maintenance: [] });
    });

    it("takes notes, changes and deletes them, and none of another incident", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const [a, b] = [await make(ground, { name: "a" }), await make(ground, { name: "b" })];
      await plane.sink.apply(batch(1, { incidents: [opening(a), opening(b)] }));
      const incidentOf = async (monitorId: number) =>
        (await plane.incidents.list(projectId, { monitorId, limit: 1 }))[0] ?? { id: 0, eventCount: 0 };
      const [{ id }, other] = [await incidentOf(a), await incidentOf(b)];
      const note = { text: "rolled back", phase: "identified", public: true } as const;
      const added = await plane.incidents.addNote(projectId, id, note, NOW_MS + 5, ADA);
      expect(added).toMatchObject({ type: "note", atMs: NOW_MS + 5, actor: ADA, data: note });
      const noteId = added?.id ?? 0;
      expect((await incidentOf(a)).eventCount).toBe(2);
      expect((await plane.incidents.events(id, 9, 0)).rows[1]).toEqual(added);
      const next = { ...note, text: "and back again", public: false };
      expect(await plane.incidents.changeNote(id, noteId, () => next)).toEqual({ ...added, data: next });
      expect(await plane.incidents.changeNote(other.id, noteId, () => null)).toBeUndefined();
      const opened = (await plane.incidents.events(id, 1, 0)).rows[0]?.id ?? 0;
      expect(await plane.incidents.changeNote(id, opened, () => null)).toBeUndefined();
      const throwing = plane.incidents.changeNote(id, noteId, () => {
        throw new Error("not yours");
      });
      await expect(throwing).rejects.toThrow("not yours");
      expect((await plane.incidents.events(id, 9, 0)).rows[1]?.data).toEqual(next);
      expect(await plane.incidents.changeNote(id, noteId, () => null)).toMatchObject({ id: noteId });
      expect((await plane.incidents.events(id, 9, 0)).total).toBe(1);
      expect((await incidentOf(a)).eventCount).toBe(1);
      expect(await plane.incidents.addNote(projectId + 1, id, note, NOW_MS, ADA)).toBeUndefined();
    });

    it("runs from opened to recovered with one event each", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const monitorId = await make(ground);
      await plane.sink.apply(batch(1, { incidents: [opening(monitorId, NOW_MS, "degraded")] }));
      await plane.sink.apply(
        batch(2, {
          incidents: [
            { type: "message", monitorId, atMs: NOW_MS + 1_000, message: "still", category: null, locations: ["de"] },
            {
              type: "raise",
              monitorId,
              atMs: NOW_MS + 2_000,
              message: "gone",
              category: "timeout",
              locations: ["de", "nl"],
            },
            { type: "location", monitorId, atMs: NOW_MS + 2_500, location: "nl", status: "down", message: "no route" },
          ],
        }),
      );
      const [open] = await plane.incidents.list(projectId, { monitorId, limit: 5 });
      expect(open).toEqual({
        id: open?.id,
        monitorId,
        monitorName: "Shop",
        monitorKind: "http",
        projectId,
        level: "down",
        startedAtMs: NOW_MS,
        endedAtMs: null,
        acknowledgedAtMs: null,
        acknowledgedBy: null,
        errorMessage: "gone",
        errorCategory: "timeout",
        locations: ["de", "nl"],
        eventCount: 3,
        monitorPaused: false,
      });
      await plane.sink.apply(batch(3, { incidents: [{ type: "close", monitorId, atMs: NOW_MS + 61_999 }] }));
      const id = open?.id ?? 0;
      expect(await plane.incidents.find(projectId, id)).toMatchObject({
        endedAtMs: NOW_MS + 61_999,
        eventCount: 4,
        level: "down",
      });
      const { rows, total } = await plane.incidents.events(id, 10, 0);
      expect(total).toBe(4);
      expect(
        rows.map(({ type, message, data, location, actor }) => ({ type, message, data, location, actor })),
      ).toEqual([
        {
          type: "opened",
          message: "Incident opened: degraded",
          data: { level: "degraded", error_message: "connection refused" },
          location: null,
          actor: SYSTEM_ACTOR,
        },
        {
          type: "level_changed",
          message: "Level changed from degraded to down",
          data: { from: "degraded", to: "down" },
          location: null,
          actor: SYSTEM_ACTOR,
        },
        {
          type: "location_changed",
          message: "Location nl: down",
          data: { status: "down", error_message: "no route" },
          location: "nl",
          actor: SYSTEM_ACTOR,
        },
        {
          type: "recovered",
          message: "Incident recovered",
          data: { duration_seconds: 61 },
          location: null,
          actor: SYSTEM_ACTOR,
        },
      ]);
      expect((await plane.incidents.events(id, 1, 1)).rows.map((row) => row.type)).toEqual(["level_changed"]);
      expect(await plane.incidents.find(projectId + 1, id)).toBeUndefined();
    });

    it("keeps the first acknowledgement, also of a recovered one, from many at once", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const monitorId = await make(ground);
      await plane.sink.apply(
        batch(1, { incidents: [opening(monitorId), { type: "close", monitorId, atMs: NOW_MS + 1 }] }),
      );
      const [incident] = await plane.incidents.list(projectId, { monitorId, limit: 1 });
      const id = incident?.id ?? 0;
      const calls = Array.from({ length: 8 }, (_, index) =>
        plane.incidents.acknowledge(projectId, id, NOW_MS + 10 + index, { ...ADA, keyId: index }, `note ${index}`),
      );
      const answers = await Promise.all(calls);
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      const keyId = answers[0]?.acknowledgedBy?.keyId ?? -1;
      expect(answers[0]).toMatchObject({ acknowledgedAtMs: NOW_MS + 10 + keyId, eventCount: 3 });
      const { rows } = await plane.incidents.events(id, 10, 0);
      expect(rows.filter((row) => row.type === "acknowledged").map((row) => row.data)).toEqual([
        { note: `note ${keyId}` },
      ]);
      expect(await plane.incidents.acknowledge(projectId, id + 1, NOW_MS, ADA, null)).toBeUndefined();
      expect(await plane.incidents.acknowledge(projectId + 1, id, NOW_MS, ADA, null)).toBeUndefined();
    });

    it("has at most one open per monitor, whatever the sink says", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const a = await make(ground, { name: "a" });
      const b = await make(ground, { name: "b" });
      const close = (monitorId: number, atMs: number): IncidentChange => ({ type: "close", monitorId, atMs });
      await plane.sink.apply(
        batch(1, { incidents: [close(a, NOW_MS), opening(a, NOW_MS + 1), opening(a, NOW_MS + 2)] }),
      );
      await plane.sink.apply(
        batch(2, {
          incidents: [
            close(a, NOW_MS + 10),
            opening(b, NOW_MS + 10, "degraded"),
            opening(a, NOW_MS + 11),
            close(a, NOW_MS + 12),
            opening(b, NOW_MS + 12, "down"),
            opening(a, NOW_MS + 13),
          ],
        }),
      );
      const times = async (monitorId: number): Promise<unknown[]> =>
        (await plane.incidents.list(projectId, { monitorId, limit: 9 })).map((row) => [
          row.startedAtMs - NOW_MS,
          row.endedAtMs,
        ]);
      expect(await times(a)).toEqual([
        [13, null],
        [11, NOW_MS + 12],
        [1, NOW_MS + 10],
      ]);
      expect(await times(b)).toEqual([[10, null]]);
      const [raised] = await plane.incidents.list(projectId, { monitorId: b, limit: 9 });
      expect(raised).toMatchObject({ level: "down", eventCount: 2 });
      const [latest] = await plane.incidents.list(projectId, { monitorId: a, limit: 1 });
      const events = await plane.incidents.events(latest?.id ?? 0, 10, 0);
      expect(events.rows.map((row) => [row.type, row.atMs])).toEqual([["opened", NOW_MS + 13]]);
    });
  });
}
