/** Two API processes on one PostgreSQL and one Redis: limits, keys and roles are right on each, whichever API changed them. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeLiveMessage } from "../../model/live-message.ts";
import { overridePlans } from "../../model/plan.ts";
import { newKeyText } from "../../store/key-text.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { openState } from "../../store/state/open.ts";
import type { State } from "../../store/state/state.ts";
import { follow } from "../../testkit/api/follow.suite.ts";
import { openWorld, START_MS, type World } from "../../testkit/api/world.suite.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { type PostgresServer, startPostgres } from "../servers/postgres.ts";
import { type RedisServer, startRedis } from "../servers/redis.ts";

const postgres = await startPostgres();
const redis = await startRedis();
afterAll(async () => {
  if (!isMissing(postgres)) await postgres.stop();
  if (!isMissing(redis)) await redis.stop();
});

withServer("two APIs on PostgreSQL", postgres, (sql) =>
  withServer("two APIs on Redis", redis, (shared) => twoApis(sql, shared)),
);

/** What one process has of its own: connections, caches, a listener. */
interface Process {
  readonly world: World;
  readonly plane: ControlPlane;
  readonly state: State;
}

const PLANS = overridePlans({
  business: { requestsPerMinute: null, requestsPerDay: null, requestsPerMonth: null },
  pro: { requestsPerMinute: 40, requestsPerDay: 60, requestsPerMonth: 70, tunnelSlots: 3 },
});

