/** What every control plane must do, whatever it is kept in. Each test gets an empty one. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LiveState, LocationState } from "../../model/status.ts";
import {
  type Actor,
  type ControlPlane,
  type IncidentChange,
  type MonitorFilter,
  type NewMonitor,
  type SinkBatch,
  StoreError,
  SYSTEM_ACTOR,
} from "./control-plane.ts";
import { openControlPlane, type SqlPlace } from "./open.ts";

/** Makes an empty place and takes it away again. */
export interface PlaceMaker {
  make(): Promise<{ readonly place: SqlPlace; remove(): Promise<void> }>;
}

const NOW_MS = Date.UTC(2026, 10, 21, 6, 10);
const ADA: Actor = { type: "user", id: 7, name: "Ada", via: "api", keyId: 31 };
const EVERYTHING: MonitorFilter = {
  family: "all",
  activeOnly: false,
  status: null,
  protocol: null,
  nameContains: null,
  limit: 1_000,
  offset: 0,
};

interface Ground {
  readonly plane: ControlPlane;
  readonly projectId: number;
  readonly organizationId: number;
  readonly userId: number;
}

export function controlPlaneSuite(name: string, places: PlaceMaker): void {
  describe(`control plane on ${name}`, () => {
    let place: Awaited<ReturnType<PlaceMaker["make"]>>;
    let ground: Ground;

    beforeEach(async () => {
      place = await places.make();
      const plane = await openControlPlane(place.place, { role: "api" });
      const first = await plane.accounts.createFirst({
        email: "Owner@test-site.org",
        userName: "Owner",
        workspaceName: "Acme",
        plan: "business",
        projectName: "Production",
        nowMs: NOW_MS,
      });
      ground = { plane, ...first };
    });
    afterEach(async () => {
      await ground.plane.close();
      await place.remove();
    });

    const given = (): Ground => ground;
    /** A second connection, as another thread or process has it. */
    const another = (role: "api" | "sink" = "sink"): Promise<ControlPlane> => openControlPlane(place.place, { role });
    accountTests(given);
    monitorTests(given);
    changeTests(given, another);
    listTests(given);
    planTests(given);
    incidentTests(given);
    heartbeatTests(given);
    sinkTests(given, another);
    upkeepTests(given, another);
  });
}

function newMonitor({ organizationId, projectId }: Ground, over: Partial<NewMonitor> = {}): NewMonitor {
  return {
    projectId,
    organizationId,
    name: "Shop",
    kind: "http",
    settings: { url: "https://shop.test-site.org/", accepted_statuscodes: ["200-299"] },
    intervalS: 60,
    timeoutS: 30,
    maxRetries: 2,
    tags: ["prod"],
    pauseReasons: [],
    pausedAtMs: null,
    locations: ["any"],
    disabledLocations: [],
    notifyOnPartial: false,
    host: "shop.test-site.org",
    sslExpirationDays: 14,
    domainExpirationDays: null,
    graceS: null,
    subscriptionId: null,
    nowMs: NOW_MS,
    heartbeatToken: null,
    ...over,
  };
}

function newHeartbeat(ground: Ground, over: Partial<NewMonitor> = {}): NewMonitor {
  const token = { sealed: `sealed-${over.name ?? "job"}`, hash: `hash-${over.name ?? "job"}` };
  const push = { name: "job", kind: "push" as const, settings: {}, host: null, sslExpirationDays: null, graceS: 60 };
  return newMonitor(ground, { ...push, heartbeatToken: token, ...over });
}

async function make(ground: Ground, over: Partial<NewMonitor> = {}): Promise<number> {
  return (await ground.plane.monitors.create(newMonitor(ground, over), ADA)).id;
}

const PASSED: LocationState = {
  status: "up",
  confirmed: "up",
  notPassed: 0,
  lastCheckAtMs: NOW_MS,
  pingMs: 12.5,
  errorCategory: null,
};

function liveOf(monitorId: number, over: Partial<LiveState> = {}): LiveState {
  return {
    monitorId,
    status: "healthy",
    lastCheckedAtMs: NOW_MS,
    latencyMs: 12.5,
    connectMs: null,
    region: "any",
    latenessMs: 0.25,
    seq: 1,
    lastRowStatus: "healthy",
    certificate: { valid: true, expiresAtMs: NOW_MS + 86_400_000 },
    locations: { any: PASSED },
    errorMessage: null,
    ...over,
  };
}

function batch(appliedSeq: number, over: Partial<SinkBatch> = {}): SinkBatch {
  return { shard: 0, appliedSeq, live: [], incidents: [], drainedInboxIds: [], ...over };
}

const WHY = { message: "connection refused", category: "server_not_connected" as const, locations: ["any"] };

function opening(monitorId: number, atMs = NOW_MS, level: "down" | "degraded" = "down"): IncidentChange {
  return { type: "open", monitorId, atMs, level, ...WHY };
}

