/** Documents of what another program watches (docs/api-contract.md#import). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { importers } from "../../cli/import/index.ts";
import { IMPORT_SAMPLES } from "./import-samples.suite.ts";
import { openWorld, type World } from "./world.suite.ts";

const GATUS = `endpoints:
- { name: shop, url: "https://shop.test-site.org/", headers: { X-Key: s3cret }, conditions: ["[STATUS] == 200"] }
- { name: chat, url: "wss://chat.test-site.org/", conditions: ["[CONNECTED] == true"] }
`;

export function importsSuite(server: "net" | "node"): void {
  describe("an import of another program", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server);
    });
    afterAll(() => world.close());
    const convert = (body: unknown) => world.send("POST", "/api/v1/import/convert", { body });

    it("gives the document and what is lost, and changes nothing", async () => {
      const { status, body } = await convert({ source: "gatus", text: GATUS });
      expect(status).toBe(200);
      expect(body.document).toContain("X-Key: s3cret");
      expect(body.report).toMatchObject({
        source: "Gatus",
        counts: { monitors: 2, incomplete: 1 },
        notes: [{ level: "lost", path: "endpoint chat", message: "wss://: only its TCP port is kept" }],
        more_notes: 0,
      });
      const files = [
        {
          name: "prometheus.yml",
          text: 'scrape_configs: [{ job_name: j, metrics_path: /probe, params: { module: [m] }, static_configs: [{ targets: ["h"] }] }]',
        },
        { name: "blackbox.yml", text: "modules: { m: { prober: icmp } }" },
      ];
      const two = await convert({ source: "blackbox", files });
      expect(two.body.report.counts.monitors).toBe(1);
      expect((await world.send("GET", "/api/v1/servers?family=all")).body.total).toBe(0);
      expect(world.log.join("")).not.toContain("s3cret");
    });

    it("gives documents that are planned without a refusal, of every source", async () => {
      expect(IMPORT_SAMPLES.map(({ source }) => source)).toEqual(importers.map(({ source }) => source));
      for (const { source, files, things } of IMPORT_SAMPLES) {
        const { document } = (await convert({ source, files })).body;
        const { status, body } = await world.send("POST", "/api/v1/apply", {
          body: { document, name: source, dry_run: true },
        });
        expect([source, status, body.refused, body.changes?.length]).toEqual([source, 200, [], things]);
      }
    });

    it("says which file cannot be read, and where", async () => {
      for (const [body, message] of [
        [{ source: "nagios", text: "" }, /^source must be kuma, gatus/],
        [{ source: "gatus" }, /^text must be a file of the other program/],
        [{ source: "gatus", text: GATUS, files: [] }, /^text must be a file/],
        [{ source: "gatus", files: [{ name: "a" }] }, /^text must be a file/],
        [{ source: "gatus", text: GATUS, as_port: 1 }, /^as_port must be true or false\.$/],
        [
          { source: "gatus", text: "endpoints:\n  - name: a\n   url: x\n" },
          /^text: line 3: it is YAML that cannot be read/,
        ],
        [{ source: "kuma", text: "{" }, /^text: it is not JSON/],
        [{ source: "checkly", text: "{}" }, /^text: it is no list of checks/],
      ] as const) {
        const answer = await convert(body);
        expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(message)]);
      }
    });

    it("answers others while thousands of monitors are read", async () => {
      const rows = Array.from({ length: 10_001 }, (_, id) => ({ id, type: "ping", hostname: "h.test-site.org" }));
      const ended: string[] = [];
      const text = JSON.stringify({ monitorList: rows });
      const many = convert({ source: "kuma", text }).then((answer) => {
        ended.push("many");
        return answer;
      });
      for (let turn = 0; turn < 3; turn++) await world.send("GET", "/api/v1/tags");
      ended.push("others");
      expect(await many).toMatchObject({
        status: 400,
        body: { message: "These are more than 10000 monitors: sonde import on the command line takes them." },
      });
      expect(ended).toEqual(["others", "many"]);
    });
  });
}
