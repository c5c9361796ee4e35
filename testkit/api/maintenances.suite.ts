/** Maintenance: planned for monitors and tags, listed, shown on the monitor, ended (docs/api-contract.md#maintenance). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openWorld, type World } from "./world.suite.ts";

const HOUR_MS = 3_600_000;
const TIMES = "ends_at must be a time after now and after starts_at, at most a year from now.";
const TARGETS = "Name the monitors: server_ids, or a tag that some of them have, at most 1000 in all.";

export function maintenancesSuite(server: "net" | "node"): void {
  describe("maintenance", () => {
    let world: World;
    let ids: readonly string[];
    beforeAll(async () => {
      world = await openWorld(server);
      const names = ["A", "B", "C"];
      const created = names.map(async (name, index) => {
        const body = { type: "http", name, url: `https://${name}.test-site.org/`, tags: index < 2 ? ["prod"] : [] };
        return (await world.send("POST", "/api/v1/servers", { body })).body.id as string;
      });
      ids = await Promise.all(created);
    });
    afterAll(() => world.close());

    const iso = (afterMs: number): string => new Date(world.clock.nowMs + afterMs).toISOString();
    const plan = (body: Readonly<Record<string, unknown>>) => world.send("POST", "/api/v1/maintenances", { body });
    const list = async (query = "") => {
      const { body } = await world.send("GET", `/api/v1/maintenances${query}`);
      return body as { maintenances: { id: string; server_name: string; state: string }[]; total: number };
    };
    const states = async (query = "") =>
      (await list(query)).maintenances.map(({ server_name: name, state }) => `${name} ${state}`).sort();

    it("is planned for a tag and for later, shown on the monitor, and ended", async () => {
      const planned = await plan({ tag: "prod", ends_at: iso(HOUR_MS) });
      expect([planned.status, planned.body.total]).toEqual([200, 2]);
      const starts = iso(2 * HOUR_MS);
      const later = await plan({ server_ids: [ids[2]], starts_at: starts, ends_at: iso(3 * HOUR_MS) });
      expect(later.body.maintenances).toMatchObject([{ server_id: ids[2], starts_at: starts, state: "next" }]);
      expect(await states()).toEqual(["A active", "B active", "C next"]);
      expect(await states("?state=next")).toEqual(["C next"]);
      expect(await states(`?server_id=${ids[0]}`)).toEqual(["A active"]);
      expect(await list("?limit=1&offset=1")).toMatchObject({ total: 3, maintenances: [{}] });

      const shown = async (id: string | undefined) => (await world.send("GET", `/api/v1/servers/${id}`)).body;
      expect(await shown(ids[2])).toMatchObject({ maintenance: { starts_at: starts, ends_at: iso(3 * HOUR_MS) } });
      const [ours] = (await list(`?server_id=${ids[2]}`)).maintenances;
      const ended = await world.send("POST", `/api/v1/maintenances/${ours?.id}/end`);
      expect([ended.status, ended.body.state]).toEqual([200, "ended"]);
      expect(await shown(ids[2])).not.toHaveProperty("maintenance");

      const refused = await plan({ server_ids: [ids[0]], starts_at: starts, ends_at: iso(3 * HOUR_MS) });
      expect([refused.status, refused.body.message]).toEqual([
        409,
        "A monitor has another maintenance that has not ended: end it first, or choose a time that meets it.",
      ]);
      world.clock.nowMs += HOUR_MS;
      expect(await states("?state=ended")).toEqual(["A ended", "B ended"]);
      expect(await shown(ids[0])).not.toHaveProperty("maintenance");
    });

    it.each([
      [{}, TIMES],
      [{ ends_at: "tomorrow" }, TIMES],
      [{ ends_at: 5 }, TIMES],
      [{ ends_at: "2020-01-01" }, TIMES],
      [{ ends_at: "2999-01-01" }, TIMES],
      [{ ends_at: "soon", starts_at: "later" }, TIMES],
      [{ ends_at: "in an hour" }, TIMES],
      [{ server_ids: "srv_1" }, TARGETS],
      [{ server_ids: [] }, TARGETS],
      [{ server_ids: Array(1_001).fill("srv_1") }, TARGETS],
      [{ tag: 5 }, TARGETS],
      [{ tag: "nothing has it" }, TARGETS],
      [{ server_ids: ["inc_1"] }, "Invalid server ID"],
    ])("refuses %j", async (body, message) => {
      const inAnHour = message === TIMES ? {} : { ends_at: iso(HOUR_MS) };
      const answer = await plan({ ...inAnHour, ...body });
      expect([answer.status, answer.body.message]).toEqual([400, message]);
    });

    it("reads a tag as monitors keep it, and answers monitors that are named twice once", async () => {
      const planned = await plan({ tag: " Prod ", server_ids: [ids[1], ids[1]], ends_at: iso(HOUR_MS) });
      expect([planned.status, planned.body.total]).toEqual([200, 2]);
      for (const { id } of planned.body.maintenances) await world.send("POST", `/api/v1/maintenances/${id}/end`);
    });

    it("knows no monitor and no maintenance of another project", async () => {
      const body = { server_ids: ["srv_999"], ends_at: iso(HOUR_MS) };
      expect((await plan(body)).body).toMatchObject({ code: 404, message: "Server not found" });
      const answer = await world.send("POST", "/api/v1/maintenances/mnt_999/end");
      expect(answer.body).toMatchObject({ code: 404, message: "Maintenance not found" });
      expect((await world.send("GET", "/api/v1/maintenances?state=soon")).body.message).toBe(
        "state must be active, next or ended.",
      );
    });
  });
}
