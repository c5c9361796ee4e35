/** What website checks ask for beside a plain GET: stored, shown, and its secrets kept sealed. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createInputReader } from "../../scheduler/plan/check-inputs.ts";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import { openWorld, type World } from "./world.suite.ts";

const url = "https://www.test-site.org/orders";
const MARK = "m4rk";
const SECRETS = {
  headers: { "X-Api-Key": "m4rk-key", Accept: "m4rk/json" },
  body: '{"token":"m4rk-body"}',
  basic_auth_username: "m4rk-user",
  basic_auth_password: "m4rk-password",
};
const SHOWN = {
  headers: { "X-Api-Key": "***", Accept: "***" },
  body: "***",
  basic_auth_username: "***",
  basic_auth_password: "***",
};
/** Of a website that is asked with a plain GET. */
export const PLAIN_GET = {
  method: "GET",
  headers: null,
  body: null,
  basic_auth_username: null,
  basic_auth_password: null,
  bearer_token: null,
  client_certificate: null,
  client_key: null,
  max_redirects: 10,
  body_regex: null,
  json_query: null,
  json_expected: null,
  max_response_time: null,
  verify_certificate: true,
  invert: false,
};
const REPORT = {
  monitors: 0,
  running: 0,
  waiting: 0,
  silentMonitors: 0,
  skippedTurns: 0,
  spoolRows: 0,
  trouble: null,
};