function accountTests(given: () => Ground): void {
  describe("accounts and keys", () => {
    it("remembers the first owner, workspace and project", async () => {
      const { plane, organizationId, projectId, userId } = given();
      expect(await plane.accounts.isEmpty()).toBe(false);
      expect(await plane.accounts.workspace(organizationId)).toEqual({
        id: organizationId,
        name: "Acme",
        plan: "business",
        suspended: false,
        createdAtMs: NOW_MS,
      });
      const project = { id: projectId, organizationId, name: "Production", active: true, createdAtMs: NOW_MS };
      expect(await plane.accounts.project(projectId)).toEqual(project);
      expect(await plane.accounts.projectsOf(organizationId)).toEqual([project]);
      expect(await plane.accounts.role(userId, organizationId)).toBe("owner");
      expect(await plane.accounts.role(userId, organizationId + 1)).toBeUndefined();
      expect(await plane.accounts.workspace(99)).toBeUndefined();
      expect(await plane.accounts.project(99)).toBeUndefined();
      const workspace = await plane.accounts.workspace(organizationId);
      expect(await plane.accounts.memberships(userId)).toEqual([{ workspace, role: "owner" }]);
      expect(await plane.accounts.memberships(99)).toEqual([]);
    });

    it("makes nothing when the first owner cannot be made", async () => {
      const { plane } = given();
      const again = { email: "OWNER@test-site.org", userName: "x", workspaceName: "Second", plan: "free" as const };
      await expect(plane.accounts.createFirst({ ...again, projectName: "p", nowMs: NOW_MS })).rejects.toThrow(
        StoreError,
      );
      expect(await plane.accounts.workspace(2)).toBeUndefined();
    });

    it("makes a key's hash once its id is known, and tells who is behind it", async () => {
      const { plane, organizationId, userId } = given();
      const before = await plane.generation();
      const key = await plane.keys.create({
        name: "ci",
        kind: "workspace",
        userId,
        organizationId,
        expiresAtMs: null,
        nowMs: NOW_MS,
        secretHash: (id) => `hash of ${id}`,
      });
      expect(key).toMatchObject({ name: "ci", secretHash: `hash of ${key.id}`, active: true, lastUsedAtMs: null });
      expect(await plane.generation()).toBeGreaterThan(before);
      expect(await plane.keys.access(key.id)).toEqual({
        key,
        user: { id: userId, email: "Owner@test-site.org", name: "Owner", active: true },
        workspace: await plane.accounts.workspace(organizationId),
        role: "owner",
      });
      expect(await plane.keys.access(key.id + 1)).toBeUndefined();
    });

    it("keeps account-wide keys without workspace and role", async () => {
      const { plane, userId } = given();
      const input = { name: "laptop", kind: "account" as const, userId, organizationId: null, expiresAtMs: NOW_MS };
      const key = await plane.keys.create({ ...input, nowMs: NOW_MS, secretHash: () => "h" });
      expect(await plane.keys.access(key.id)).toMatchObject({
        key: { expiresAtMs: NOW_MS },
        workspace: null,
        role: null,
      });
    });

    it("remembers the latest use of a key without raising the generation", async () => {
      const { plane, organizationId, userId } = given();
      const input = { kind: "workspace" as const, userId, organizationId, expiresAtMs: null, nowMs: NOW_MS };
      const one = await plane.keys.create({ ...input, name: "one", secretHash: () => "1" });
      const two = await plane.keys.create({ ...input, name: "two", secretHash: () => "2" });
      const before = await plane.generation();
      await plane.keys.touch(
        new Map([
          [two.id, NOW_MS + 5],
          [one.id, NOW_MS + 3],
          [999, NOW_MS],
        ]),
      );
      await plane.keys.touch(new Map([[one.id, NOW_MS + 1]]));
      await plane.keys.touch(new Map());
      expect((await plane.keys.access(one.id))?.key.lastUsedAtMs).toBe(NOW_MS + 3);
      expect((await plane.keys.access(two.id))?.key.lastUsedAtMs).toBe(NOW_MS + 5);
      expect(await plane.generation()).toBe(before);
    });
  });
}

