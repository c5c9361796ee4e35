/** What a caller is told of fields and parameters that change nothing. Every route of THE LIST is asked. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { routes } from "../../api/endpoints/index.ts";
import { fullPath } from "../../api/router.ts";
import { tunnelOf } from "../../engine/contract/registry.ts";
import { TUNNEL_PROTOCOLS } from "../../model/kind.ts";
import { GOOD } from "./tunnel-bodies.suite.ts";
import { openWorld, type World } from "./world.suite.ts";

const HEADER = "x-sonde-warning";

export function warningsSuite(server: "net" | "node"): void {
  describe("warnings", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server);
    });
    afterAll(() => world.close());

    const web = { type: "http", name: "Shop", url: "https://shop.test-site.org/" };
    const create = async (body: unknown) => (await world.send("POST", "/api/v1/servers", { body })).body;

    it("tell which fields of a new and of a changed monitor change nothing", async () => {
      const made = await create({ ...web, verb: "POST", cookies: { "X-Token": "s3cret" }, intervall: 60 });
      const warnings = [
        'unknown field "verb" was ignored',
        'unknown field "cookies" was ignored',
        'unknown field "intervall" was ignored; did you mean "interval"?',
      ];
      expect(made.warnings).toEqual(warnings);
      expect(JSON.stringify(made.warnings)).not.toContain("s3cret");
      const changed = await world.send("PUT", `/api/v1/servers/${made.id}?dry_run=1`, { body: { timeuot: 30 } });
      expect(changed.body.warnings).toEqual([
        'unknown field "timeuot" was ignored; did you mean "timeout"?',
        'unknown parameter "dry_run" was ignored',
      ]);
      expect(changed.headers[HEADER]).toBeUndefined();
    });

    it("are absent where everything counts, also when a record is sent back as it reads", async () => {
      const made = await create(web);
      expect(made.warnings).toBeUndefined();
      const { host: _, domain: _d, port: _p, keyword: _k, invert_keyword: _i, ...same } = made;
      const back = await world.send("PUT", `/api/v1/servers/${made.id}`, { body: { ...same, name: "Shop 2" } });
      expect([back.status, back.body]).toEqual([200, { ...made, name: "Shop 2" }]);
      const set = await world.send("PUT", `/api/v1/servers/${made.id}`, { body: { status: "healthy" } });
      expect(set.body.warnings).toEqual(['field "status" cannot be set and was ignored']);
      const read = await world.send("GET", `/api/v1/servers?family=all&limit=5`);
      expect(read.headers[HEADER]).toBeUndefined();
    });

    it.each(TUNNEL_PROTOCOLS)("of %s name what other kinds would read, and nothing that it reads", async (protocol) => {
      const good = { name: "T", type: "vpn", protocol, ...GOOD[protocol] };
      expect((await create(good)).warnings).toBeUndefined();
      const foreign = tunnelOf(protocol).fields.includes("group") ? "remote_id" : "group";
      const made = await create({ ...good, [foreign]: "x", keyword: "x", ca: null });
      expect(made.warnings).toEqual([
        `field "${foreign}" is not for ${protocol} and was ignored`,
        `field "keyword" is not for ${protocol} and was ignored`,
      ]);
    });

    it("stand in a header of reads, and of refusals", async () => {
      const list = await world.send("GET", "/api/v1/servers?famly=all&limitt=3&secret=s3cret");
      expect(list.headers[HEADER]).toBe(
        'unknown parameter "famly" was ignored; did you mean "family"?; unknown parameter "limitt" was ignored; did you mean "limit"?; unknown parameter "secret" was ignored',
      );
      expect(list.body.warnings).toBeUndefined();
      const refused = await world.send("POST", "/api/v1/servers", { body: { name: "Shop", typ: "http" } });
      expect([refused.status, refused.headers[HEADER]]).toEqual([
        400,
        'unknown field "typ" was ignored; did you mean "type"?',
      ]);
    });

    it("are given by every route, of parameters and of bodies", async () => {
      for (const route of routes) {
        if (route.hidden === true || route.method === "*") continue;
        const path = fullPath(route).replaceAll("{id}", "999999");
        const sent = {
          // What signs in is read only of the page.
          headers: { "x-sonde-page": "1" },
          ...(route.body === undefined ? {} : { body: { unknown_field: 1 } }),
        };
        const { status, headers, body: answered } = await world.send(route.method, `${path}?unknown_parameter=1`, sent);
        const told = headers[HEADER] ?? JSON.stringify(answered?.warnings);
        expect([route.method, route.path, status < 500 || status === 503]).toEqual([route.method, route.path, true]);
        expect(`${route.method} ${route.path}: ${told}`).toContain("unknown_parameter");
        // A record that is not there is refused before the body is read.
        if (route.body !== undefined && !route.path.includes("{id}")) {
          expect(`${route.method} ${route.path}: ${told}`).toContain("unknown_field");
        }
      }
    });
  });
}
