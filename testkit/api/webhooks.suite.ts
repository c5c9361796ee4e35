/** Webhooks in the API (docs/api-contract.md#webhooks). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import { openWorld, type World } from "./world.suite.ts";

const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

export function webhooksSuite(server: "net" | "node"): void {
  describe("webhooks", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server);
    });
    afterAll(() => world.close());

    const send = (method: string, path: string, body?: unknown) =>
      world.send(method, `/api/v1/webhooks${path}`, body === undefined ? {} : { body });
    const url = "https://hooks.test-site.org/services/t0ken?key=t0ken";

    it("are made, read, changed, switched, tested and deleted; the secret is shown once, the address never", async () => {
      const made = await send("POST", "", { url, events: ["incident.opened"] });
      const { secret, ...shown } = made.body;
      expect(secret).toMatch(SECRET);
      expect(shown).toEqual({
        ...{ id: expect.any(Number), project_id: `prj_${world.projectId}`, url: "https://hooks.test-site.org/***" },
        ...{ events: ["incident.opened"], active: true, off_reason: null, off_at: null, failing_since: null },
        ...{ last_success_at: null, created_at: new Date(world.clock.nowMs).toISOString() },
      });
      const { id } = shown;
      expect((await send("GET", `/${id}`)).body).toEqual(shown);
      expect((await send("GET", "")).body).toEqual({ webhooks: [shown], total: 1 });
      const moved = await send("PUT", `/${id}`, { url: "https://other.test-site.org/t0ken2", events: null });
      expect(moved.body).toEqual({ ...shown, url: "https://other.test-site.org/***", events: null });
      const rotated = await send("POST", `/${id}/rotate`);
      expect(rotated.body).toEqual({
        ...{ id, secret: expect.stringMatching(SECRET) },
        old_secret_until: new Date(world.clock.nowMs + 86_400_000).toISOString(),
      });
      expect(rotated.body.secret).not.toBe(secret);
      expect((await send("POST", `/${id}/test`)).body).toEqual({ id, queued: true });
      expect((await send("POST", `/${id}/disable`)).body).toMatchObject({ active: false, off_reason: "operator" });
      const off = await send("POST", `/${id}/test`);
      expect([off.status, off.body.message]).toEqual([409, "The webhook is switched off. Enable it to test it."]);
      expect((await send("POST", `/${id}/enable`)).body).toMatchObject({ active: true, off_reason: null });

      const { leases, outgoing } = world.controlPlane;
      const epoch = (await leases.take("sender", "a test", undefined)) ?? 0;
      await outgoing.fanOut(epoch, { limit: 9, nowMs: world.clock.nowMs });
      const nowMs = world.clock.nowMs + 1;
      const [due] = await outgoing.due({ nowMs, failing: false, perWebhook: 1, webhooks: 1, except: [] });
      const opened = world.sealing.open(SEALED_CELLS.webhookUrl(id), due?.urlSealed ?? "");
      expect(opened).toBe("https://other.test-site.org/t0ken2");
      const ended = { deliveryId: due?.id ?? 0, webhookId: id, atMs: nowMs, statusCode: 204, error: null };
      await outgoing.record(epoch, [{ ...ended, durationMs: 12.4, random: 0.5 }]);
      expect((await send("GET", `/${id}/deliveries`)).body).toMatchObject({
        ...{ webhook_id: id, total: 1 },
        deliveries: [{ type: "webhook.test", state: "delivered", attempts: [{ status_code: 204, duration_ms: 12 }] }],
      });
      expect((await send("DELETE", `/${id}`)).body).toEqual({ success: true, id });
      expect((await send("GET", `/${id}`)).status).toBe(404);
      const audit = (await world.send("GET", "/api/v1/audit?what=webhook")).text;
      expect(JSON.parse(audit).total).toBe(6);
      for (const text of ["t0ken", secret, rotated.body.secret]) expect(audit).not.toContain(text);
    });

    it.each([
      [{}, 400, "Missing or invalid url"],
      [{ url: "ftp://hooks.test-site.org/" }, 400, "Missing or invalid url"],
      [{ url: `https://hooks.test-site.org/${"x".repeat(8_192)}` }, 400, "Missing or invalid url"],
      [{ url: "https://u:p@hooks.test-site.org/" }, 400, "url must not carry a user name or a password."],
      [{ url: "http://10.0.0.7/" }, 422, expect.stringMatching(/^10\.0\.0\.7 is refused: /)],
      [{ url: "https://inside.test-site.org/" }, 422, expect.stringMatching(/^inside\.test-site\.org is refused: /)],
      [{ url, events: ["incident.opened", "x"] }, 400, "events must be null or a list of types of events."],
      [{ url, events: [] }, 400, "events must be null or a list of types of events."],
    ])("refuse %j", async (body, code, message) => {
      expect((await send("POST", "", body)).body).toEqual({ error: true, code, message });
    });

    it("of another project are not there", async () => {
      const { body } = await send("POST", "", { url });
      const project = await world.controlPlane.accounts.createProject(world.organizationId, "P", world.clock.nowMs);
      const other = await world.send("GET", `/api/v1/webhooks/${body.id}`, { project: `prj_${project?.id}` });
      expect(other.status).toBe(404);
    });
  });
}
