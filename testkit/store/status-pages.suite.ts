/** Status pages: settings, unique names, announcements, and what readers are shown of many monitors at once. */
import { describe, expect, it } from "vitest";
import { NEW_PAGE, type StatusPage } from "../../model/status-page.ts";
import { MOST_PAGES, MOST_UPDATES } from "../../store/sql/status-pages/port.ts";
import { ADA, type Another, batch, type Ground, liveOf, make, NOW_MS, opening } from "./ground.suite.ts";

const HOUR_MS = 3_600_000;
const pause = async (): Promise<void> => {};

function pageOf(over: Partial<StatusPage> = {}): StatusPage {
  return { ...NEW_PAGE, slug: "acme", title: "Acme", ...over };
}

async function createPage({ plane, projectId }: Ground, over: Partial<StatusPage> = {}, badgeName = "badge-name-1") {
  const accessSealed = (id: number): string => `sealed ${id}`;
  return plane.statusPages.create({ projectId, page: pageOf(over), badgeName, accessSealed, nowMs: NOW_MS });
}

export function statusPageTests(currentGround: () => Ground, _another: Another): void {
  describe("status pages", () => {
    it("are kept as they were written, sealed text and domains with them", async () => {
      const { plane, projectId } = currentGround();
      const groups = [
        {
          title: "Europe \u{1F30D}",
          open: "problems" as const,
          components: [
            { servers: { tags: ["eu"], not: { ids: [7] } }, title: "All", text: "", merge: "worst" as const },
          ],
        },
      ];
      const page = pageOf({
        groups,
        css: "a{}",
        logo: "data:image/png;base64,AAAA",
        domains: ["b.acme.org", "a.acme.org"],
      });
      const written = await createPage(currentGround(), page);
      const known = { id: 1, projectId, badgeName: "badge-name-1", createdAtMs: NOW_MS, updatedAtMs: NOW_MS };
      const record = { ...page, ...known, domains: ["a.acme.org", "b.acme.org"], accessSealed: "sealed 1" };
      expect(written).toEqual({ type: "written", page: record });
      expect(await plane.statusPages.find(projectId, 1)).toEqual(record);
      expect(await plane.statusPages.find(projectId + 1, 1)).toBeUndefined();
      expect(await plane.statusPages.bySlug("acme")).toEqual(record);
      expect(await plane.statusPages.byBadge("badge-name-1")).toEqual(record);
      const { accessSealed: _, ...row } = record;
      expect(await plane.statusPages.list(projectId)).toEqual([row]);
      expect(await plane.statusPages.list(null)).toEqual([row]);
      expect(await plane.statusPages.list(projectId + 1)).toEqual([]);
    });

    it("have one slug and one domain in the whole service, also when two are written at once", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const both = await Promise.all([createPage(ground, {}, "one"), createPage(ground, {}, "two")]);
      expect(both.map(({ type }) => type).sort()).toEqual(["slug-taken", "written"]);
      await createPage(ground, { slug: "other", domains: ["status.acme.org"] }, "three");
      const second = await createPage(ground, { slug: "third", domains: ["x.acme.org", "status.acme.org"] }, "four");
      expect(second).toEqual({ type: "domain-taken", domain: "status.acme.org" });
      expect(await plane.statusPages.bySlug("third")).toBeUndefined();
      const other = await plane.statusPages.bySlug("other");
      const taken = await plane.statusPages.update(projectId, other?.id ?? 0, NOW_MS, (before) => ({
        page: { ...before, slug: "acme" },
        accessSealed: before.accessSealed,
      }));
      expect(taken).toEqual({ type: "slug-taken" });
      expect((await plane.statusPages.bySlug("other"))?.id).toBe(other?.id);
    });

    it("change as a whole, lead by domain once published, and go with what belongs to them", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const { statusPages } = plane;
      await createPage(ground, { domains: ["status.acme.org"] });
      expect([...(await statusPages.domains())]).toEqual([]);
      const changed = await statusPages.update(projectId, 1, NOW_MS + 5, (before) => ({
        page: { ...before, published: true, title: "New", domains: ["status.acme.org", "two.acme.org"] },
        accessSealed: `${before.accessSealed} again`,
      }));
      expect(changed).toMatchObject({
        type: "written",
        page: { title: "New", published: true, updatedAtMs: NOW_MS + 5, accessSealed: "sealed 1 again" },
      });
      expect([...(await statusPages.domains())].sort()).toEqual([
        ["status.acme.org", "acme"],
        ["two.acme.org", "acme"],
      ]);
      await statusPages.addUpdate(1, { level: "info", title: "t", text: "", atMs: NOW_MS, endsAtMs: null }, ADA);
      const decide = (): never => {
        throw new Error("it is not asked");
      };
      expect(await statusPages.update(projectId + 1, 1, NOW_MS, decide)).toBeUndefined();
      expect(await statusPages.remove(projectId + 1, 1)).toBe(false);
      expect(await statusPages.remove(projectId, 1)).toBe(true);
      expect(await statusPages.remove(projectId, 1)).toBe(false);
      expect([...(await statusPages.domains())]).toEqual([]);
      expect((await statusPages.updates(1, 9, 0)).total).toBe(0);
    });

    it("are so many at most", async () => {
      const ground = currentGround();
      for (let n = 0; n < MOST_PAGES; n++) await createPage(ground, { slug: `p${n}` }, `b${n}`);
      expect(await createPage(ground, { slug: "more" }, "more")).toEqual({ type: "too-many" });
    });

    it("announce, the newest first; the oldest go when there are too many", async () => {
      const ground = currentGround();
      const { statusPages } = ground.plane;
      await createPage(ground);
      const update = { level: "maintenance" as const, title: "t\0", text: "\ud800", endsAtMs: NOW_MS + HOUR_MS };
      const first = await statusPages.addUpdate(1, { ...update, atMs: NOW_MS }, ADA);
      if (first === undefined) throw new Error("no update was made");
      expect(first).toEqual({ id: first.id, ...update, title: "t\ufffd", text: "\ufffd", atMs: NOW_MS, actor: ADA });
      const changed = await statusPages.changeUpdate(1, first.id, (before) => ({ ...before, title: "new" }));
      expect(changed).toMatchObject({ id: first.id, title: "new" });
      expect(await statusPages.changeUpdate(2, first.id, () => null)).toBeUndefined();
      expect(await statusPages.addUpdate(99, { ...update, atMs: NOW_MS }, ADA)).toBeUndefined();
      for (let n = 1; n <= MOST_UPDATES; n++) await statusPages.addUpdate(1, { ...update, atMs: NOW_MS + n }, ADA);
      const { rows, total } = await statusPages.updates(1, 2, 0);
      expect([total, rows[0]?.atMs]).toEqual([MOST_UPDATES, NOW_MS + MOST_UPDATES]);
      expect(await statusPages.changeUpdate(1, first.id, () => null)).toBeUndefined();
      expect(await statusPages.changeUpdate(1, rows[0]?.id ?? 0, () => null)).toMatchObject({ id: rows[0]?.id });
      expect((await statusPages.updates(1, 1, 0)).total).toBe(MOST_UPDATES - 1);
    });

    it("read their monitors and the past of those that something happened to", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const [a, b] = [await make(ground, { name: "B" }), await make(ground, { name: "a", tags: [] })];
      await plane.sink.apply(batch(1, { live: [liveOf(a)], incidents: [opening(a)] }));
      await plane.monitors.update(projectId, b, NOW_MS + 5, ADA, () => ({ addPauseReason: "user" }));
      const members = await plane.statusPages.members(projectId, pause);
      expect(members.map(({ id, name, isPaused, tags }) => [id, name, isPaused, tags])).toEqual([
        [b, "a", true, []],
        [a, "B", false, ["prod"]],
      ]);
      const pasts = await plane.statusPages.pasts(members, NOW_MS - HOUR_MS, pause);
      for (const { id, createdAtMs } of members)
        expect(pasts.get(id)).toEqual(await plane.incidents.past({ id, createdAtMs }, NOW_MS - HOUR_MS));
      expect([...(await plane.statusPages.pasts([], 0, pause))]).toEqual([]);
    });

    it("tell what was written for readers, and nothing else", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const [a, b] = [await make(ground), await make(ground, { name: "second" })];
      await plane.sink.apply(batch(1, { live: [liveOf(a), liveOf(b)], incidents: [opening(a), opening(b)] }));
      const note = (text: string, isPublic: boolean) => ({ text, phase: null, public: isPublic });
      await plane.incidents.addNote(projectId, 1, note("first", true), NOW_MS + 1, ADA);
      await plane.incidents.addNote(projectId, 1, note('inside, "public":true', false), NOW_MS + 2, ADA);
      await plane.incidents.addNote(projectId, 1, note("second", true), NOW_MS + 3, ADA);
      const report = { title: "Router", postmortem: "*why*", public: false };
      expect(await plane.incidents.setReport(projectId, 2, report)).toBe(true);
      expect(await plane.incidents.setReport(projectId + 1, 2, report)).toBe(false);
      expect(await plane.incidents.report(2)).toEqual(report);
      expect(await plane.incidents.report(1)).toBeNull();
      const before = await plane.statusPages.words([1, 2]);
      expect([...before.keys()]).toEqual([1]);
      expect(before.get(1)?.notes.map(({ text, atMs }) => [text, atMs])).toEqual([
        ["first", NOW_MS + 1],
        ["second", NOW_MS + 3],
      ]);
      // More than are shown of one page (MOST_NOTES in store/sql/status-pages/reads.ts).
      for (let n = 0; n < 300; n += 1)
        await plane.incidents.addNote(projectId, 1, note(`inside ${n}`, false), NOW_MS + 4, ADA);
      expect((await plane.statusPages.words([1])).get(1)?.notes).toHaveLength(2);
      await plane.incidents.setReport(projectId, 2, { ...report, public: true });
      expect((await plane.statusPages.words([2])).get(2)).toEqual({ title: "Router", postmortem: "*why*", notes: [] });
    });
  });
}
