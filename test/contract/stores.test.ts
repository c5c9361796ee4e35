/**
 * The whole document against the other set of stores: two APIs, one on each server adapter, with connections of their own to one PostgreSQL
 * and one Redis. Every operation is asked in every way that is made up here, in turn on both, and every answer is held against the document.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { routes } from "../../api/endpoints/index.ts";
import { createOpenApi } from "../../api/openapi.ts";
import type { Route } from "../../api/route.ts";
import { fullPath } from "../../api/router.ts";
import { hashKey } from "../../store/key-text.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { openState } from "../../store/state/open.ts";
import type { State } from "../../store/state/state.ts";
import { openWorld, type Send, START_MS, type World } from "../../testkit/api/world.suite.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startPostgres } from "../servers/postgres.ts";
import { startRedis } from "../servers/redis.ts";

const postgres = await startPostgres();
const redis = await startRedis();
afterAll(async () => {
  if (!isMissing(postgres)) await postgres.stop();
  if (!isMissing(redis)) await redis.stop();
});

interface Operation {
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { examples?: Readonly<Record<string, { readonly value: unknown }>> }>>;
  };
}
const { paths } = createOpenApi(routes, {
  baseUrl: "http://127.0.0.1",
  docsUrl: "http://127.0.0.1/docs",
  version: "0.1.0",
}) as {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
const shown = routes.filter((route) => route.hidden !== true);

function bodiesOf(route: Route): readonly unknown[] {
  const operation = paths[fullPath(route)]?.[route.method.toLowerCase()];
  const examples = operation?.requestBody?.content["application/json"]?.examples ?? {};
  return Object.values(examples).map(({ value }) => value);
}

withServer("the document on PostgreSQL", postgres, ({ createDatabase }) =>
  withServer("the document on Redis", redis, ({ url: redisUrl }) =>
    describe("PostgreSQL and Redis, two APIs", () => {
      const worlds: World[] = [];
      const stores: { readonly controlPlane: ControlPlane; readonly state: State }[] = [];
      let key = "";
      let project = "";
      let monitorId = "";
      let heartbeatId = "";
      beforeAll(async () => {
        const { url } = await createDatabase();
        for (const server of ["net", "node"] as const) {
          const one = {
            controlPlane: await openControlPlane({ url }, { role: "api" }),
            state: await openState({ url: redisUrl }),
          };
          stores.push(one);
          worlds.push(await openWorld(server, {}, {}, one));
        }
        const { controlPlane } = stores[0] ?? {};
        if (controlPlane === undefined) throw new Error("no store");
        const of = {
          email: "ada@test-site.org",
          userName: "Ada",
          workspaceName: "Acme",
          plan: "business",
          projectName: "Production",
        } as const;
        const first = await controlPlane.accounts.createFirst({ ...of, nowMs: START_MS });
        project = `prj_${first.projectId}`;
        const newKey = async (): Promise<string> => {
          let made = "";
          await controlPlane.keys.create({
            name: "test",
            kind: "workspace",
            userId: first.userId,
            organizationId: first.organizationId,
            expiresAtMs: null,
            nowMs: START_MS,
            secretHash(id) {
              made = `uk${id}_${"s".repeat(40)}`;
              return hashKey(made);
            },
          });
          return made;
        };
        // Of an id that the requests below do not hit: they may revoke any other.
        for (let count = 0; count < 20; count++) key = await newKey();
      });
      afterAll(async () => {
        for (const world of worlds) await world.close();
        for (const { state, controlPlane } of stores) {
          await state.close();
          await controlPlane.close();
        }
      });

      let turn = 0;
      /** In turn on one and the other. */
      async function send(method: string, path: string, more: Send = {}) {
        turn += 1;
        const world = worlds[turn % 2];
        if (world === undefined) throw new Error("no world");
        return world.send(method, path, { key, project, ...more });
      }

      it("keeps what one API wrote for the other", async () => {
        const made = await send("POST", "/api/v1/servers", {
          body: { type: "http", name: "Site", url: "https://www.test-site.org/" },
        });
        expect(made.status).toBe(200);
        monitorId = made.body.id;
        const job = await send("POST", "/api/v1/servers", { body: { type: "push", name: "Job", period: 60 } });
        expect(job.status).toBe(200);
        heartbeatId = job.body.id;
        expect((await send("GET", `/api/v1/servers/${monitorId}`)).body).toEqual(made.body);
      });

      it.each(shown.map((route) => ({ name: `${route.method} ${route.path}`, route })))(
        "$name",
        async ({ route }) => {
          const method = route.method === "*" ? "GET" : route.method;
          const isOfMonitor = fullPath(route).includes("/servers/") || fullPath(route).includes("/server/");
          // No scheduler runs here: a check would be waited for. A heartbeat is not checked.
          const waits = route.path === "/servers/{id}/check";
          const own = isOfMonitor ? (waits ? heartbeatId : monitorId) : "1";
          const paths = new Set(
            [own, "srv_999999", "999999", "0", "x", "%00"].map((id) => fullPath(route).replaceAll(/\{\w+\}/g, id)),
          );
          const ways: Send[] = [
            { key: null },
            { key: "uk1_wrong" },
            { project: null },
            { project: "x" },
            { project: "prj_999999" },
            { raw: "{" },
            { raw: "[]" },
            { body: {} },
            ...bodiesOf(route).map((body) => ({ body })),
          ];
          for (const path of paths) {
            if (method === "DELETE" && path.includes(monitorId)) continue;
            for (const way of ways) {
              // Ten wrong keys, and the contract refuses the address.
              if (way.key === "uk1_wrong" && path !== [...paths][0]) continue;
              for (const world of worlds) world.clock.nowMs += 7_000;
              const answer = await send(method, path, way);
              expect([path, way, answer.status === 500]).toEqual([path, way, false]);
            }
          }
        },
        120_000,
      );

      it("stops a key that was revoked through the other with the next request", async () => {
        for (let round = 0; round < 2; round++) {
          const made = await send("POST", "/api/v1/keys", { body: { name: "to revoke" } });
          expect((await send("GET", "/api/v1/servers", { key: made.body.key })).status).toBe(200);
          expect((await send("GET", "/api/v1/servers", { key: made.body.key })).status).toBe(200);
          expect((await send("DELETE", `/api/v1/keys/${made.body.id}`)).status).toBe(200);
          expect((await send("GET", "/api/v1/servers", { key: made.body.key })).status).toBe(401);
          expect((await send("GET", "/api/v1/servers", { key: made.body.key })).status).toBe(401);
        }
      });
    }),
  ),
);
