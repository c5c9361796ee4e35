/** The authorisation matrix: every route × kind of key × role × project, and records of other projects; each cell is asked for real. */
import { Agent } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { routes } from "../../api/endpoints/index.ts";
import type { Route } from "../../api/route.ts";
import { fullPath } from "../../api/router.ts";
import { SYSTEM_ACTOR } from "../../model/actor.ts";
import { PLANS } from "../../model/plan.ts";
import { newSecret } from "../../store/session-secret.ts";
import { newMonitor } from "../store/new-monitor.suite.ts";
import {
  expected,
  expectedOfSession,
  isRole,
  KEY_KINDS,
  type KeyKind,
  PROJECTS,
  type ProjectSent,
  PUBLIC,
  RIGHTS,
  ROLES,
  type RoleOrNone,
  SESSION_KINDS,
  type SessionKind,
  type Verdict,
} from "./rights.suite.ts";
import { type Answer, openWorld, START_MS, type World } from "./world.suite.ts";

const NOTHING_HAS = "999999";
const nameOf = (route: Route): string => `${route.method} ${route.path}`;
const isPublic = (name: string): boolean => PUBLIC.some((form) => form.test(name));

interface Ground {
  readonly world: World;
  /** One connection for some twenty thousand requests: to open one for each costs more than the answer. */
  readonly agent: Agent;
  readonly keys: ReadonlyMap<string, string>;
  /** Cookies, by kind and role. */
  readonly sessions: ReadonlyMap<string, string>;
  readonly projects: Readonly<Record<ProjectSent, string | null>>;
  readonly foreignProjectId: number;
  /** Ids of records in the foreign project, by the path that reads them. */
  readonly foreign: Readonly<Record<"servers" | "incidents" | "subscriptions" | "keys", number>>;
}

export function matrixSuite(server: "net" | "node"): void {
  describe("the authorisation matrix", () => {
    let ground: Ground;
    let cells = 0;
    beforeAll(async () => {
      ground = await prepare(server);
    });
    afterAll(async () => {
      ground.agent.destroy();
      await ground.world.close();
      process.stdout.write(`authorisation matrix on ${server}: ${cells} cells\n`);
    });

    it("knows every route, and every endpoint of the contract is there", () => {
      const names = routes.map(nameOf);
      const unknown = names.filter((name) => RIGHTS[name] === undefined && !isPublic(name));
      expect(unknown, "routes without a line in rights.suite.ts").toEqual([]);
      expect(
        Object.keys(RIGHTS).filter((name) => !names.includes(name)),
        "endpoints of the contract without a route",
      ).toEqual([]);
      for (const route of routes) {
        expect([nameOf(route), route.scope]).toEqual([
          nameOf(route),
          RIGHTS[nameOf(route)]?.scope ?? (isPublic(nameOf(route)) ? "public" : "?"),
        ]);
      }
    });

    for (const route of routes.filter((one) => RIGHTS[nameOf(one)] !== undefined)) {
      it(`${nameOf(route)}: every key, role and project`, async () => {
        const right = RIGHTS[nameOf(route)];
        if (right === undefined) return;
        for (const kind of KEY_KINDS) {
          for (const role of ROLES) {
            for (const sent of PROJECTS) {
              const answer = await ask(ground, route, kind, role, sent, NOTHING_HAS);
              const where = `${nameOf(route)} · ${kind} · ${role} · ${sent}`;
              check(where, answer, expected(nameOf(route), right, kind, role, sent));
              cells += 1;
            }
          }
        }
      });
    }

    for (const route of routes.filter((one) => RIGHTS[nameOf(one)] !== undefined && !ends(one))) {
      it(`${nameOf(route)}: every session, role and project`, async () => {
        const right = RIGHTS[nameOf(route)];
        if (right === undefined) return;
        // Sessions have limits of their own.
        ground.world.clock.nowMs += 60_000;
        for (const kind of SESSION_KINDS) {
          for (const role of ROLES) {
            for (const sent of PROJECTS) {
              const where = `${nameOf(route)} · ${kind} · ${role} · ${sent}`;
              const answer = await askAsPage(ground, route, kind, role, sent);
              // Of a key whose person has left nothing begins.
              if (answer !== null) check(where, answer, expectedOfSession(nameOf(route), right, kind, role, sent));
              else expect([where, kind, role]).toEqual([where, "session of a key", "none"]);
              cells += 1;
            }
          }
        }
      });
    }

    for (const route of routes.filter((one) => RIGHTS[nameOf(one)] !== undefined && foreignOf(one) !== undefined)) {
      it(`${nameOf(route)}: records of other projects are not there`, async () => {
        const right = RIGHTS[nameOf(route)];
        const record = foreignOf(route);
        if (right === undefined || record === undefined) return;
        for (const kind of ["workspace", "dashboard", "account"] as const) {
          for (const role of ROLES) {
            const answer = await ask(ground, route, kind, role, "own", String(ground.foreign[record]));
            const where = `${nameOf(route)} · foreign record · ${kind} · ${role}`;
            check(where, answer, expected(nameOf(route), right, kind, role, "own"));
            cells += 1;
          }
        }
      });
    }

    it("public endpoints answer every caller", async () => {
      for (const route of routes.filter((one) => isPublic(nameOf(one)))) {
        const plain = await send(ground, route, null, null, NOTHING_HAS);
        expect([nameOf(route), plain.status === 401 && route.path !== "/metrics"]).toEqual([nameOf(route), false]);
        for (const kind of KEY_KINDS) {
          const answer = await ask(ground, route, kind, "owner", "foreign", NOTHING_HAS);
          expect([nameOf(route), kind, answer.status]).toEqual([nameOf(route), kind, plain.status]);
          cells += 1;
        }
      }
    });

    it("has left nothing changed", async () => {
      const { world } = ground;
      const found = await world.controlPlane.monitors.recall(ground.foreign.servers);
      expect(found?.monitor).toMatchObject({ name: "foreign", pauseReasons: [] });
      expect((await world.controlPlane.keys.find(ground.foreign.keys))?.active).toBe(true);
      const subscription = await world.controlPlane.subscriptions.find(
        ground.foreignProjectId,
        ground.foreign.subscriptions,
      );
      expect(subscription).toMatchObject({ name: "foreign", enabled: true });
    });
  });
}