function monitorTests(given: () => Ground): void {
  describe("monitors", () => {
    it("gives back what was created, with ids and times", async () => {
      const ground = given();
      const { nowMs, heartbeatToken, ...input } = newMonitor(ground);
      const monitor = await ground.plane.monitors.create({ ...input, nowMs, heartbeatToken }, ADA);
      expect(monitor).toEqual({ ...input, id: monitor.id, createdAtMs: NOW_MS, updatedAtMs: NOW_MS });
      const found = await ground.plane.monitors.find(ground.projectId, monitor.id);
      expect(found?.monitor).toEqual(monitor);
      expect(found?.live).toMatchObject({
        monitorId: monitor.id,
        status: "unknown",
        seq: 0,
        locations: {},
        certificate: null,
      });
      expect(await ground.plane.monitors.find(ground.projectId + 1, monitor.id)).toBeUndefined();
      expect(await ground.plane.monitors.recall(monitor.id)).toEqual(found);
    });

    it("writes what it returns, also for text that a database refuses", async () => {
      const ground = given();
      const name = "a\0b\ud800c 🚀";
      const { plane, projectId } = ground;
      const monitor = await plane.monitors.create(
        newMonitor(ground, { name, tags: ["t\0"], settings: { keyword: "\0\ud800" }, host: "h\0" }),
        ADA,
      );
      expect(monitor.name).toBe("a\ufffdb\ufffdc 🚀");
      expect((await plane.monitors.find(projectId, monitor.id))?.monitor).toEqual(monitor);
      const changed = await plane.monitors.update(projectId, monitor.id, NOW_MS, ADA, () => ({ name: "\0!" }));
      expect((await plane.monitors.find(projectId, monitor.id))?.monitor).toEqual(changed?.monitor);
      expect((await plane.monitors.list(projectId, { ...EVERYTHING, nameContains: "\0" })).total).toBe(1);
      expect((await plane.monitors.search([projectId], "t\0", null, 10, 0)).total).toBe(1);
    });

    it("never gives an id twice", async () => {
      const ground = given();
      const first = await make(ground);
      await ground.plane.monitors.remove(ground.projectId, first, NOW_MS, ADA);
      expect(await make(ground)).toBeGreaterThan(first);
    });

    it("leaves a tombstone: gone for readers, its incidents with it, told as deleted", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const job = await plane.monitors.create(newHeartbeat(ground), ADA);
      await plane.heartbeats.record(job.id, NOW_MS, { up: true, message: null, pingMs: null });
      await plane.sink.apply(batch(1, { live: [liveOf(job.id)], incidents: [opening(job.id)] }));
      const [incident] = await plane.incidents.list(projectId, { monitorId: null, limit: 10 });
      expect(await plane.monitors.remove(projectId + 1, job.id, NOW_MS + 5, ADA)).toBe(false);
      expect(await plane.monitors.remove(projectId, job.id, NOW_MS + 5, ADA)).toBe(true);
      expect(await plane.monitors.remove(projectId, job.id, NOW_MS + 6, ADA)).toBe(false);
      expect(await plane.monitors.find(projectId, job.id)).toBeUndefined();
      expect(await plane.monitors.recall(job.id)).toBeUndefined();
      expect((await plane.monitors.list(projectId, EVERYTHING)).total).toBe(0);
      expect((await plane.monitors.search([projectId], "job", job.id, 10, 0)).total).toBe(0);
      expect((await plane.monitors.names(projectId)).size).toBe(0);
      expect(await plane.monitors.deletedSince(projectId, NOW_MS + 5)).toEqual([job.id]);
      expect(await plane.monitors.deletedSince(projectId, NOW_MS + 6)).toEqual([]);
      expect(await plane.heartbeats.byTokenHash("hash-job")).toBeUndefined();
      expect(await plane.heartbeats.sealedToken(job.id)).toBeUndefined();
      expect(await plane.heartbeats.inbox(10)).toEqual([]);
      expect(incident && (await plane.incidents.find(projectId, incident.id))).toBeUndefined();
      expect(incident && (await plane.incidents.events(incident.id, 10, 0)).total).toBe(0);
      expect(await plane.incidents.countOpen()).toBe(0);
      expect(await plane.monitors.update(projectId, job.id, NOW_MS, ADA, () => ({ name: "x" }))).toBeUndefined();
    });

    it("shares expiry settings among the website checks of a host", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const host = "shop.test-site.org";
      expect(await plane.monitors.hostExpiry(projectId, host)).toBeNull();
      const https = await make(ground, { domainExpirationDays: 30 });
      const keyword = await make(ground, { kind: "keyword", settings: { url: "https://shop.test-site.org/b" } });
      const http = await make(ground, { settings: { url: "http://shop.test-site.org/" }, sslExpirationDays: null });
      const ping = await make(ground, { kind: "ping", settings: {}, sslExpirationDays: null });
      const elsewhere = await make(ground, { host: "other.test-site.org" });
      expect(await plane.monitors.hostExpiry(projectId, host)).toEqual({
        sslExpirationDays: 14,
        domainExpirationDays: 30,
      });
      await plane.monitors.setHostExpiry(
        projectId,
        host,
        { sslExpirationDays: 7, domainExpirationDays: 60 },
        NOW_MS + 9,
      );
      const expiryOf = async (id: number): Promise<unknown[]> => {
        const found = await plane.monitors.find(projectId, id);
        return [found?.monitor.sslExpirationDays, found?.monitor.domainExpirationDays];
      };
      expect(await expiryOf(https)).toEqual([7, 60]);
      expect(await expiryOf(keyword)).toEqual([7, 60]);
      expect(await expiryOf(http)).toEqual([null, 60]);
      expect(await expiryOf(ping)).toEqual([null, null]);
      expect(await expiryOf(elsewhere)).toEqual([14, null]);
      await plane.monitors.setHostExpiry(projectId, host, { sslExpirationDays: null }, NOW_MS + 9);
      expect(await expiryOf(https)).toEqual([null, 60]);
      expect(await plane.monitors.hostExpiry(projectId + 1, host)).toBeNull();
    });
  });
}