export function requestsSuite(server: "net" | "node"): void {
  describe("requests of website checks", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server);
    });
    afterAll(() => world.close());

    const post = (body: object) =>
      world.send("POST", "/api/v1/servers", { body: { type: "http", name: "Orders", url, ...body } });
    const make = async (body: object) => {
      const answer = await post(body);
      expect([answer.status, answer.text]).toEqual([200, answer.text]);
      return answer.body as Record<string, unknown> & { id: string };
    };
    const put = (id: string, body: object) => world.send("PUT", `/api/v1/servers/${id}`, { body });
    const read = async (id: string) => (await world.send("GET", `/api/v1/servers/${id}`)).body;
    const rowOf = async (id: string) => {
      const row = await world.controlPlane.monitors.recall(Number(id.slice(4)));
      if (row === undefined) throw new Error(`${id} is gone`);
      return row.monitor;
    };
    /** What a check is made with. */
    const run = async (id: string) => createInputReader(world.sealing.open, (_, identity) => identity)(await rowOf(id));
    const history = async (id: string) =>
      ((await world.send("GET", `/api/v1/servers/${id}/history`)).body.entries as { message: string }[]).map(
        ({ message }) => message,
      );

    it("read back with their standards where nothing was sent", async () => {
      const made = await make({});
      expect(made).toMatchObject(PLAIN_GET);
      expect(await make({ type: "keyword", keyword: "x" })).toMatchObject(PLAIN_GET);
      expect((await rowOf(made.id)).settings).toEqual({ url, accepted_statuscodes: ["200-299"], ip_version: null });
    });

    it("show no secret in any answer or row, and give them to the check", async () => {
      const made = await make({ method: "POST", max_redirects: 0, ...SECRETS });
      expect(made).toMatchObject({ method: "POST", max_redirects: 0, ...SHOWN });
      const row = await rowOf(made.id);
      expect(JSON.stringify(row)).not.toContain(MARK);
      expect(row.settings).toMatchObject(SHOWN);
      for (const path of [
        `/servers/${made.id}`,
        "/servers?family=all",
        `/servers/search?q=${made.id}`,
        `/servers/${made.id}/history`,
      ]) {
        const scope = path.includes("search") ? { project: null } : {};
        expect((await world.send("GET", `/api/v1${path}`, scope)).text).not.toContain(MARK);
      }
      expect(await run(made.id)).toMatchObject({ settings: { method: "POST", max_redirects: 0, url, ...SECRETS } });
      const one = Number(made.id.slice(4));
      expect(JSON.parse(world.sealing.open(SEALED_CELLS.tunnel(one), row.sealed ?? ""))).toEqual(SECRETS);
    });

    it("keep what *** stands for when they are sent back, and change what is sent", async () => {
      const { id } = await make({ ...SECRETS });
      const before = (await rowOf(id)).sealed;
      const { headers: shownHeaders, body, basic_auth_username, basic_auth_password } = await read(id);
      const shown = { headers: shownHeaders, body, basic_auth_username, basic_auth_password };
      expect(shown).toEqual(SHOWN);
      expect((await put(id, shown)).status).toBe(200);
      expect((await rowOf(id)).sealed).toBe(before);
      const headers = { "x-api-key": "***", "X-More": "m4rk-more" };
      expect((await put(id, { headers, accepted_statuscodes: ["204"] })).body.headers).toEqual({
        "x-api-key": "***",
        "X-More": "***",
      });
      expect(await run(id)).toMatchObject({
        settings: { ...SECRETS, headers: { "x-api-key": "m4rk-key", "X-More": "m4rk-more" } },
      });
      expect((await history(id))[0]).toBe("Updated accepted_statuscodes, headers");
      const taken = { headers: null, body: null, basic_auth_username: null, basic_auth_password: null };
      expect((await put(id, taken)).body).toMatchObject(taken);
      expect(Object.keys((await run(id)).settings).sort()).toEqual(["accepted_statuscodes", "ip_version", "url"]);
    });

    it("of a secret that is changed alone are told in the history, without it", async () => {
      const { id } = await make({ bearer_token: "m4rk-1" });
      expect((await put(id, { bearer_token: "m4rk-2" })).body.bearer_token).toBe("***");
      expect((await history(id))[0]).toBe("Updated bearer_token");
      expect(await run(id)).toMatchObject({ settings: { bearer_token: "m4rk-2" } });
    });

    it("refuse *** where nothing is kept for it", async () => {
      expect(await post({ bearer_token: "***" })).toMatchObject({
        status: 400,
        body: { message: "bearer_token: *** stands for something that is not shown: send the whole bearer_token." },
      });
      const { id } = await make({ headers: { a: "b" } });
      expect((await put(id, { headers: { a: "***", c: "***" } })).status).toBe(400);
      expect((await put(id, { body: "***" })).status).toBe(400);
    });

    it("never take a secret to another origin than the one that it was given for", async () => {
      const { id } = await make({ bearer_token: "m4rk-1", headers: { a: "m4rk-2" } });
      const away = await put(id, { url: "https://shop.test-site.org/orders" });
      expect([away.status, away.body.message]).toEqual([
        400,
        "headers has a secret of https://www.test-site.org: send the whole headers for https://shop.test-site.org, or null.",
      ]);
      expect((await put(id, { url: `${url}/other` })).status).toBe(200);
      const whole = { url: "https://shop.test-site.org/", bearer_token: "m4rk-3", headers: null };
      expect((await put(id, whole)).body).toMatchObject({ url: whole.url, bearer_token: "***", headers: null });
      expect(await run(id)).toMatchObject({ settings: { bearer_token: "m4rk-3", url: whole.url } });
    });

    it("go along with an address that hides something itself", async () => {
      const hiding = `${url}?token=m4rk-query`;
      const { id } = await make({ url: hiding, headers: { a: "m4rk-1" } });
      expect(JSON.stringify(await rowOf(id))).not.toContain(MARK);
      expect(await run(id)).toMatchObject({ settings: { url: hiding, headers: { a: "m4rk-1" } } });
      expect((await put(id, { headers: { a: "m4rk-2" } })).status).toBe(200);
      expect(await run(id)).toMatchObject({ settings: { url: hiding, headers: { a: "m4rk-2" } } });
    });

    it("are a fault of ours where a check would be made without a secret", async () => {
      const { id } = await make({ bearer_token: "m4rk-1" });
      const { sealed: _, ...bare } = await rowOf(id);
      const reader = createInputReader(world.sealing.open, (_, identity) => identity);
      expect(reader(bare)).toMatchObject({ settings: {}, fault: expect.any(String) });
      expect(reader({ ...bare, sealed: "v2.broken" })).toMatchObject({ settings: {}, fault: expect.any(String) });
    });

    it("are refused beside a scheduler that would check without them", async () => {
      const { shards } = world.controlPlane;
      const { id } = await make({});
      await shards.beat("old", "old", REPORT);
      expect((await post({ method: "POST" })).status).toBe(422);
      expect((await put(id, { max_redirects: 0 })).status).toBe(422);
      expect((await post({})).status).toBe(200);
      await shards.beat("old", "old", { ...REPORT, makesRequests: true });
      expect((await post({ method: "POST" })).status).toBe(200);
    });
  });
}
