/** What jobs and the monthly quota must do, whatever they are kept in. Each test gets an empty place. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Actor, SYSTEM_ACTOR } from "../../model/actor.ts";
import { openControlPlane, type SqlLocation } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { openPostgres } from "../../store/sql/db/postgres.ts";
import { openSqlite } from "../../store/sql/db/sqlite.ts";
import { appendJob, openSyncJob } from "../../store/sql/jobs/jobs.ts";
import type { NewTestJob, TestResult } from "../../store/sql/jobs/port.ts";
import type { DatabaseMaker } from "./control-plane.suite.ts";
import { NOW_MS, newMonitor } from "./new-monitor.suite.ts";

const ADA: Actor = { type: "user", id: 7, name: "Ada", via: "api", keyId: 31 };
const HEALTHY: TestResult = {
  reason: "ran",
  status: "healthy",
  latencyMs: 41,
  connectMs: null,
  message: null,
  testedAtMs: NOW_MS + 5,
};

export function jobSuite(name: string, databases: DatabaseMaker): void {
  describe(`jobs on ${name}`, () => {
    let made: Awaited<ReturnType<DatabaseMaker["make"]>>;
    let plane: ControlPlane;
    let organizationId = 0;
    let projectId = 0;
    let monitorId = 0;

    beforeEach(async () => {
      made = await databases.make();
      plane = await openControlPlane(made.location, { role: "api" });
      const first = await plane.accounts.createFirst({
        email: "Owner@test-site.org",
        userName: "Owner",
        workspaceName: "Acme",
        plan: "business",
        projectName: "Production",
        nowMs: NOW_MS,
      });
      ({ organizationId, projectId } = first);
      monitorId = (await plane.monitors.create(newMonitor({ organizationId, projectId }), ADA)).id;
    });
    afterEach(async () => {
      await plane.close();
      await made.remove();
    });

    const job = (over: Partial<NewTestJob> = {}): NewTestJob => ({
      kind: "test",
      projectId,
      monitorId,
      testId: "tst_a",
      location: "any",
      incidentId: null,
      atMs: NOW_MS,
      expiresAtMs: NOW_MS + 600_000,
      ...over,
    });
    const order = (jobs: readonly NewTestJob[], quota: number | null, month = "2026-11", at = plane) =>
      at.jobs.order({ organizationId, month, quota, actor: ADA, jobs });
    const idOf = async (one: NewTestJob): Promise<number> => {
      const answer = await order([one], null);
      if (answer.type !== "queued" || answer.jobIds[0] === undefined) throw new Error("was refused");
      return answer.jobIds[0];
    };

    it("queues tests, gives them out oldest first, and ends each once", async () => {
      const answer = await order([job(), job({ testId: "tst_b", location: "de", kind: "retest" })], null);
      expect(answer).toEqual({ type: "queued", jobIds: [expect.any(Number), expect.any(Number)] });
      const [first, second] = await plane.jobs.openTests(10);
      expect([first?.testId, second?.testId]).toEqual(["tst_a", "tst_b"]);
      expect(second).toEqual({ ...job({ testId: "tst_b", location: "de", kind: "retest" }), id: second?.id });
      expect(await plane.jobs.openTests(1)).toHaveLength(1);
      const id = first?.id ?? 0;
      expect(await plane.jobs.testResult(id)).toBeNull();
      await plane.jobs.endTests([{ jobId: id, end: HEALTHY, atMs: NOW_MS + 9 }]);
      const late: TestResult = { ...HEALTHY, reason: "expired", status: "degraded", message: "too late" };
      await plane.jobs.endTests([{ jobId: id, end: late, atMs: NOW_MS + 10 }]);
      expect(await plane.jobs.testResult(id)).toEqual(HEALTHY);
      expect((await plane.jobs.openTests(10)).map((one) => one.testId)).toEqual(["tst_b"]);
      expect(await plane.jobs.testResult(id + 1_000)).toBeUndefined();
    });

    it("lets workspaces take turns, and projects within them, however much one has asked for", async () => {
      const sibling = (await plane.accounts.createProject(organizationId, "Sibling", NOW_MS))?.id ?? 0;
      const other = await plane.accounts.createWorkspace({
        name: "Other",
        plan: "business",
        projectName: "P",
        owner: { email: "other@test-site.org", name: null },
        nowMs: NOW_MS,
      });
      const orderOf = (letter: string, ofProject: number, count: number) =>
        order(
          Array.from({ length: count }, (_, index) => job({ testId: `tst_${letter}${index}`, projectId: ofProject })),
          null,
        );
      await orderOf("a", projectId, 30);
      await orderOf("b", sibling, 2);
      await orderOf("c", other?.projectId ?? 0, 2);
      const open = await plane.jobs.openTests(7);
      expect(open.map(({ testId }) => testId.slice(4))).toEqual(["a0", "c0", "b0", "c1", "a1", "b1", "a2"]);
      expect(await plane.jobs.openTests(100)).toHaveLength(34);
    });

    it("forgets what ended long ago, and nothing that is open", async () => {
      const ended = await idOf(job());
      const open = await idOf(job({ testId: "tst_b" }));
      await plane.jobs.endTests([{ jobId: ended, end: HEALTHY, atMs: NOW_MS + 1 }]);
      await plane.jobs.prune(NOW_MS + 1);
      expect(await plane.jobs.testResult(ended)).toEqual(HEALTHY);
      await plane.jobs.prune(NOW_MS + 2);
      expect(await plane.jobs.testResult(ended)).toBeUndefined();
      expect(await plane.jobs.testResult(open)).toBeNull();
    });

    it("lets a monitor take its jobs with it", async () => {
      const id = await idOf(job());
      await plane.monitors.remove(projectId, monitorId, NOW_MS, ADA);
      expect(await plane.jobs.testResult(id)).toBeUndefined();
      await plane.jobs.endTests([{ jobId: id, end: HEALTHY, atMs: NOW_MS }]);
      expect(await plane.jobs.openTests(10)).toEqual([]);
    });

    it("counts a month's tests, and refuses only when nothing is left", async () => {
      expect(await plane.jobs.onDemandUsed(organizationId, "2026-11")).toBe(0);
      expect(await order([job()], 0)).toEqual({ type: "refused", used: 0 });
      expect((await order([job()], 2)).type).toBe("queued");
      // One is left, three are asked for: they run, and the count passes the quota.
      expect((await order([job(), job(), job()], 2)).type).toBe("queued");
      expect(await order([job()], 2)).toEqual({ type: "refused", used: 4 });
      expect(await plane.jobs.onDemandUsed(organizationId, "2026-11")).toBe(4);
      expect((await order([job()], 2, "2026-12")).type).toBe("queued");
      expect((await order([job()], null)).type).toBe("queued");
      expect(await plane.jobs.onDemandUsed(organizationId, "2026-12")).toBe(1);
      expect(await plane.jobs.onDemandUsed(organizationId + 1, "2026-11")).toBe(0);
      expect(await plane.jobs.openTests(100)).toHaveLength(6);
    });

    it("lets no single test too many through, however many ask at once and wherever", async () => {
      const other = await openControlPlane(made.location, { role: "api" });
      try {
        const asked = Array.from({ length: 50 }, (_, index) =>
          order([job({ testId: `tst_${index}` })], 20, "2026-11", index % 2 === 0 ? plane : other),
        );
        const answers = await Promise.all(asked);
        expect(answers.filter((answer) => answer.type === "queued")).toHaveLength(20);
        expect(await plane.jobs.onDemandUsed(organizationId, "2026-11")).toBe(20);
        expect(await plane.jobs.openTests(100)).toHaveLength(20);
      } finally {
        await other.close();
      }
    });

    it("writes a retest into its incident, asked for and ended", async () => {
      await plane.sink.apply({
        spool: "spool",
        appliedSeq: 1,
        live: [],
        drainedInboxIds: [],
        incidents: [
          {
            type: "open",
            monitorId,
            atMs: NOW_MS,
            startedAtMs: NOW_MS,
            level: "down",
            message: "refused",
            category: null,
            locations: ["any"],
          },
        ],
      });
      const [incident] = await plane.incidents.list(projectId, { monitorId, limit: 1 });
      const incidentId = incident?.id ?? 0;
      const id = await idOf(job({ kind: "retest", incidentId, atMs: NOW_MS + 10 }));
      await plane.jobs.endTests([
        { jobId: id, end: { ...HEALTHY, status: "down", latencyMs: null, message: "refused" }, atMs: NOW_MS + 20 },
      ]);
      const { rows, total } = await plane.incidents.events(incidentId, 10, 0);
      expect(total).toBe(3);
      expect(rows[1]).toMatchObject({ type: "retest_queued", actor: ADA, data: { test_id: "tst_a" } });
      expect(rows[2]).toMatchObject({
        type: "retest_finished",
        actor: SYSTEM_ACTOR,
        atMs: NOW_MS + 20,
        data: { test_id: "tst_a", status: "down", latency_ms: null, error_message: "refused" },
      });
      expect((await plane.incidents.find(projectId, incidentId))?.eventCount).toBe(3);
    });

    it("has one open sync of a subscription", async () => {
      const database = await openDatabase(made.location);
      try {
        const sync = { kind: "sync", projectId, subscriptionId: 5, atMs: NOW_MS } as const;
        const ids = await Promise.all([1, 2, 3].map(() => database.write((session) => appendJob(session, sync))));
        expect(new Set(ids).size).toBe(1);
        expect(await plane.jobs.openSyncs(10)).toEqual([{ ...sync, id: ids[0], organizationId }]);
        expect(await database.write((session) => openSyncJob(session, 5))).toBe(ids[0]);
        expect(await database.write((session) => openSyncJob(session, 6))).toBeUndefined();
        await plane.jobs.endSync(ids[0] ?? 0, NOW_MS + 1);
        expect(await plane.jobs.openSyncs(10)).toEqual([]);
        const next = await database.write((session) => appendJob(session, sync));
        expect(next).not.toBe(ids[0]);
        expect(await plane.jobs.openTests(10)).toEqual([]);
      } finally {
        await database.close();
      }
    });
  });
}

function openDatabase(place: SqlLocation) {
  return "url" in place ? openPostgres(place.url) : openSqlite({ file: place.file, durable: true });
}
