/** Rules of alerts, quiet hours, who would hear, and links that acknowledge (docs/api-contract.md#alerts). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { acknowledgeToken } from "../../model/alerting-acknowledge.ts";
import { SENDER_LEASE } from "../../store/sql/coordination/leases-port.ts";
import { batch, opening } from "../store/ground.suite.ts";
import { openWorld, type Send, type World } from "./world.suite.ts";

const RULE = { name: "Production", match: { select: { tags: ["prod"] } }, group_by: "host" };
const NIGHT = { name: "Night", timezone: "Europe/Berlin", spans: [{ days: [1, 2], from: "22:00", to: "07:00" }] };
const DAY_MS = 86_400_000;

export function alertsSuite(server: "net" | "node"): void {
  describe("rules of alerts", () => {
    let world: World;
    let serverId = "";
    let channelId = "";
    let seq = 0;
    beforeAll(async () => {
      world = await openWorld(server);
      const body = { type: "ping", name: "<Berlin>", host: "a.test-site.org", tags: ["prod"] };
      serverId = (await world.send("POST", "/api/v1/servers", { body })).body.id;
      const settings = { server: "https://ntfy.test-site.org", topic: "sonde" };
      channelId = (await world.send("POST", "/api/v1/channels", { body: { kind: "ntfy", name: "Phone", settings } }))
        .body.id;
    });
    afterAll(() => world.close());

    const read = async (path: string) => (await world.send("GET", `/api/v1/${path}`)).body;
    const putRules = (rules: readonly object[], version: number) =>
      world.send("PUT", "/api/v1/alert-rules", { body: { version, rules } });
    const putQuiet = (hours: readonly object[], version: number) =>
      world.send("PUT", "/api/v1/quiet-hours", { body: { version, quiet_hours: hours } });
    const preview = (body: object) => world.send("POST", "/api/v1/alert-rules/preview", { body });
    /** @returns the token of a message about a new incident */
    const told = async (): Promise<{ readonly token: string; readonly incidentId: number }> => {
      const { controlPlane, clock, sealing } = world;
      const id = Number(serverId.slice(4));
      await controlPlane.sink.apply(batch(++seq, { incidents: [opening(id, clock.nowMs)] }));
      const epoch =
        (await controlPlane.leases.take(SENDER_LEASE, "test", await controlPlane.leases.read(SENDER_LEASE))) ?? 0;
      while ((await controlPlane.outgoing.fanOut(epoch, { limit: 100, nowMs: clock.nowMs })) > 0);
      const [incident] = await controlPlane.incidents.list(world.projectId, { monitorId: id, limit: 1 });
      // All of them join the group of their host, which no sender closes here.
      const of = { groupId: 1, channel: { id: Number(channelId.slice(3)) } };
      return { token: acknowledgeToken(sealing, of, clock.nowMs), incidentId: incident?.id ?? 0 };
    };
    /** By a person or a service that has the link and nothing else. */
    const follow = (method: string, token: string, send: Send = {}) =>
      world.send(method, `/ack/${token}`, { key: null, project: null, ...send });

    it("are one list, written whole, with the version that was read", async () => {
      const first = await read("alert-rules");
      expect(first).toMatchObject({ version: 0, rules: [{ id: 0, name: "Everything", template: null }] });
      const template = { title: "{{ name }}: {{ status }}", summary: null };
      const written = await putRules([{ ...RULE, channels: [channelId], template }, { name: "Rest" }], 0);
      expect(written.body).toMatchObject({
        version: 1,
        rules: [
          { name: "Production", channels: [channelId], match: { select: { tags: ["prod"] } }, template },
          { name: "Rest", channels: null, wait_s: 30, interval_s: 300, template: null },
        ],
      });
      const { version, rules } = await read("alert-rules");
      expect({ version, rules }).toEqual({ version: 1, rules: written.body.rules });
      expect((await putRules([], 0)).status).toBe(409);
      const moved = await putRules([rules[1], rules[0]], 1);
      expect(moved.body.rules.map(({ id }: { id: number }) => id)).toEqual([rules[1].id, rules[0].id]);
      expect((await putRules([], 2)).body).toMatchObject({ version: 3, rules: [{ id: 0 }] });
    });

    it.each<[object, RegExp]>([
      [{}, /^rules\.0\.name: /],
      [{ name: "a", channels: ["ch_999"] }, /^rules\.0\.channels: there is no channel ch_999$/],
      [{ name: "a", quiet_hours: 99 }, /^rules\.0\.quiet_hours: /],
      [{ name: "a", group_by: "colour" }, /^rules\.0\.group_by: /],
      [{ name: "a", match: { select: { colour: 1 } } }, /^rules\.0\.match\.select/],
      [{ name: "a", template: { title: "{{ name" } }, /^rules\.0\.template\.title: /],
      [{ name: "a", template: { title: "{% include 'x' %}" } }, /^rules\.0\.template\.title: /],
      [{ name: "a", escalation: [{ after_s: 60, channels: [] }] }, /^rules\.0\.escalation/],
      [{ id: 999, name: "a" }, /no rule of this project/],
    ])("refuse %j", async (rule, words) => {
      const { version } = await read("alert-rules");
      const { status, body } = await putRules([rule], version);
      expect(status).toBe(400);
      expect(body.error.message ?? body.message).toMatch(words);
    });

    it("name quiet hours, which stay as long as a rule names them", async () => {
      const { version } = await read("quiet-hours");
      const made = (await putQuiet([NIGHT], version)).body;
      expect(made.quiet_hours).toMatchObject([{ ...NIGHT, mode: "hold", let_through: { severity: [], tags: [] } }]);
      const [{ id }] = made.quiet_hours;
      const rules = await read("alert-rules");
      await putRules([{ ...RULE, quiet_hours: id }], rules.version);
      expect((await putQuiet([], made.version)).status).toBe(409);
      expect((await putQuiet([NIGHT], version)).status).toBe(409);
      expect((await putQuiet([{ ...NIGHT, id: 999 }], made.version)).status).toBe(400);
      expect((await putQuiet([{ ...NIGHT, timezone: "Mars/Olympus" }], made.version)).status).toBe(400);
      // A Tuesday, ten past seven in Berlin: later than its quiet hours.
      const { body } = await preview({ server_id: serverId });
      expect(body).toMatchObject({
        silent_because: null,
        steps: [{ rule: { name: "Production" }, matched: true, channels: [{ id: channelId, name: "Phone" }] }],
      });
      await putRules([], rules.version + 1);
      expect((await putQuiet([], made.version)).body.quiet_hours).toEqual([]);
    });

    it("say who would hear of a monitor, and of an incident", async () => {
      const { incidentId } = await told();
      const { body } = await preview({ incident_id: `inc_${incidentId}` });
      expect(body.steps).toMatchObject([{ rule: { id: 0 }, because: "the rule matches", after_s: 2 }]);
      const { version } = await read("alert-rules");
      await putRules([{ ...RULE, match: { events: ["certificate"] } }], version);
      expect((await preview({ incident_id: `inc_${incidentId}` })).body).toMatchObject({
        steps: [{ matched: false, because: "the rule is not about down", channels: [] }],
        silent_because: "No rule matches.",
      });
      expect((await preview({ server_id: serverId, event: "certificate" })).body.silent_because).toBeNull();
      expect((await preview({ incident_id: "inc_999" })).status).toBe(404);
      expect((await preview({ server_id: serverId, incident_id: "inc_1" })).status).toBe(400);
      await putRules([], version + 1);
      const close = { type: "close" as const, monitorId: Number(serverId.slice(4)), atMs: world.clock.nowMs };
      await world.controlPlane.sink.apply(batch(++seq, { incidents: [close] }));
    });

    it("are followed by links that acknowledge by a press, and never by a look", async () => {
      const { token, incidentId } = await told();
      const path = `/api/v1/incidents/inc_${incidentId}`;
      for (const method of ["GET", "HEAD", "GET"]) {
        const looked = await follow(method, token);
        expect([method, looked.status]).toEqual([method, 200]);
        expect(looked.headers["cache-control"]).toBe("no-store");
        if (method === "GET") expect(looked.text).toContain('<form method="post">');
        expect(looked.text).not.toContain("<Berlin>");
      }
      expect((await world.send("GET", path)).body.acknowledged_at ?? null).toBeNull();
      const pressed = await follow("POST", token, { raw: "" });
      expect([pressed.status, pressed.text]).toEqual([200, expect.stringContaining("Acknowledged: &lt;Berlin&gt;")]);
      expect((await world.send("GET", path)).body.acknowledged_at).not.toBeNull();
      for (const method of ["GET", "POST"])
        expect((await follow(method, token)).text).toContain("Nothing is left to acknowledge.");
      const { events } = (await world.send("GET", `${path}/events`)).body;
      expect(JSON.stringify(events)).toContain("from a message by ntfy (Phone)");
      expect(JSON.stringify(events)).not.toContain(token);
      expect(world.log.join("\n")).not.toContain(token);
    });

    it("do not follow links that are forged, of another tenant, too old, or cut", async () => {
      const { sealing, clock } = world;
      const channel = { id: Number(channelId.slice(3)) };
      const elsewhere = world.sql(
        "insert into projects (organization_id, name, active, created_at_ms) select organization_id, 'Other', 1, 0 from projects limit 1",
      );
      const group = world.sql(
        `insert into alert_groups (project_id, rule_id, key, is_notice, is_fold, state, step, repeats, changed_at_ms, opened_at_ms)
         values (?, 0, 'k', 0, 0, 'open', 0, 0, 0, 0)`,
        elsewhere,
      );
      const good = acknowledgeToken(sealing, { groupId: 1, channel }, clock.nowMs);
      const bad = [
        // The channel of one project, the group of another.
        acknowledgeToken(sealing, { groupId: group, channel }, clock.nowMs),
        acknowledgeToken(sealing, { groupId: 9_999, channel }, clock.nowMs),
        acknowledgeToken(sealing, { groupId: 1, channel }, clock.nowMs - 8 * DAY_MS),
        acknowledgeToken({ seal: (_, text) => sealing.seal("channel:1", text) }, { groupId: 1, channel }, clock.nowMs),
        good.slice(0, -2),
        "1.1.9999999999999",
        "x".repeat(2_000),
      ];
      for (const token of bad)
        for (const method of ["GET", "POST"]) expect((await follow(method, token)).status).toBe(404);
      expect((await follow("GET", good)).status).toBe(200);
    });
  });
}