function changeTests(given: () => Ground, another: (role?: "api" | "sink") => Promise<ControlPlane>): void {
  describe("changes", () => {
    it("writes only what differs, with the names of the fields", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const id = await make(ground);
      const before = await plane.generation();
      const same = await plane.monitors.update(projectId, id, NOW_MS + 1, ADA, ({ monitor }) => ({
        name: monitor.name,
        tags: [...monitor.tags],
        settings: { ...monitor.settings },
      }));
      expect(same?.monitor.updatedAtMs).toBe(NOW_MS);
      expect(await plane.generation()).toBe(before);
      const changed = await plane.monitors.update(projectId, id, NOW_MS + 2, ADA, ({ monitor }) => ({
        name: "Shop 2",
        intervalS: 30,
        settings: { ...monitor.settings, url: "https://shop.test-site.org/2", ip_version: "ipv6" },
      }));
      expect(changed?.monitor).toMatchObject({ name: "Shop 2", intervalS: 30, updatedAtMs: NOW_MS + 2, maxRetries: 2 });
      expect((await plane.monitors.find(projectId, id))?.monitor).toEqual(changed?.monitor);
      expect(await plane.generation()).toBeGreaterThan(before);
      const { rows, total } = await plane.history.list(id, 10, 0);
      expect(rows.map(({ type, message, atMs, actor }) => ({ type, message, atMs, actor }))).toEqual([
        { type: "updated", message: "Updated name, interval, url, ip_version", atMs: NOW_MS + 2, actor: ADA },
        { type: "created", message: "Monitor created", atMs: NOW_MS, actor: ADA },
      ]);
      expect(total).toBe(2);
      expect((await plane.history.list(id, 1, 1)).rows[0]?.type).toBe("created");
      expect((await plane.history.list(id, 1, 5)).total).toBe(2);
    });

    it("pauses and resumes as a set of reasons, and says so once per turn", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const id = await make(ground);
      const other = await make(ground, { name: "other" });
      await plane.sink.apply(batch(1, { incidents: [opening(id), opening(other)] }));
      const [incident] = await plane.incidents.list(projectId, { monitorId: id, limit: 5 });
      const pause = await plane.monitors.update(projectId, id, NOW_MS + 1, ADA, () => ({ addPauseReason: "user" }));
      expect(pause?.monitor).toMatchObject({ pauseReasons: ["user"], pausedAtMs: NOW_MS + 1 });
      await plane.monitors.update(projectId, id, NOW_MS + 2, SYSTEM_ACTOR, () => ({ addPauseReason: "plan" }));
      await plane.monitors.update(projectId, id, NOW_MS + 3, ADA, () => ({ addPauseReason: "user" }));
      const half = await plane.monitors.update(projectId, id, NOW_MS + 4, ADA, () => ({
        removePauseReasons: ["user"],
      }));
      expect(half?.monitor).toMatchObject({ pauseReasons: ["plan"], pausedAtMs: NOW_MS + 1 });
      const back = await plane.monitors.update(projectId, id, NOW_MS + 5, ADA, () => ({
        removePauseReasons: ["plan", "user"],
      }));
      expect(back?.monitor).toMatchObject({ pauseReasons: [], pausedAtMs: null });
      const history = (await plane.history.list(id, 10, 0)).rows.map(({ type, message }) => [type, message]);
      expect(history).toEqual([
        ["resumed", "Monitoring resumed"],
        ["paused", "Monitoring paused"],
        ["created", "Monitor created"],
      ]);
      const events = incident && (await plane.incidents.events(incident.id, 10, 0));
      expect(events?.rows.map(({ type, atMs }) => [type, atMs])).toEqual([
        ["opened", NOW_MS],
        ["monitor_paused", NOW_MS + 1],
        ["monitor_resumed", NOW_MS + 5],
      ]);
      expect(events?.rows[1]).toMatchObject({ actor: ADA, data: {}, location: null, message: "Monitoring paused" });
      expect(incident && (await plane.incidents.find(projectId, incident.id))?.eventCount).toBe(3);
    });

    it("lets what decide throws pass, and undoes everything", async () => {
      const ground = given();
      const id = await make(ground);
      const refusal = new RangeError("403");
      const before = await ground.plane.generation();
      const refused = ground.plane.monitors.update(ground.projectId, id, NOW_MS, ADA, () => {
        throw refusal;
      });
      await expect(refused).rejects.toBe(refusal);
      expect(await ground.plane.generation()).toBe(before);
      expect(
        await ground.plane.monitors.update(ground.projectId, id, NOW_MS, ADA, () => ({ name: "later" })),
      ).toBeDefined();
    });

    it("loses no update of many at once, over two connections", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const id = await make(ground, { tags: [] });
      const second = await another("api");
      try {
        const writers = Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? plane : second).monitors.update(projectId, id, NOW_MS, ADA, ({ monitor }) => ({
            tags: [...monitor.tags, `t${index}`],
          })),
        );
        await Promise.all(writers);
        expect((await plane.monitors.find(projectId, id))?.monitor.tags).toHaveLength(20);
        expect((await plane.history.list(id, 100, 0)).total).toBe(21);
      } finally {
        await second.close();
      }
    });

    it("shows readers nothing of a transaction that runs", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const id = await make(ground);
      let seen: Promise<string | undefined> | undefined;
      await plane.monitors.update(projectId, id, NOW_MS, ADA, () => {
        seen = plane.monitors.find(projectId, id).then((found) => found?.monitor.name);
        return { name: "new" };
      });
      expect(["Shop", "new"]).toContain(await seen);
      const failed = plane.monitors.update(projectId, id, NOW_MS, ADA, () => {
        seen = plane.monitors.find(projectId, id).then((found) => found?.monitor.name);
        throw new Error("no");
      });
      await expect(failed).rejects.toThrow("no");
      expect(await seen).toBe("new");
    });
  });
}