function twoApis(sql: PostgresServer, shared: RedisServer): void {
  describe("two API processes on one PostgreSQL and one Redis", () => {
    let database: Awaited<ReturnType<PostgresServer["createDatabase"]>>;
    let processes: readonly [Process, Process];
    /** Numbered databases of Redis keep the tests apart. */
    let redisDatabase = 0;
    let owner = { userId: 0, organizationId: 0, projectId: 0 };
    let key = "";

    beforeEach(async () => {
      database = await sql.createDatabase();
      redisDatabase += 1;
      const open = async (): Promise<Process> => {
        const plane = await openControlPlane({ url: database.url }, { role: "api" });
        const state = await openState({ url: `${shared.url}/${redisDatabase}` });
        const world = await openWorld("net", { plans: PLANS }, {}, { controlPlane: plane, state });
        return { world, plane, state };
      };
      processes = [await open(), await open()];
      owner = await processes[0].plane.accounts.createFirst({
        email: "ada@test-site.org",
        userName: "Ada",
        workspaceName: "Acme",
        plan: "business",
        projectName: "P",
        nowMs: START_MS,
      });
      key = await newKey(owner.userId);
    });
    afterEach(async () => {
      for (const { world, plane, state } of processes) {
        await world.close();
        await state.close();
        await plane.close();
      }
      await database.drop();
    });

    async function newKey(userId: number): Promise<string> {
      const { secretHash, text } = newKeyText();
      const { organizationId } = owner;
      const input = {
        name: "k",
        kind: "workspace" as const,
        userId,
        organizationId,
        expiresAtMs: null,
        nowMs: START_MS,
      };
      return text((await processes[0].plane.keys.create({ ...input, secretHash })).id);
    }
    const idOf = (text: string): number => Number(/\d+/.exec(text)?.[0]);
    const send = (at: 0 | 1, method: string, path: string, of = key, body?: unknown) =>
      processes[at].world.send(method, `/api/v1${path}`, {
        key: of,
        project: `prj_${owner.projectId}`,
        ...(body !== undefined && { body }),
      });
    const statuses = async (at: 0 | 1, of = key): Promise<number> => (await send(at, "GET", "/whoami", of)).status;
    const skip = (ms: number): void => {
      for (const { world } of processes) world.clock.nowMs += ms;
    };
    const flood = async (count: number): Promise<Record<string, number>> => {
      const asked = Array.from({ length: count }, (_, index) => send(index % 2 === 0 ? 0 : 1, "GET", "/whoami"));
      const answers = (await Promise.all(asked)).map(({ status, body }) =>
        status === 200 ? "taken" : `${status} ${body.error}`,
      );
      const counts: Record<string, number> = {};
      for (const answer of answers) counts[answer] = (counts[answer] ?? 0) + 1;
      return counts;
    };

    it("let through exactly the limit of minute, day and month between them", async () => {
      await processes[0].plane.plans.setPlan(owner.organizationId, "pro", PLANS, START_MS);
      expect(await flood(150)).toEqual({ taken: 40, "429 Rate limit exceeded": 110 });
      skip(60_000);
      expect(await flood(80)).toEqual({ taken: 20, "429 Daily limit exceeded": 60 });
      skip(86_400_000);
      expect(await flood(50)).toEqual({ taken: 10, "429 Monthly limit exceeded": 40 });
      for (const { state } of processes) {
        const { month } = await state.counters.usage(owner.organizationId, START_MS + 86_460_000);
        expect(month).toBe(70);
      }
    });

    it("refuse a key at each once either has revoked it", async () => {
      for (let round = 0; round < 10; round++) {
        const at = round % 2 === 0 ? 0 : 1;
        const other = at === 0 ? 1 : 0;
        const doomed = await newKey(owner.userId);
        expect([await statuses(0, doomed), await statuses(1, doomed)]).toEqual([200, 200]);
        // A deleted key matches nothing: it counts as a wrong one, and ten of those would be throttled.
        const hard = round < 2 ? "?hard=1" : "";
        expect((await send(at, "DELETE", `/keys/${idOf(doomed)}${hard}`)).status).toBe(200);
        const after = await Promise.all([other, at, other, at].map((one) => statuses(one as 0 | 1, doomed)));
        expect(after).toEqual([401, 401, 401, 401]);
      }
    });

    it("refuse it also while many of its requests are on their way", async () => {
      const doomed = await newKey(owner.userId);
      let isRevoked = false;
      const late: number[] = [];
      const hammer = async (at: 0 | 1): Promise<void> => {
        for (let request = 0; request < 60; request++) {
          const startedAfter = isRevoked;
          const status = await statuses(at, doomed);
          if (startedAfter) late.push(status);
        }
      };
      const hammering = Promise.all([hammer(0), hammer(1), hammer(0), hammer(1)]);
      await Promise.all([statuses(0), statuses(1), statuses(0)]);
      await send(0, "DELETE", `/keys/${idOf(doomed)}`);
      isRevoked = true;
      await hammering;
      expect(late.length).toBeGreaterThan(10);
      expect(new Set(late)).toEqual(new Set([401]));
    });

    it("take a new key, a changed role, plan, person and project at the next request", async () => {
      const made = await send(0, "POST", "/keys", key, { name: "new" });
      expect(await statuses(1, made.body.key)).toBe(200);

      const operator = await openControlPlane({ url: database.url }, { role: "api" });
      const bob = { email: "bob@test-site.org", name: "Bob" };
      const added = await operator.accounts.addMember(owner.organizationId, bob, "viewer", START_MS);
      const bobs = await newKey(added?.userId ?? 0);
      const says = async (): Promise<readonly string[]> => {
        const answers = await Promise.all(([0, 1] as const).map((at) => send(at, "POST", "/servers", bobs, {})));
        return answers.map(({ body }) => body.message);
      };
      const both = (message: string): readonly string[] => [message, message];
      expect(await says()).toEqual(both("You do not have permission to create monitors in this project"));
      await operator.accounts.addMember(owner.organizationId, bob, "manager", START_MS);
      expect(await says()).toEqual(both("Missing or invalid name"));
      await operator.accounts.setProjectActive(owner.projectId, false);
      expect(await says()).toEqual(both("Project not found or inactive"));
      await operator.accounts.setProjectActive(owner.projectId, true);
      await operator.accounts.setUserActive(added?.userId ?? 0, false);
      expect(await says()).toEqual(both("API key owner account is inactive"));
      await operator.accounts.setUserActive(added?.userId ?? 0, true);
      await operator.plans.setPlan(owner.organizationId, "free", PLANS, START_MS);
      expect(await says()).toEqual(both("API access isn't included on this workspace's plan."));
      await operator.plans.setPlan(owner.organizationId, "business", PLANS, START_MS);
      await operator.accounts.removeMember(owner.organizationId, added?.userId ?? 0);
      expect(await says()).toEqual(both("This API key's workspace access has been removed"));
      await operator.close();
    });

    it("share the throttle of wrong keys and the history of usage", async () => {
      for (let wrong = 0; wrong < 10; wrong++) {
        expect((await send(wrong % 2 === 0 ? 0 : 1, "GET", "/whoami", "uk1_wrong")).status).toBe(401);
      }
      expect([await statuses(0), await statuses(1)]).toEqual([429, 429]);
      skip(6_000);
      expect([await statuses(0), await statuses(1)]).toEqual([200, 200]);
      const requests = async (): Promise<number> => {
        const { body } = await send(1, "GET", "/usage");
        const whoami = body.endpoints.find(({ path }: { path: string }) => path === "/whoami");
        return whoami?.requests ?? 0;
      };
      // Each process writes its counts every second.
      await expect.poll(requests, { timeout: 10_000 }).toBe(2);
    });

    it("tell a page that follows at one of them what the other did, until its key is revoked there", async () => {
      const doomed = await newKey(owner.userId);
      const body = { type: "ping", name: "a", host: "a.test-site.org" };
      const { id } = (await send(0, "POST", "/servers", key, body)).body;
      const headers = { "x-api-key": doomed };
      const page = await follow(processes[1].world.api.port, `project=prj_${owner.projectId}`, headers);
      await send(0, "PUT", `/servers/${id}`, key, { name: "b" });
      await expect.poll(() => page.named("monitors"), { timeout: 10_000 }).toEqual([{ changed: [id], gone: [] }]);
      const check = { monitorId: Number(id.slice(4)), letter: "d", latencyMs: null, checkedAtMs: START_MS };
      const told = writeLiveMessage({ checks: [{ ...check, isChanged: true }], turns: [] });
      processes[0].state.broadcasts.publish(owner.projectId, told);
      await expect.poll(() => page.named("s").length, { timeout: 10_000 }).toBeGreaterThan(0);
      expect(page.named("s")[0]).toMatchObject({ m: [[check.monitorId, "d", null, 0]] });
      await send(0, "DELETE", `/keys/${idOf(doomed)}`);
      await page.ended;
    }, 60_000);

    it("give away no more tunnel slots than there are", async () => {
      await processes[0].plane.plans.setPlan(owner.organizationId, "pro", PLANS, START_MS);
      const url = "trojan://secret@192.31.196.7:443?sni=proxy.test-site.org#t";
      const asked = Array.from({ length: 12 }, (_, index) =>
        send(index % 2 === 0 ? 0 : 1, "POST", "/servers", key, { name: `t${index}`, url }),
      );
      const answers = (await Promise.all(asked)).map(({ status, body }) => (status === 200 ? 200 : body.message));
      expect(answers.filter((answer) => answer === 200)).toHaveLength(3);
      expect(answers.filter((answer) => answer === "Tunnel limit reached (3/3).")).toHaveLength(9);
    });
  });
}