function check(where: string, answer: Answer, verdict: Verdict): void {
  const seen = {
    where,
    status: answer.status,
    message: answer.status === 200 ? undefined : answer.body?.message,
    limits: answer.headers["x-ratelimit-limit"] !== undefined,
  };
  expect(seen).toEqual({ where, message: undefined, ...verdict });
}

function foreignOf(route: Route): keyof Ground["foreign"] | undefined {
  if (/^\/(servers|results\/server)\/\{/.test(route.path)) return "servers";
  if (/^\/incidents\/\{/.test(route.path)) return "incidents";
  if (/^\/subscriptions\/\{/.test(route.path)) return "subscriptions";
  if (/^\/keys\/\{/.test(route.path)) return "keys";
  return undefined;
}

/** Signing out would leave the rest of the matrix without its session. */
function ends(route: Route): boolean {
  return nameOf(route) === "DELETE /session";
}

async function askAsPage(
  ground: Ground,
  route: Route,
  kind: SessionKind,
  role: RoleOrNone,
  sent: ProjectSent,
): Promise<Answer | null> {
  const cookie = ground.sessions.get(`${kind} ${role}`);
  if (cookie === undefined) return null;
  const headers = { cookie, "x-sonde-page": "1" };
  return send(ground, route, null, ground.projects[sent], NOTHING_HAS, headers);
}

function ask(
  ground: Ground,
  route: Route,
  kind: KeyKind,
  role: RoleOrNone,
  sent: ProjectSent,
  id: string,
): Promise<Answer> {
  return send(ground, route, ground.keys.get(`${kind} ${role}`) ?? "", ground.projects[sent], id);
}

function send(
  { world, agent }: Pick<Ground, "world" | "agent">,
  route: Route,
  key: string | null,
  project: string | null,
  id: string,
  headers: Readonly<Record<string, string>> = {},
) {
  const path = fullPath(route).replaceAll(/\{[^}]+\}/g, id);
  const method = route.method === "*" ? "GET" : route.method;
  return world.send(method, path, { key, project, headers, agent, ...(method !== "GET" && { body: {} }) });
}

async function prepare(server: "net" | "node"): Promise<Ground> {
  const world = await openWorld(server);
  const { accounts, keys: store, plans, monitors, sink, incidents, subscriptions } = world.controlPlane;
  const workspace = async (name: string, plan: "business" | "free") => {
    const owner = { email: `${name}@test-site.org`, name };
    const made = await accounts.createWorkspace({ name, plan, projectName: "P", owner, nowMs: START_MS });
    return made ?? { organizationId: 0, projectId: 0, userId: 0 };
  };
  const foreign = await workspace("foreign", "business");
  const elsewhere = await workspace("elsewhere", "business");
  const free = await workspace("free", "business");
  const inactive = (await accounts.createProject(world.organizationId, "inactive", START_MS))?.id ?? 0;
  await accounts.setProjectActive(inactive, false);

  const keys = new Map<string, string>();
  for (const kind of KEY_KINDS) {
    for (const role of ROLES) {
      const home = kind === "workspace on Free" ? free.organizationId : world.organizationId;
      keys.set(`${kind} ${role}`, await makeKey(world, kind, role, home, elsewhere.organizationId));
    }
  }
  await plans.setPlan(free.organizationId, "free", PLANS, START_MS);

  const monitor = await monitors.create(
    newMonitor(foreign, { name: "foreign", kind: "wireguard", settings: {}, host: null }),
    SYSTEM_ACTOR,
  );
  const why = { message: "refused", category: "server_not_connected" as const, locations: ["any"] };
  await sink.apply({
    spool: "spool",
    appliedSeq: 1,
    live: [],
    drainedInboxIds: [],
    incidents: [{ type: "open", monitorId: monitor.id, atMs: START_MS, startedAtMs: START_MS, level: "down", ...why }],
  });
  const [incident] = await incidents.list(foreign.projectId, { monitorId: null, limit: 1 });
  const subscription = await subscriptions.create({
    ...FOREIGN_SUBSCRIPTION,
    projectId: foreign.projectId,
    organizationId: foreign.organizationId,
  });
  const foreignKey = await world.newKey({ userId: foreign.userId, organizationId: foreign.organizationId });
  const keyId = Number(/\d+/.exec(foreignKey)?.[0]);
  expect(await store.find(keyId)).toBeDefined();
  const sessions = new Map<string, string>();
  for (const role of ROLES) {
    for (const kind of SESSION_KINDS) {
      const cookie = await signIn(world, kind, keys.get(`workspace ${role}`) ?? "");
      if (cookie !== null) sessions.set(`${kind} ${role}`, cookie);
    }
  }
  return {
    world,
    agent: new Agent({ keepAlive: true, maxSockets: 1 }),
    keys,
    sessions,
    projects: {
      own: `prj_${world.projectId}`,
      foreign: `prj_${foreign.projectId}`,
      inactive: String(inactive),
      unknown: "prj_999999",
      malformed: "prj_x",
      missing: null,
    },
    foreignProjectId: foreign.projectId,
    foreign: { servers: monitor.id, incidents: incident?.id ?? 0, subscriptions: subscription.id, keys: keyId },
  };
}

/** By the key of a person, or by a link for that person. @returns null where that does not sign in */
async function signIn(world: World, kind: SessionKind, key: string): Promise<string | null> {
  const { userId = 0 } = (await world.controlPlane.keys.find(Number(/\d+/.exec(key)?.[0]))) ?? {};
  const { text, hash } = newSecret();
  const nowMs = world.clock.nowMs;
  await world.controlPlane.sessions.addCode({ codeHash: hash, userId, nowMs, expiresAtMs: nowMs + 1 });
  const body = kind === "session of a key" ? { key } : { code: text };
  const headers = { "x-sonde-page": "1" };
  const answer = await world.send("POST", "/api/v1/session", { key: null, project: null, body, headers });
  return answer.status === 200 ? (String(answer.headers["set-cookie"]).split(";")[0] ?? null) : null;
}

/** A person of that role in the home workspace, with a key in the state that its kind says. */
async function makeKey(
  world: World,
  kind: KeyKind,
  role: RoleOrNone,
  home: number,
  elsewhere: number,
): Promise<string> {
  const { accounts, keys } = world.controlPlane;
  const person = { email: `${kind}-${role}@test-site.org`.replaceAll(/[ ,]+/g, "-"), name: null };
  const isAccount = kind.startsWith("account");
  // A user exists only as a member of some workspace; one without a role at home is a member elsewhere.
  const there = await accounts.addMember(
    isRole(role) ? home : elsewhere,
    person,
    isRole(role) ? role : "manager",
    START_MS,
  );
  const userId = there?.userId ?? 0;
  const key = await world.newKey({
    userId,
    organizationId: isAccount ? null : home,
    ...(kind === "expired" && { expiresAtMs: START_MS }),
    ...(kind === "dashboard" && { prefix: "dk" }),
  });
  if (kind === "disabled" || kind === "account disabled") await keys.setActive(Number(/\d+/.exec(key)?.[0]), false);
  if (kind === "owner inactive" || kind === "account, owner inactive") await accounts.setUserActive(userId, false);
  if (kind === "membership removed" || kind === "account without a workspace") {
    for (const { workspace } of await accounts.memberships(userId)) await accounts.removeMember(workspace.id, userId);
  }
  return key;
}

const FOREIGN_SUBSCRIPTION = {
  name: "foreign",
  urlSealed: "sealed",
  urlHash: "hash",
  syncIntervalS: 300,
  timeoutS: 30,
  maxWorkers: 50,
  configAlertPercent: 50,
  enabled: true,
  nowMs: START_MS,
} as const;