function listTests(given: () => Ground): void {
  describe("lists and searches", () => {
    const names = ["Zebra", "apple", "Äpfel", "äpfel", "Банан", "банан", "100%_sure", "100 xsure", "İstanbul", "Ω"];

    it("sorts by name without case, then id, the same in every database", async () => {
      const ground = given();
      for (const name of names) await make(ground, { name });
      const { rows, total } = await ground.plane.monitors.list(ground.projectId, EVERYTHING);
      const key = (name: string): string => name.normalize("NFC").toLowerCase();
      const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(key(a)), Buffer.from(key(b)));
      expect(rows.map((row) => row.monitor.name)).toEqual([...names].sort(byCodePoint));
      expect(total).toBe(names.length);
    });

    it.each([
      ["APP", ["apple"]],
      ["ÄPF", ["Äpfel", "äpfel"]],
      ["БАН", ["Банан", "банан"]],
      ["%", ["100%_sure"]],
      ["_", ["100%_sure"]],
      ["A\u0308pf", ["Äpfel", "äpfel"]],
      ["\\", []],
      ["'", []],
    ])("finds names that contain %s", async (text, expected) => {
      const ground = given();
      for (const name of names) await make(ground, { name });
      const listed = await ground.plane.monitors.list(ground.projectId, { ...EVERYTHING, nameContains: text });
      expect(listed.rows.map((row) => row.monitor.name).sort()).toEqual([...expected].sort());
      const searched = await ground.plane.monitors.search([ground.projectId], text, null, 100, 0);
      const inName = searched.rows.filter((row) => row.monitor.host === "shop.test-site.org");
      expect(inName.map((row) => row.monitor.name).sort()).toEqual([...expected].sort());
    });

    it("pages with the total of all matches", async () => {
      const ground = given();
      for (let index = 0; index < 7; index++) await make(ground, { name: `m${index}` });
      const { plane, projectId } = ground;
      const page = (limit: number, offset: number) => plane.monitors.list(projectId, { ...EVERYTHING, limit, offset });
      expect((await page(3, 0)).rows.map((row) => row.monitor.name)).toEqual(["m0", "m1", "m2"]);
      expect((await page(3, 6)).rows.map((row) => row.monitor.name)).toEqual(["m6"]);
      for (const [limit, offset] of [
        [3, 0],
        [3, 6],
        [7, 0],
        [3, 7],
        [3, 100],
        [100, 0],
      ] as const) {
        expect((await page(limit, offset)).total).toBe(7);
      }
    });

    it("filters by family, kind, activity, and status over live and paused", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const up = await make(ground, { name: "up" });
      const down = await make(ground, { name: "down", kind: "ping" });
      const paused = await make(ground, { name: "paused", pauseReasons: ["user"], pausedAtMs: NOW_MS });
      await make(ground, { name: "tunnel", kind: "wireguard" });
      await plane.sink.apply(
        batch(1, { live: [liveOf(up), liveOf(down, { status: "down" }), liveOf(paused, { status: "down" })] }),
      );
      const found = async (filter: Partial<MonitorFilter>): Promise<string[]> => {
        const { rows, total } = await plane.monitors.list(projectId, { ...EVERYTHING, ...filter });
        expect(total).toBe(rows.length);
        const firstPage = await plane.monitors.list(projectId, { ...EVERYTHING, ...filter, limit: 1 });
        expect(firstPage.total).toBe(rows.length);
        return rows.map((row) => row.monitor.name);
      };
      expect(await found({ family: "uptime" })).toEqual(["down", "paused", "up"]);
      expect(await found({ family: "tunnel" })).toEqual(["tunnel"]);
      expect(await found({ activeOnly: true })).toEqual(["down", "tunnel", "up"]);
      expect(await found({ status: "paused" })).toEqual(["paused"]);
      expect(await found({ status: "down" })).toEqual(["down"]);
      expect(await found({ status: "healthy" })).toEqual(["up"]);
      expect(await found({ status: "unknown" })).toEqual(["tunnel"]);
      expect(await found({ status: "partial" })).toEqual([]);
      expect(await found({ protocol: "ping" })).toEqual(["down"]);
      expect(await found({ protocol: "carrier-pigeon" })).toEqual([]);
      expect(await found({ family: "uptime", protocol: "ping", status: "down", nameContains: "OW" })).toEqual(["down"]);
    });

    it("searches name, host, tags and id across projects, and nothing else", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const a = await make(ground, { name: "Alpha", host: "one.test-site.org", tags: ["prod", "eu"] });
      const b = await make(ground, { name: "beta", host: null, tags: [] });
      const found = async (text: string, id: number | null = null, projects = [projectId]): Promise<number[]> => {
        const { rows, total } = await plane.monitors.search(projects, text, id, 10, 0);
        expect(total).toBe(rows.length);
        return rows.map((row) => row.monitor.id);
      };
      expect(await found("ALPHA")).toEqual([a]);
      expect(await found("one.test")).toEqual([a]);
      expect(await found("PROD")).toEqual([a]);
      expect(await found("a")).toEqual([a, b]);
      expect(await found("https:")).toEqual([]);
      expect(await found("alphaone")).toEqual([]);
      expect(await found('"')).toEqual([]);
      expect(await found("zzz", b)).toEqual([b]);
      expect(await found("a", null, [])).toEqual([]);
      expect(await found("a", null, [projectId + 1])).toEqual([]);
      const { rows } = await plane.monitors.search([projectId], "alpha", null, 10, 0);
      expect(rows[0]?.project).toEqual(await plane.accounts.project(projectId));
      await plane.monitors.update(projectId, a, NOW_MS, ADA, () => ({ tags: ["new"], host: "two.test-site.org" }));
      expect(await found("prod")).toEqual([]);
      expect(await found("two.test")).toEqual([a]);
    });
  });
}

function planTests(given: () => Ground): void {
  describe("changes for the plan", () => {
    it("tells the whole set, then only what changed", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const a = await make(ground, { name: "a" });
      const b = await make(ground, { name: "b" });
      const paused = await make(ground, { name: "c", pauseReasons: ["user"], pausedAtMs: NOW_MS });
      const all = await plane.monitors.changedSince(Number.POSITIVE_INFINITY);
      expect(all.changed.map((row) => row.monitor.id)).toEqual([a, b]);
      expect(all.removedIds).toEqual([]);
      expect(all.generation).toBe(await plane.generation());

      const none = await plane.monitors.changedSince(all.generation);
      expect(none).toEqual({ generation: all.generation, changed: [], removedIds: [] });

      await plane.monitors.update(projectId, a, NOW_MS, ADA, () => ({ intervalS: 30 }));
      await plane.monitors.update(projectId, paused, NOW_MS, ADA, () => ({ removePauseReasons: ["user"] }));
      await plane.monitors.remove(projectId, b, NOW_MS, ADA);
      const some = await plane.monitors.changedSince(all.generation);
      expect(some.changed.map((row) => [row.monitor.id, row.monitor.intervalS])).toEqual([
        [a, 30],
        [paused, 60],
      ]);
      expect(some.removedIds).toEqual([b]);
      expect(some.generation).toBeGreaterThan(all.generation);

      await plane.monitors.update(projectId, a, NOW_MS, ADA, () => ({ addPauseReason: "user" }));
      const last = await plane.monitors.changedSince(some.generation);
      expect(last.changed).toEqual([]);
      expect(last.removedIds).toEqual([a]);
    });

    it("is not moved by live states", async () => {
      const ground = given();
      const id = await make(ground);
      const before = await ground.plane.generation();
      await ground.plane.sink.apply(batch(1, { live: [liveOf(id, { status: "down" })], incidents: [opening(id)] }));
      expect(await ground.plane.generation()).toBe(before);
      const { changed } = await ground.plane.monitors.changedSince(Number.POSITIVE_INFINITY);
      expect(changed[0]?.live.status).toBe("down");
    });
  });
}

