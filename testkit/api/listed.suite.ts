/** Lists over the wire: tags, 304, gzip, and what is never compressed. */
import { request } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openWorld, type World } from "./world.suite.ts";

interface Raw {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

export function listedSuite(server: "net" | "node"): void {
  describe("lists", () => {
    let world: World;
    let viewer = "";
    beforeAll(async () => {
      world = await openWorld(server);
      for (let count = 0; count < 20; count++) {
        const body = { type: "http", name: `Shop ${count}`, url: `https://shop-${count}.test-site.org/` };
        expect((await world.send("POST", "/api/v1/servers", { body })).status).toBe(200);
      }
      const id = world.sql(
        "insert into users (email, email_key, name, active, created_at_ms) values ('vic@test-site.org', 'vic@test-site.org', 'Vic', 1, 1)",
      );
      world.sql(
        "insert into memberships (organization_id, user_id, role, created_at_ms) values (?, ?, 'viewer', 1)",
        world.organizationId,
        id,
      );
      viewer = await world.newKey({ userId: id, organizationId: world.organizationId });
    });
    afterAll(() => world.close());

    const ask = (path: string, headers: Record<string, string>, method = "GET", key = world.key): Promise<Raw> =>
      new Promise((settle, fail) => {
        const of = { "x-api-key": key, "x-project-id": String(world.projectId), ...headers };
        const sent = request(
          { host: "127.0.0.1", port: world.api.port, method, path, headers: of, agent: false },
          (incoming) => {
            const { statusCode: status = 0, headers: got } = incoming;
            buffer(incoming).then((bytes) => settle({ status, headers: got, bytes }), fail);
          },
        );
        sent.on("error", fail);
        sent.end();
      });

    const path = "/api/v1/servers?family=all";
    const gzip = { "accept-encoding": "gzip, deflate, br" };

    it("have a tag that gives 304 while nothing changed, with limits and without a body", async () => {
      const first = await world.send("GET", path);
      const { etag = "" } = first.headers;
      expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
      for (const tags of [etag, `"other", ${etag}`, etag.slice(2), "*"]) {
        const again = await world.send("GET", path, { headers: { "if-none-match": tags } });
        expect([again.status, again.text, again.headers.etag]).toEqual([304, "", etag]);
        expect(again.headers["content-type"]).toBeUndefined();
        expect(again.headers["cache-control"]).toBe("no-store");
      }
      const made = await world.send("POST", "/api/v1/servers", {
        body: { type: "ping", name: "New", host: "h.test-site.org" },
      });
      const changed = await world.send("GET", path, { headers: { "if-none-match": etag } });
      expect([changed.status, changed.body.total]).toEqual([200, first.body.total + 1]);
      await world.send("DELETE", `/api/v1/servers/${made.body.id}`);
      expect((await world.send("GET", path, { headers: { "if-none-match": etag } })).status).toBe(304);
    });

    it("are compressed where that is taken, and mean the same", async () => {
      const plain = await ask(path, {});
      const packed = await ask(path, gzip);
      expect([plain.headers["content-encoding"], packed.headers["content-encoding"]]).toEqual([undefined, "gzip"]);
      expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 4);
      expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
      expect([packed.headers.etag, packed.headers.vary]).toEqual([plain.headers.etag, "Accept-Encoding"]);
      expect(Number(packed.headers["content-length"])).toBe(packed.bytes.length);
      const head = await ask(path, gzip, "HEAD");
      expect([head.status, head.bytes.length, head.headers["content-length"]]).toEqual([
        200,
        0,
        packed.headers["content-length"],
      ]);
      expect((await ask(path, { "accept-encoding": "gzip;q=0, br" })).bytes.equals(plain.bytes)).toBe(true);
      const known = await ask(path, { ...gzip, "if-none-match": String(packed.headers.etag) });
      expect([known.status, known.bytes.length, known.headers["content-encoding"]]).toEqual([304, 0, undefined]);
    });

    it("are never compressed where they show secrets beside texts of others", async () => {
      const body = { type: "http", name: "Secret", url: "https://shop.test-site.org/?token=s3cret" };
      const { id } = (await world.send("POST", "/api/v1/servers", { body })).body;
      for (const list of [path, "/api/v1/servers/search?q=shop"]) {
        const forEditor = await ask(list, gzip);
        expect(forEditor.headers["content-encoding"]).toBeUndefined();
        expect(forEditor.bytes.toString()).toContain("s3cret");
        const forViewer = await ask(list, gzip, "GET", viewer);
        expect(forViewer.headers["content-encoding"]).toBe("gzip");
        expect(gunzipSync(forViewer.bytes).toString()).not.toContain("s3cret");
        expect(forViewer.headers.etag).not.toBe(forEditor.headers.etag);
      }
      const one = await ask(`/api/v1/servers/${id}`, gzip);
      expect(one.headers["content-encoding"]).toBeUndefined();
      await world.send("DELETE", `/api/v1/servers/${id}`);
    });
  });
}
