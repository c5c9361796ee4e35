/** Every path with every method, and every body with wrong types: generated from THE LIST, so that a new route is covered. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { routes } from "../../api/endpoints/index.ts";
import type { Route } from "../../api/route.ts";
import { fullPath } from "../../api/router.ts";
import { openWorld, type World } from "./world.suite.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];
const byPath = grouped();

function grouped(): Map<string, Route[]> {
  const found = new Map<string, Route[]>();
  for (const route of routes) found.set(fullPath(route), [...(found.get(fullPath(route)) ?? []), route]);
  return found;
}

/** An id that no store gives. */
function filled(path: string): string {
  return path.replaceAll(/\{\w+\}/g, "999999");
}

/** What a caller may put where a value of another type belongs. */
const WRONG: readonly unknown[] = [
  null,
  true,
  "",
  "1",
  "180",
  " ",
  "\u0000",
  "true",
  0,
  -1,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER + 1,
  [],
  [null],
  [[]],
  {},
  { length: 3 },
  "x".repeat(5_000),
];

function fieldsOf(schema: z.ZodType): readonly string[] {
  const found = new Set<string>();
  const collect = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === "properties") for (const name of Object.keys(value as object)) found.add(name);
      collect(value);
    }
  };
  collect(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
  return [...found];
}

export function methodsSuite(server: "net" | "node"): void {
  describe("methods", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server);
    });
    afterAll(() => world.close());

    it.each([...byPath].map(([path, of]) => ({ path, of })))(
      "$path: takes its own and no other",
      async ({ path, of }) => {
        const cors = of.some((route) => route.scope === "public" && route.cors === true);
        const isAny = of.some(({ method }) => method === "*");
        const allow = of.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
        for (const method of METHODS) {
          const isKnown = isAny || allow.includes(method);
          if (isKnown && method !== "HEAD") continue;
          const answer = await world.send(method, filled(path), { key: null, project: null });
          if (method === "OPTIONS" && cors) {
            expect([answer.status, answer.headers["access-control-allow-origin"]]).toEqual([204, "*"]);
          } else if (isKnown) {
            const get = await world.send("GET", filled(path), { key: null, project: null });
            expect([method, answer.status, answer.text]).toEqual([method, get.status, ""]);
          } else {
            expect([method, answer.status]).toEqual([method, 405]);
            expect(answer.headers.allow).toBe([...allow, ...(cors ? ["OPTIONS"] : [])].join(", "));
            if (method !== "HEAD")
              expect(answer.body).toEqual({ error: true, code: 405, message: "Method not allowed" });
          }
        }
      },
    );

    it("are as they are written: `get` and unknown ones are no GET", async () => {
      for (const method of ["get", "Get", "PROPFIND", "FOO"]) {
        const answer = await world.send(method, "/api/v1/health", { key: null }).catch(() => null);
        // Node's parser knows a list of methods and ends the connection for others.
        if (answer !== null) expect([method, [400, 405].includes(answer.status)]).toEqual([method, true]);
      }
    });
  });

  describe("bodies of wrong types", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server);
    });
    afterAll(() => world.close());

    const withBody = routes.filter((route) => route.body !== undefined);
    it.each(withBody.map((route) => ({ name: `${route.method} ${route.path}`, route })))(
      "$name: each field with every kind of value is answered by the contract",
      async ({ route }) => {
        const site = { type: "http", name: "Site", url: "https://www.test-site.org/" };
        // A check would be waited for; one that is refused has its fields read all the same.
        const isWaiting = route.path.endsWith("/check");
        const body = isWaiting ? { type: "push", name: "Job", period: 3_600 } : site;
        const made = await world.send("POST", "/api/v1/servers", { body });
        const path = fullPath(route).replaceAll("{id}", route.path.startsWith("/servers") ? made.body.id : "1");
        for (const field of fieldsOf(route.body?.schema ?? z.object({}))) {
          for (const value of WRONG) {
            const answer = await world.send(route.method, path, { body: { name: "a", type: "http", [field]: value } });
            expect([field, value, answer.status < 500 || answer.status === 503]).toEqual([field, value, true]);
          }
        }
        const after = await world.send("GET", "/api/v1/servers?family=all&limit=1000");
        for (const { id } of after.body.servers) await world.send("DELETE", `/api/v1/servers/${id}`);
      },
      120_000,
    );
  });
}
