/** The audit log: what is found in it, in which order, and what is forgotten. */
import { describe, expect, it } from "vitest";
import { AUDIT_KEPT_MS, type AuditFilter, type NewAuditEntry } from "../../store/sql/accounts/audit-port.ts";
import { ADA, type Ground, NOW_MS } from "./ground.suite.ts";

const ALL: AuditFilter = { fromMs: null, userId: null, what: null, limit: 10, offset: 0 };

export function auditTests(currentGround: () => Ground): void {
  const add = (over: Partial<NewAuditEntry> = {}) =>
    currentGround().plane.audit.add({
      organizationId: currentGround().organizationId,
      projectId: currentGround().projectId,
      atMs: NOW_MS,
      actor: ADA,
      what: "monitor.created",
      subject: { type: "monitor", id: "srv_1", name: "Shop \u0000 Ä" },
      detail: { fields: ["name"] },
      address: "192.0.2.7",
      ...over,
    });

  describe("the audit log", () => {
    it("has entries of one workspace, newest first, by user, word and time", async () => {
      const { plane, organizationId, projectId } = currentGround();
      await add();
      await add({ atMs: NOW_MS + 1, what: "monitor.deleted", actor: { ...ADA, id: 8 } });
      await add({ atMs: NOW_MS + 1, what: "monitored.deleted", projectId: null, address: null });
      await add({ organizationId: organizationId + 1 });
      const list = async (over: Partial<AuditFilter> = {}) => {
        const { rows, total } = await plane.audit.list(organizationId, { ...ALL, ...over }, NOW_MS + 9);
        return [total, ...rows.map(({ what, actor }) => `${what} ${actor.id}`)];
      };
      expect(await list()).toEqual([3, "monitored.deleted 7", "monitor.deleted 8", "monitor.created 7"]);
      expect(await list({ limit: 1, offset: 1 })).toEqual([3, "monitor.deleted 8"]);
      expect(await list({ userId: 8 })).toEqual([1, "monitor.deleted 8"]);
      expect(await list({ what: "monitor" })).toEqual([2, "monitor.deleted 8", "monitor.created 7"]);
      expect(await list({ what: "monitor.created" })).toEqual([1, "monitor.created 7"]);
      expect(await list({ fromMs: NOW_MS + 1 })).toEqual([2, "monitored.deleted 7", "monitor.deleted 8"]);
      const { rows } = await plane.audit.list(organizationId, { ...ALL, what: "monitor.created" }, NOW_MS);
      expect(rows[0]).toMatchObject({
        ...{ projectId, atMs: NOW_MS, actor: ADA, detail: { fields: ["name"] }, address: "192.0.2.7" },
        subject: { type: "monitor", id: "srv_1", name: "Shop \u0000 Ä" },
      });
    });

    it("shows nothing that is too old, and forgets it with the next entry", async () => {
      const { plane, organizationId } = currentGround();
      await add();
      const late = NOW_MS + AUDIT_KEPT_MS + 1;
      expect((await plane.audit.list(organizationId, ALL, late - 1)).total).toBe(1);
      expect((await plane.audit.list(organizationId, ALL, late)).total).toBe(0);
      await add({ atMs: late });
      expect((await plane.audit.list(organizationId, ALL, NOW_MS)).total).toBe(1);
    });
  });
}