function incidentTests(given: () => Ground): void {
  describe("incidents", () => {
    it("lists open ones first: down, then unacknowledged, then newest; the rest newest first; none of paused monitors", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const ids: Record<string, number> = {};
      for (const name of ["old down", "new down", "acked down", "degraded", "closed a", "closed b", "paused"]) {
        ids[name] = await make(ground, { name });
      }
      const id = (name: string): number => ids[name] ?? 0;
      await plane.sink.apply(
        batch(1, {
          incidents: [
            opening(id("closed a"), NOW_MS - 900),
            { type: "close", monitorId: id("closed a"), atMs: NOW_MS - 100 },
            opening(id("closed b"), NOW_MS - 800),
            { type: "close", monitorId: id("closed b"), atMs: NOW_MS - 700 },
            opening(id("old down"), NOW_MS - 500),
            opening(id("new down"), NOW_MS - 300),
            opening(id("acked down"), NOW_MS - 100),
            opening(id("degraded"), NOW_MS - 50, "degraded"),
            opening(id("paused"), NOW_MS),
          ],
        }),
      );
      await plane.monitors.update(projectId, id("paused"), NOW_MS, ADA, () => ({ addPauseReason: "user" }));
      const all = async (limit = 100) => plane.incidents.list(projectId, { monitorId: null, limit });
      const acked = (await all()).find((incident) => incident.monitorId === id("acked down"));
      await plane.incidents.acknowledge(projectId, acked?.id ?? 0, NOW_MS, ADA, null);
      const order = ["new down", "old down", "acked down", "degraded", "closed b", "closed a"];
      expect((await all()).map((incident) => incident.monitorName)).toEqual(order);
      expect((await all(3)).map((incident) => incident.monitorName)).toEqual(order.slice(0, 3));
      expect((await all(5)).map((incident) => incident.monitorName)).toEqual(order.slice(0, 5));
      const mine = await plane.incidents.list(projectId, { monitorId: id("closed a"), limit: 5 });
      expect(mine.map((incident) => incident.monitorName)).toEqual(["closed a"]);
      expect(await plane.incidents.list(projectId + 1, { monitorId: null, limit: 5 })).toEqual([]);
      expect(await plane.incidents.countOpen()).toBe(4);
      expect((await plane.sink.openIncidents()).get(id("degraded"))).toBe("degraded");
      expect((await plane.sink.openIncidents()).size).toBe(5);
    });

    it("runs from opened to recovered with one event each", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const monitorId = await make(ground);
      await plane.sink.apply(batch(1, { incidents: [opening(monitorId, NOW_MS, "degraded")] }));
      await plane.sink.apply(
        batch(2, {
          incidents: [
            { type: "message", monitorId, atMs: NOW_MS + 1_000, message: "still", category: null, locations: ["de"] },
            {
              type: "raise",
              monitorId,
              atMs: NOW_MS + 2_000,
              message: "gone",
              category: "timeout",
              locations: ["de", "nl"],
            },
            { type: "location", monitorId, atMs: NOW_MS + 2_500, location: "nl", status: "down", message: "no route" },
          ],
        }),
      );
      const [open] = await plane.incidents.list(projectId, { monitorId, limit: 5 });
      expect(open).toEqual({
        id: open?.id,
        monitorId,
        monitorName: "Shop",
        monitorKind: "http",
        projectId,
        level: "down",
        startedAtMs: NOW_MS,
        endedAtMs: null,
        acknowledgedAtMs: null,
        acknowledgedBy: null,
        errorMessage: "gone",
        errorCategory: "timeout",
        locations: ["de", "nl"],
        eventCount: 3,
        monitorPaused: false,
      });
      await plane.sink.apply(batch(3, { incidents: [{ type: "close", monitorId, atMs: NOW_MS + 61_999 }] }));
      const id = open?.id ?? 0;
      expect(await plane.incidents.find(projectId, id)).toMatchObject({
        endedAtMs: NOW_MS + 61_999,
        eventCount: 4,
        level: "down",
      });
      const { rows, total } = await plane.incidents.events(id, 10, 0);
      expect(total).toBe(4);
      expect(
        rows.map(({ type, message, data, location, actor }) => ({ type, message, data, location, actor })),
      ).toEqual([
        {
          type: "opened",
          message: "Incident opened: degraded",
          data: { level: "degraded", error_message: "connection refused" },
          location: null,
          actor: SYSTEM_ACTOR,
        },
        {
          type: "level_changed",
          message: "Level changed from degraded to down",
          data: { from: "degraded", to: "down" },
          location: null,
          actor: SYSTEM_ACTOR,
        },
        {
          type: "location_changed",
          message: "Location nl: down",
          data: { status: "down", error_message: "no route" },
          location: "nl",
          actor: SYSTEM_ACTOR,
        },
        {
          type: "recovered",
          message: "Incident recovered",
          data: { duration_seconds: 61 },
          location: null,
          actor: SYSTEM_ACTOR,
        },
      ]);
      expect((await plane.incidents.events(id, 1, 1)).rows.map((row) => row.type)).toEqual(["level_changed"]);
      expect(await plane.incidents.find(projectId + 1, id)).toBeUndefined();
    });

    it("keeps the first acknowledgement, also of a recovered one, from many at once", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const monitorId = await make(ground);
      await plane.sink.apply(
        batch(1, { incidents: [opening(monitorId), { type: "close", monitorId, atMs: NOW_MS + 1 }] }),
      );
      const [incident] = await plane.incidents.list(projectId, { monitorId, limit: 1 });
      const id = incident?.id ?? 0;
      const calls = Array.from({ length: 8 }, (_, index) =>
        plane.incidents.acknowledge(projectId, id, NOW_MS + 10 + index, { ...ADA, keyId: index }, `note ${index}`),
      );
      const answers = await Promise.all(calls);
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      const keyId = answers[0]?.acknowledgedBy?.keyId ?? -1;
      expect(answers[0]).toMatchObject({ acknowledgedAtMs: NOW_MS + 10 + keyId, eventCount: 3 });
      const { rows } = await plane.incidents.events(id, 10, 0);
      expect(rows.filter((row) => row.type === "acknowledged").map((row) => row.data)).toEqual([
        { note: `note ${keyId}` },
      ]);
      expect(await plane.incidents.acknowledge(projectId, id + 1, NOW_MS, ADA, null)).toBeUndefined();
      expect(await plane.incidents.acknowledge(projectId + 1, id, NOW_MS, ADA, null)).toBeUndefined();
    });

    it("has at most one open per monitor, whatever the sink says", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const a = await make(ground, { name: "a" });
      const b = await make(ground, { name: "b" });
      const close = (monitorId: number, atMs: number): IncidentChange => ({ type: "close", monitorId, atMs });
      await plane.sink.apply(
        batch(1, { incidents: [close(a, NOW_MS), opening(a, NOW_MS + 1), opening(a, NOW_MS + 2)] }),
      );
      await plane.sink.apply(
        batch(2, {
          incidents: [
            close(a, NOW_MS + 10),
            opening(b, NOW_MS + 10, "degraded"),
            opening(a, NOW_MS + 11),
            close(a, NOW_MS + 12),
            opening(b, NOW_MS + 12, "down"),
            opening(a, NOW_MS + 13),
          ],
        }),
      );
      const times = async (monitorId: number): Promise<unknown[]> =>
        (await plane.incidents.list(projectId, { monitorId, limit: 9 })).map((row) => [
          row.startedAtMs - NOW_MS,
          row.endedAtMs,
        ]);
      expect(await times(a)).toEqual([
        [13, null],
        [11, NOW_MS + 12],
        [1, NOW_MS + 10],
      ]);
      expect(await times(b)).toEqual([[10, null]]);
      const [raised] = await plane.incidents.list(projectId, { monitorId: b, limit: 9 });
      expect(raised).toMatchObject({ level: "down", eventCount: 2 });
      const [latest] = await plane.incidents.list(projectId, { monitorId: a, limit: 1 });
      const events = await plane.incidents.events(latest?.id ?? 0, 10, 0);
      expect(events.rows.map((row) => [row.type, row.atMs])).toEqual([["opened", NOW_MS + 13]]);
    });
  });
}

