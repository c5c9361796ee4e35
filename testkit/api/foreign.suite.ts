/**
 * Records of another workspace, named by their ids: in every path that takes one, and in every body and query that does. The caller owns a workspace, and
 * nothing of the other one may be told, counted or changed.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { routes } from "../../api/endpoints/index.ts";
import type { Route } from "../../api/route.ts";
import { fullPath } from "../../api/router.ts";
import { type Answer, openWorld, START_MS, type World } from "./world.suite.ts";

/** Stands in every name and text of the other workspace. */
const MARK = "forbidden-fruit";
const HOUR_MS = 3_600_000;

interface Foreign {
  readonly key: string;
  readonly project: string;
  readonly organizationId: number;
  /** By the first part of a path. */
  readonly ids: ReadonlyMap<string, string>;
  /** By the name of a second parameter. */
  readonly inner: ReadonlyMap<string, string>;
}

export function foreignSuite(server: "net" | "node"): void {
  describe("records of another workspace", () => {
    let world: World;
    let foreign: Foreign;
    let before: readonly string[];
    beforeAll(async () => {
      world = await openWorld(server);
      foreign = await makeForeign(world);
      before = await everything(world, foreign);
    });
    afterAll(() => world.close());

    const idOf = (kind: string): string => foreign.ids.get(kind) ?? "";
    const get = (path: string) => world.send("GET", `/api/v1${path}`);
    const send = (method: string, path: string, body: object) => world.send(method, `/api/v1${path}`, { body });

    const withIds = routes.filter((one) => one.scope !== "public" && one.path.includes("{"));
    it.each(withIds.map((route) => [`${route.method} ${route.path}`, route] as const))(
      "%s does not find them",
      async (_, route) => {
        for (const body of [{}, { name: "x", title: "x", text: "x", role: "viewer", active: false }]) {
          const answer = await world.send(route.method, pathOf(route, foreign), {
            ...(route.method !== "GET" && { body }),
          });
          tellsNothing(answer);
          // A body that is none of this route's is refused before anything is looked for.
          expect(Object.keys(body).length === 0 ? [400, 403, 404] : [403, 404]).toContain(answer.status);
        }
      },
    );

    it("are in no list, search or export that names them", async () => {
      const [server, subscription, other] = [idOf("servers"), idOf("subscriptions"), foreign.organizationId];
      for (const [path, statuses] of [
        [`/servers?family=all&ids=${server}`, [200]],
        [`/servers?family=all&subscription_id=${subscription}`, [200]],
        [`/servers/search?q=${MARK}`, [200]],
        [`/servers/search?q=${server}`, [200]],
        [`/results/recent?ids=${server}`, [200, 404]],
        [`/incidents?server_id=${server}`, [404]],
        [`/days?ids=${server}`, [200, 404]],
        [`/projects?organization_id=${other}`, [200]],
        [`/usage?organization_id=${other}`, [403]],
        [`/members?organization_id=${other}`, [403]],
        [`/audit?organization_id=${other}`, [403]],
        ["/overview", [200]],
        ["/tags", [200]],
        ["/export", [200]],
        ["/keys", [200]],
        ["/results", [200]],
      ] as const) {
        const answer = await get(path);
        tellsNothing(answer);
        expect([path, answer.status, statuses]).toEqual([path, expect.toBeOneOf([...statuses]), statuses]);
        if (path.startsWith("/servers") || path.startsWith("/projects"))
          expect([path, answer.body.total]).toEqual([path, 0]);
      }
    });

    it("are touched by no body that names them", async () => {
      const [monitor, channel] = [idOf("servers"), idOf("channels")];
      const ids = [monitor];
      const endsAt = new Date(START_MS + HOUR_MS).toISOString();
      const document = (text: string) => ({ document: `sonde: 1\n${text}`, dry_run: true });
      const rule = (more: object) => ({ version: 0, rules: [{ name: "r", ...more }] });
      for (const [method, path, body, statuses] of [
        ["POST", "/test", { server_id: idOf("tunnels") }, [404]],
        ["POST", "/test/batch", { server_ids: [idOf("tunnels")] }, [403]],
        ["POST", "/incidents/acknowledge", { ids: [idOf("incidents")] }, [200, 404]],
        ["POST", "/alert-rules/preview", { server_id: monitor, event: "down" }, [404]],
        ["POST", "/alert-rules/preview", { incident_id: idOf("incidents") }, [404]],
        ["PUT", "/alert-rules", rule({ channels: [channel] }), [400]],
        ["PUT", "/alert-rules", rule({ quiet_hours: Number(idOf("quiet-hours")) }), [400]],
        ["PUT", "/alert-rules", rule({ escalation: [{ after_s: 600, channels: [channel] }] }), [400]],
        ["POST", "/channels/test", { kind: "ntfy", id: channel, settings: { topic: "mine" } }, [404]],
        ["POST", "/maintenances", { server_ids: ids, ends_at: endsAt }, [403, 404]],
        ["POST", "/servers/bulk", { select: { ids }, action: "delete" }, [200]],
        ["POST", "/servers/bulk", { select: { ids }, action: "set", set: { tags: { add: ["x"] } } }, [200, 400]],
        ["POST", "/servers/bulk", { select: { subscription_ids: [idOf("subscriptions")] }, action: "pause" }, [200]],
        ["POST", "/servers/bulk", { select: { all: true }, action: "check" }, [200]],
        ["POST", "/apply", document(`alert_rules: [{name: r, channels: [${channel}]}]`), [200, 400]],
        ["POST", "/apply", document(`maintenance: {m: {select: {keys: [${monitor}]}}}`), [200, 400]],
      ] as const) {
        const answer = await send(method, path, body);
        tellsNothing(answer);
        expect([path, answer.status, statuses]).toEqual([path, expect.toBeOneOf([...statuses]), statuses]);
        if (path === "/servers/bulk" && answer.status === 200) expect([path, answer.body.matched]).toEqual([path, 0]);
        if (path === "/apply" && answer.status === 200) expect(answer.body.refused).toHaveLength(1);
      }
    });

    it("are on no status page that selects them", async () => {
      const groups = [
        { title: "All", components: [{ servers: { ids: [idOf("servers")] } }, { servers: { all: true } }] },
      ];
      const made = await send("POST", "/status-pages", { title: "Mine", slug: "mine", published: true, groups });
      expect(made.status).toBe(200);
      for (const path of ["/status/mine", "/status/mine/summary.json", "/status/mine/feed.atom"])
        tellsNothing(await world.send("GET", path, { key: null, project: null }));
    });

    it("are as they were", async () => {
      expect(await everything(world, foreign)).toEqual(before);
    });
  });
}

