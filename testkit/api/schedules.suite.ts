/** Schedules of maintenance in the API (docs/api-contract.md#maintenance). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openWorld, type World } from "./world.suite.ts";

const HOUR_MS = 3_600_000;

export function schedulesSuite(server: "net" | "node"): void {
  describe("schedules of maintenance", () => {
    let world: World;
    let shop = "";
    beforeAll(async () => {
      world = await openWorld(server);
      const body = { type: "http", name: "Shop", url: "https://shop.test-site.org/", tags: ["prod"] };
      shop = (await world.send("POST", "/api/v1/servers", { body })).body.id;
    });
    afterAll(() => world.close());

    const send = (method: string, path: string, body?: unknown) =>
      world.send(method, `/api/v1/maintenances${path}`, body === undefined ? {} : { body });
    const iso = (afterMs: number): string => new Date(world.clock.nowMs + afterMs).toISOString();
    const shown = async () => (await world.send("GET", `/api/v1/servers/${shop}`)).body.maintenance;
    const weekly = { type: "weekly", days: [1, 2], from: "02:00", minutes: 90 } as const;
    const plan = { title: " Backups ", select: { tags: ["prod"] }, schedule: weekly, timezone: "Europe/Berlin" };

    it("are made, read, changed and deleted", async () => {
      const made = await send("POST", "", { ...plan, text: "Every week", announce: true });
      expect(made.status).toBe(200);
      expect(made.body).toEqual({
        ...plan,
        ...{ id: expect.stringMatching(/^mnt_\d+$/), title: "Backups", text: "Every week", announce: true },
        // START_MS is a Saturday.
        ...{ starts_on: null, ends_on: null, state: "next", next_starts_at: "2026-11-23T01:00:00.000Z" },
        created_at: iso(0),
      });
      const { id } = made.body;
      expect((await send("GET", `/${id}`)).body).toEqual(made.body);
      expect((await send("GET", "")).body).toEqual({ maintenances: [], total: 0, schedules: [made.body] });
      const changed = await send("PUT", `/${id}`, { ends_on: "2026-11-23", title: "Other" });
      expect(changed.body).toMatchObject({ title: "Other", schedule: weekly, ends_on: "2026-11-23", state: "next" });
      const notOn = await send("POST", `/${id}/end`);
      expect([notOn.status, notOn.body.message]).toEqual([409, "No turn of this maintenance is on."]);
      expect((await send("DELETE", `/${id}`)).body).toEqual({ success: true, id });
      expect((await send("GET", `/${id}`)).status).toBe(404);
    });

    it("put monitors in maintenance at once when a turn is on; ending it ends that turn only", async () => {
      const schedule = { type: "once", starts_at: iso(0), ends_at: iso(HOUR_MS) };
      const made = await send("POST", "", { ...plan, schedule });
      expect(made.body.state).toBe("active");
      expect(await shown()).toEqual({ starts_at: iso(0), ends_at: iso(HOUR_MS) });
      expect((await send("GET", "?state=active")).body.maintenances).toMatchObject([{ server_id: shop }]);
      world.clock.nowMs += 1_000;
      const ended = await send("POST", `/${made.body.id}/end`);
      expect([ended.status, ended.body.state]).toEqual([200, "ended"]);
      expect(await shown()).toBeUndefined();
      expect((await send("POST", `/${made.body.id}/end`)).status).toBe(409);
    });

    it.each([
      [{ title: " " }, "title must be a text of 1 to 255 characters."],
      [{ text: 7 }, "text must be a text of at most 5000 characters."],
      [{ select: {} }, 'select must name monitors, such as {"tags": ["prod"]} or {"all": true}.'],
      [{ schedule: { type: "x" } }, "schedule.type must be once, weekly or cron."],
      [{ timezone: "Mars/Olympus" }, "timezone must be a name of the IANA database, such as Europe/Berlin."],
      [
        { starts_on: "tomorrow" },
        "starts_on and ends_on must be days such as 2026-12-31, the first not after the last.",
      ],
      [
        { starts_on: "2026-12-02", ends_on: "2026-12-01" },
        "starts_on and ends_on must be days such as 2026-12-31, the first not after the last.",
      ],
      [{ ends_on: "2026-11-01" }, "The schedule has no turn that is still to come."],
      [{ announce: 1 }, "announce must be true or false."],
    ])("refuse %j", async (over, message) => {
      const answer = await send("POST", "", { ...plan, ...over });
      expect(answer.body).toMatchObject({ code: 400, message });
    });

    it("are at most 200 in a project", async () => {
      const { length } = (await send("GET", "")).body.schedules;
      for (let count = length; count < 200; count++)
        world.sql(
          `insert into maintenances (project_id, title, text, selector, schedule, timezone, announce, created_at_ms, updated_at_ms)
           values (?, 'x', '', '{"all":true}', '{"type":"weekly","days":[1],"from":"02:00","minutes":5}', 'UTC', 0, 1, 1)`,
          world.projectId,
        );
      const full = await send("POST", "", plan);
      expect([full.status, full.body.code]).toEqual([409, 409]);
    });
  });
}