function heartbeatTests(given: () => Ground): void {
  describe("heartbeats", () => {
    it("finds active ones by hash and keeps the sealed token", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const { id } = await plane.monitors.create(newHeartbeat(ground), ADA);
      expect(await plane.heartbeats.byTokenHash("hash-job")).toEqual({ monitorId: id });
      expect(await plane.heartbeats.byTokenHash("hash-other")).toBeUndefined();
      expect(await plane.heartbeats.sealedToken(id)).toBe("sealed-job");
      expect(await plane.heartbeats.sealedToken(await make(ground))).toBeUndefined();
      await plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ addPauseReason: "user" }));
      expect(await plane.heartbeats.byTokenHash("hash-job")).toBeUndefined();
      expect(await plane.heartbeats.sealedToken(id)).toBe("sealed-job");
      const period = await plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ intervalS: 120, graceS: 5 }));
      expect(period?.monitor.intervalS).toBe(120);
      expect((await plane.history.list(id, 1, 0)).rows[0]?.message).toBe("Updated period, grace");
    });

    it("keeps calls in order until the sink has drained them, and the time of the latest", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const { id } = await plane.monitors.create(newHeartbeat(ground), ADA);
      const silent = await plane.monitors.create(newHeartbeat(ground, { name: "silent" }), ADA);
      await plane.heartbeats.record(id, NOW_MS + 5, { up: true, message: null, pingMs: 1.5 });
      await plane.heartbeats.record(id, NOW_MS + 3, { up: false, message: "disk \0 full", pingMs: null });
      await plane.heartbeats.record(999, NOW_MS, { up: true, message: null, pingMs: null });
      const inbox = await plane.heartbeats.inbox(10);
      expect(inbox).toEqual([
        { id: inbox[0]?.id, monitorId: id, atMs: NOW_MS + 5, up: true, message: null, pingMs: 1.5 },
        { id: inbox[1]?.id, monitorId: id, atMs: NOW_MS + 3, up: false, message: "disk \ufffd full", pingMs: null },
      ]);
      expect(await plane.heartbeats.inbox(1)).toEqual(inbox.slice(0, 1));
      expect(await plane.heartbeats.lastCalls()).toEqual(new Map([[id, NOW_MS + 5]]));
      await plane.sink.apply(batch(1, { drainedInboxIds: [inbox[0]?.id ?? 0] }));
      expect(await plane.heartbeats.inbox(10)).toEqual(inbox.slice(1));
      await plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ addPauseReason: "user" }));
      expect(await plane.heartbeats.lastCalls()).toEqual(new Map());
      expect(silent.id).toBeGreaterThan(id);
    });
  });
}