function tellsNothing({ text }: Answer): void {
  expect(text).not.toContain(MARK);
}

function pathOf(route: Route, { ids, inner }: Foreign): string {
  const kind = /^\/(?:results\/server|([a-z-]+))\//.exec(route.path)?.[1] ?? "servers";
  const id = ids.get(kind);
  if (id === undefined) throw new Error(`no foreign record for ${route.path}: make one here`);
  return fullPath(route).replace(/\{(\w+)\}/g, (_, name: string) => (name === "id" ? id : (inner.get(name) ?? "")));
}

/** What its owner reads, without what reading itself changes. */
async function everything(world: World, { key, project }: Foreign): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const path of [
    ...["/servers?family=all", "/incidents", "/channels", "/webhooks", "/maintenances", "/status-pages", "/views"],
    ...["/alert-rules", "/quiet-hours", "/subscriptions", "/members", "/audit"],
  ]) {
    const { text } = await world.send("GET", `/api/v1${path}`, { key, project });
    expect(text).toContain(path === "/webhooks" ? "hooks" : path === "/audit" ? "created" : MARK);
    texts.push(text);
  }
  return texts;
}

async function makeForeign(world: World): Promise<Foreign> {
  const { accounts, sink, incidents } = world.controlPlane;
  const owner = { email: `${MARK}@test-site.org`, name: MARK };
  const made = await accounts.createWorkspace({
    name: MARK,
    plan: "business",
    projectName: MARK,
    owner,
    nowMs: START_MS,
  });
  if (made === undefined) throw new Error("no other workspace was made");
  const { organizationId, projectId, userId } = made;
  const key = await world.newKey({ userId, organizationId });
  const project = `prj_${projectId}`;
  const post = async (path: string, body: object, method = "POST") => {
    const answer = await world.send(method, `/api/v1${path}`, { key, project, body });
    expect([path, answer.status, answer.text]).toEqual([path, 200, answer.text]);
    return answer.body;
  };
  const web = (await post("/servers", { type: "http", name: MARK, url: "https://a.test-site.org/" })).id;
  const login = { host: "b.test-site.org", username: "ada", password: "pw" };
  const tunnel = (await post("/servers", { protocol: "openconnect", name: MARK, ...login })).id;
  const why = { message: MARK, category: "server_not_connected" as const, locations: ["any"] };
  const open = {
    monitorId: Number(web.slice(4)),
    atMs: START_MS,
    startedAtMs: START_MS,
    level: "down",
    ...why,
  } as const;
  const nothing = { spool: "spool", appliedSeq: 1, live: [], drainedInboxIds: [] };
  await sink.apply({ ...nothing, incidents: [{ type: "open", ...open }] });
  const [incident] = await incidents.list(projectId, { monitorId: null, limit: 1 });
  const incidentId = `inc_${incident?.id}`;
  const note = (await post(`/incidents/${incidentId}/notes`, { text: MARK })).id;
  const channel = (await post("/channels", { kind: "ntfy", name: MARK, settings: { topic: "theirs" } })).id;
  const page = (await post("/status-pages", { title: MARK, slug: "theirs", published: true })).id;
  const update = (await post(`/status-pages/${page}/updates`, { title: MARK })).id;
  const spans = [{ days: [1], from: "22:00", to: "07:00" }];
  const quiet = await post(
    "/quiet-hours",
    { version: 0, quiet_hours: [{ name: MARK, timezone: "UTC", spans }] },
    "PUT",
  );
  await post("/alert-rules", { version: 0, rules: [{ name: MARK, channels: [channel] }] }, "PUT");
  const schedule = { type: "weekly", days: [1], from: "02:00", minutes: 90 };
  const maintenance = { title: MARK, select: { all: true }, schedule, timezone: "UTC" };
  const ids = new Map<string, string | number>([
    ["servers", web],
    ["tunnels", tunnel],
    ["incidents", incidentId],
    ["channels", channel],
    ["status-pages", page],
    ["quiet-hours", quiet.quiet_hours[0].id],
    ["maintenances", (await post("/maintenances", maintenance)).id],
    ["subscriptions", (await post("/subscriptions", { url: "https://p.test-site.org/list", name: MARK })).id],
    ["webhooks", (await post("/webhooks", { url: "https://hooks.test-site.org/x" })).id],
    ["views", (await post("/views", { name: MARK, query: "q=down", shared: true })).id],
    ["members", userId],
    ["organizations", organizationId],
    ["keys", Number(/\d+/.exec(key)?.[0])],
    // Keys have none of their own; the matrix asks as sessions do.
    ["sessions", 1],
    ["passkeys", 1],
  ]);
  const inner = new Map([
    ["note", String(note)],
    ["update", String(update)],
  ]);
  return { key, project, organizationId, ids: new Map([...ids].map(([kind, id]) => [kind, String(id)])), inner };
}
