/** The audit log: one entry for each request that changed something, none for any other (docs/api-contract.md#audit). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openWorld, type World } from "./world.suite.ts";

interface Entry {
  readonly what: string;
  readonly subject: { readonly id: string | null; readonly name: string | null };
  readonly detail: Readonly<Record<string, unknown>>;
}

export function auditSuite(server: "net" | "node"): void {
  describe("the audit log", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server);
    });
    afterAll(() => world.close());

    const entries = async (query = ""): Promise<readonly Entry[]> =>
      (await world.send("GET", `/api/v1/audit${query}`)).body.entries;
    /** What a request left. */
    const left = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
      world.clock.nowMs += 1;
      const before = (await entries()).length;
      const answer = await world.send(method, `/api/v1${path}`, { ...(body !== undefined && { body }), headers });
      const after = await entries();
      const news = after.slice(0, after.length - before);
      return { answer, news: news.map(({ what, subject, detail }) => [what, subject.id, subject.name, detail]) };
    };
    const site = { type: "http", name: "Shop", url: "https://u:p4ss@shop.test-site.org/?token=s3cret" };

    it("has one entry for a change, with names of fields and no value", async () => {
      const created = await left("POST", "/servers", site);
      const { id } = created.answer.body;
      expect(created.news).toEqual([["monitor.created", id, "Shop", {}]]);
      const change = { name: "Shop 2", url: `${site.url}2`, s3cret: 1 };
      expect((await left("PUT", `/servers/${id}`, change)).news).toEqual([
        ["monitor.updated", id, "Shop 2", { fields: ["name", "url"] }],
      ]);
      expect((await left("POST", "/servers/bulk", { select: { all: true }, action: "pause" })).news).toEqual([
        ["monitor.paused", null, null, { matched: 1, changed: 1 }],
      ]);
      const ends = new Date(world.clock.nowMs + 60_000).toISOString();
      const planned = await left("POST", "/maintenances", { server_ids: [id], ends_at: ends });
      expect(planned.news).toEqual([["maintenance.created", null, null, { windows: 1 }]]);
      const window = planned.answer.body.maintenances[0].id;
      expect((await left("POST", `/maintenances/${window}/end`)).news).toEqual([
        ["maintenance.ended", window, "Shop 2", {}],
      ]);
      expect((await left("DELETE", `/servers/${id}`)).news).toEqual([["monitor.deleted", id, "Shop 2", {}]]);
      const list = await left("POST", "/subscriptions", { name: "List", url: "https://l.test-site.org/s3cret" });
      const subscription = String(list.answer.body.id);
      expect(list.news).toEqual([["subscription.created", subscription, "List", {}]]);
      expect((await left("DELETE", `/subscriptions/sub_${subscription}`)).news).toEqual([
        ["subscription.deleted", `sub_${subscription}`, "List", {}],
      ]);
      const channel = { kind: "ntfy", name: "Phone", settings: { topic: "sonde", token: "tk_s3cret" } };
      const channelId = (await left("POST", "/channels", channel)).answer.body.id;
      expect((await left("DELETE", `/channels/${channelId}`)).news).toEqual([
        ["channel.deleted", channelId, "Phone", {}],
      ]);
      const pageId = (await left("POST", "/status-pages", { slug: "audited", title: "Acme" })).answer.body.id;
      expect((await left("DELETE", `/status-pages/${pageId}`)).news).toEqual([
        ["status-page.deleted", pageId, "Acme", {}],
      ]);
      const key = await left("POST", "/keys", { name: "ci" });
      expect(key.news).toEqual([["key.created", String(key.answer.body.id), "ci", {}]]);
      expect((await left("DELETE", `/keys/${key.answer.body.id}?hard=1`)).news).toEqual([
        ["key.deleted", String(key.answer.body.id), "ci", {}],
      ]);
      const text = (await world.send("GET", "/api/v1/audit")).text;
      for (const secret of ["p4ss", "s3cret", key.answer.body.key]) expect(text).not.toContain(secret);
    });

    it("has none for what was refused, changed nothing, was dry or sent again", async () => {
      const { id } = (await left("POST", "/servers", { ...site, name: "Other" })).answer.body;
      expect((await left("POST", "/servers", { ...site, name: "" })).news).toEqual([]);
      expect((await left("PUT", "/servers/srv_999999", { name: "x" })).news).toEqual([]);
      const all = { select: { all: true } };
      expect((await left("POST", "/servers/bulk", { ...all, action: "pause", dry_run: true })).news).toEqual([]);
      expect((await left("POST", "/servers/bulk", { ...all, action: "resume" })).news).toEqual([]);
      const once = { "idempotency-key": "one" };
      expect((await left("POST", "/keys", { name: "once" }, once)).news.length).toBe(1);
      expect((await left("POST", "/keys", { name: "once" }, once)).news).toEqual([]);
      expect((await left("POST", "/test/batch", { server_ids: [id] })).news).toEqual([]);
    });

    it("has one for a sign-in and one for a sign-out, by the person", async () => {
      const page = { "x-sonde-page": "1" };
      const signIn = { key: null, project: null, headers: page, body: { key: world.key } };
      const cookie = String((await world.send("POST", "/api/v1/session", signIn)).headers["set-cookie"]).split(";")[0];
      const [started] = (await world.send("GET", "/api/v1/audit?limit=1")).body.entries;
      expect(started).toMatchObject({ what: "session.started", detail: { via: "key" }, address: "127.0.0.1" });
      expect(started.actor).toMatchObject({ id: world.userId, name: "Ada Byron", via: "dashboard" });
      expect(JSON.stringify(started)).not.toContain(cookie?.split(".")[1]);
      const out = { key: null, project: null, headers: { ...page, cookie: cookie ?? "" } };
      expect((await world.send("DELETE", "/api/v1/session", out)).status).toBe(200);
      expect((await entries("?limit=1"))[0]?.what).toBe("session.ended");
    });

    it("is filtered, and is for owners and admins of the workspace", async () => {
      const words = (rows: readonly Entry[]) => [...new Set(rows.map(({ what }) => what))].sort();
      expect(words(await entries("?what=key"))).toEqual(["key.created", "key.deleted"]);
      expect(words(await entries("?what=key.deleted"))).toEqual(["key.deleted"]);
      expect(await entries(`?actor=${world.userId + 999}`)).toEqual([]);
      const later = new Date(world.clock.nowMs + 1).toISOString();
      expect(await entries(`?from=${later}`)).toEqual([]);
      for (const [query, message] of [
        ["?actor=x", "actor must be the id of a user."],
        ["?what=%25", "what must be a word of the audit log, such as monitor.deleted or monitor."],
      ])
        expect((await world.send("GET", `/api/v1/audit${query}`)).body).toMatchObject({ code: 400, message });
      const other = await world.controlPlane.accounts.createWorkspace({
        ...{ name: "Second", plan: "business", projectName: "P", nowMs: world.clock.nowMs },
        owner: { email: "second@test-site.org", name: null },
      });
      const key = await world.newKey({ userId: other?.userId ?? 0, organizationId: other?.organizationId ?? 0 });
      expect((await world.send("GET", "/api/v1/audit", { key })).body).toEqual({ entries: [], total: 0 });
      const foreign = await world.send("GET", `/api/v1/audit?organization_id=${world.organizationId}`, { key });
      expect([foreign.status, foreign.body.message]).toEqual([403, "You do not have access to this organization"]);
      const { organizationId } = world;
      const manager = await world.controlPlane.accounts.addMember(
        organizationId,
        { email: "m@test-site.org", name: null },
        "manager",
        world.clock.nowMs,
      );
      const managers = await world.newKey({ userId: manager?.userId ?? 0, organizationId });
      const refused = await world.send("GET", "/api/v1/audit", { key: managers });
      expect([refused.status, refused.body.message]).toEqual([403, "The audit log is for owners and admins."]);
    });

    it("that cannot be written takes nothing back, and is missed in the log", async () => {
      const { audit } = world.controlPlane;
      const add = audit.add;
      Object.assign(audit, { add: () => Promise.reject(new Error("full")) });
      const answer = await world.send("POST", "/api/v1/keys", { body: { name: "still" } });
      Object.assign(audit, { add });
      expect(answer.status).toBe(200);
      expect(world.log.some((line) => line.includes("a change has no entry in the audit log"))).toBe(true);
    });
  });
}