function sinkTests(given: () => Ground, another: () => Promise<ControlPlane>): void {
  describe("sink", () => {
    it("writes whole live states and reads them back", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const id = await make(ground);
      const full = liveOf(id, {
        status: "partial",
        connectMs: 1.25,
        seq: 7,
        lastRowStatus: "degraded",
        errorMessage: "no \0 answer",
        locations: { de: PASSED, nl: { ...PASSED, status: "down", confirmed: "down", errorCategory: "timeout" } },
      });
      await plane.sink.apply(batch(1, { live: [liveOf(id), full] }));
      expect((await plane.monitors.find(projectId, id))?.live).toEqual({ ...full, errorMessage: "no \ufffd answer" });
      const bare = liveOf(id, {
        latencyMs: null,
        certificate: null,
        region: null,
        lastCheckedAtMs: null,
        latenessMs: null,
      });
      await plane.sink.apply(batch(2, { live: [bare] }));
      expect((await plane.monitors.find(projectId, id))?.live).toEqual(bare);
    });

    it("applies a sequence once, and never goes back", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const id = await make(ground);
      expect(await plane.sink.appliedSeq(0)).toBe(0);
      await plane.sink.apply(batch(5, { live: [liveOf(id, { seq: 5 })], incidents: [opening(id)] }));
      await plane.sink.apply(
        batch(5, { live: [liveOf(id, { seq: 50 })], incidents: [{ type: "close", monitorId: id, atMs: NOW_MS }] }),
      );
      await plane.sink.apply(batch(4, { live: [liveOf(id, { seq: 40 })] }));
      expect(await plane.sink.appliedSeq(0)).toBe(5);
      expect((await plane.monitors.find(projectId, id))?.live.seq).toBe(5);
      expect(await plane.incidents.countOpen()).toBe(1);
      await plane.sink.apply(batch(1, { shard: 3, live: [liveOf(id, { seq: 6 })] }));
      expect(await plane.sink.appliedSeq(3)).toBe(1);
      expect((await plane.monitors.find(projectId, id))?.live.seq).toBe(6);
    });

    it("applies one of the same batch given many times at once", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const id = await make(ground);
      const second = await another();
      try {
        const same = batch(9, { incidents: [opening(id)] });
        await Promise.all([plane, second, plane, second].map((one) => one.sink.apply(same)));
      } finally {
        await second.close();
      }
      const [incident] = await plane.incidents.list(projectId, { monitorId: id, limit: 5 });
      expect(incident?.eventCount).toBe(1);
    });

    it("passes over monitors that were deleted", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const kept = await make(ground, { name: "kept" });
      const deleted = await make(ground, { name: "deleted" });
      await plane.monitors.remove(projectId, deleted, NOW_MS, ADA);
      await plane.sink.apply(
        batch(1, {
          live: [liveOf(deleted), liveOf(kept), liveOf(999)],
          incidents: [opening(deleted), opening(kept), opening(999)],
        }),
      );
      expect((await plane.monitors.find(projectId, kept))?.live.status).toBe("healthy");
      expect([...(await plane.sink.openIncidents()).keys()]).toEqual([kept]);
      expect(await plane.monitors.find(projectId, deleted)).toBeUndefined();
    });

    it("takes a whole outage in one batch, and its end in another", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const ids: number[] = [];
      for (let index = 0; index < 1_200; index++) ids.push(await make(ground, { name: `m${index}` }));
      const down = ids.map((id) => liveOf(id, { status: "down" }));
      await plane.sink.apply(batch(1, { live: down, incidents: ids.map((id) => opening(id)) }));
      expect(await plane.incidents.countOpen()).toBe(1_200);
      expect((await plane.monitors.list(projectId, { ...EVERYTHING, status: "down", limit: 1 })).total).toBe(1_200);
      const closing = ids.map((monitorId): IncidentChange => ({ type: "close", monitorId, atMs: NOW_MS + 5_000 }));
      await plane.sink.apply(batch(2, { live: ids.map((id) => liveOf(id)), incidents: closing }));
      expect(await plane.incidents.countOpen()).toBe(0);
      const [incident] = await plane.incidents.list(projectId, { monitorId: ids[7] ?? 0, limit: 5 });
      expect((await plane.incidents.events(incident?.id ?? 0, 5, 0)).rows.map((row) => row.type)).toEqual([
        "opened",
        "recovered",
      ]);
    }, 60_000);

    it("agrees with changes of the same monitors that run meanwhile", async () => {
      const ground = given();
      const { plane, projectId } = ground;
      const second = await another();
      try {
        const ids: number[] = [];
        for (let index = 0; index < 20; index++) ids.push(await make(ground, { name: `m${index}` }));
        const work: Promise<unknown>[] = [];
        for (let round = 1; round <= 10; round++) {
          const open = round % 2 === 1;
          const incidents = ids.map(
            (id): IncidentChange => (open ? opening(id) : { type: "close", monitorId: id, atMs: NOW_MS }),
          );
          work.push(second.sink.apply(batch(round, { live: ids.map((id) => liveOf(id, { seq: round })), incidents })));
          const id = ids[round] ?? 0;
          work.push(plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ addPauseReason: "user" })));
          work.push(plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ removePauseReasons: ["user"] })));
          work.push(plane.monitors.remove(projectId, ids[19 - (round % 5)] ?? 0, NOW_MS, ADA));
        }
        await Promise.all(work);
        const left = await plane.monitors.names(projectId);
        expect(left.size).toBe(15);
        for (const id of (await plane.sink.openIncidents()).keys()) expect(left.has(id)).toBe(true);
        expect(await plane.sink.appliedSeq(0)).toBe(10);
      } finally {
        await second.close();
      }
    });
  });
}

function upkeepTests(given: () => Ground, another: (role?: "api" | "sink") => Promise<ControlPlane>): void {
  describe("upkeep", () => {
    it("keeps named values", async () => {
      const { plane } = given();
      expect(await plane.meta.get("a")).toBeUndefined();
      await plane.meta.set("a", "1");
      await plane.meta.set("a", "2");
      expect(await plane.meta.get("a")).toBe("2");
    });

    it("answers a ping while open and rejects with StoreError once closed", async () => {
      const second = await another("api");
      await second.ping();
      await second.close();
      await expect(second.ping()).rejects.toThrow(StoreError);
      await expect(second.generation()).rejects.toThrow(StoreError);
      await expect(second.meta.set("x", "y")).rejects.toThrow(StoreError);
    });

    it("lets a second connection see what the first has committed", async () => {
      const ground = given();
      const second = await another("api");
      try {
        const id = await make(ground);
        expect((await second.monitors.recall(id))?.monitor.name).toBe("Shop");
        expect(await second.generation()).toBe(await ground.plane.generation());
      } finally {
        await second.close();
      }
    });
  });
}
