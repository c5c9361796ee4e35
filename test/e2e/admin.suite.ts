/** `sonde admin` beside a running service: what it changes holds at the next request. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { clientOf, type MonitorBody } from "../client.ts";
import {
  cleanUp,
  ended,
  eventually,
  type RunningService,
  runSonde,
  type ServiceSettings,
  startService,
} from "../service.ts";

interface Run {
  readonly code: number | null;
  readonly output: string;
}
type Facts = Readonly<Record<string, unknown>>;

export interface AdminStores {
  readonly env: Readonly<Record<string, string>>;
  /** What starts the service; one process that is everything when absent. */
  readonly start?: (settings: ServiceSettings) => Promise<RunningService>;
}

/**
 * @param part refusals are the same on any store; apart are the acts that reach into processes beside the API: each act is a process, and
 * takes a second
 */
export function adminSuite(name: string, settings: () => Promise<AdminStores>, part: "all" | "no refusals" | "apart") {
  // A dozen processes one after the other, each loading a database driver, on a machine that does more.
  describe(`sonde admin on ${name}`, { timeout: 120_000 }, () => {
    let service: RunningService;
    let env: Readonly<Record<string, string>> = {};
    let start: (settings: ServiceSettings) => Promise<RunningService> = startService;
    beforeAll(async () => {
      const plansFile = join(temporaryFolder(), "plans.json");
      writeFileSync(plansFile, JSON.stringify({ business: { requestsPerMinute: null } }));
      const place = await settings();
      start = place.start ?? startService;
      env = { ...place.env, SONDE_LIMITS: "contract", SONDE_PLANS: plansFile };
      service = await start({ env });
    });
    afterAll(cleanUp);

    const run = async (words: readonly string[], dataDir = service.dataDir): Promise<Run> => {
      const { child, output } = await runSonde({ args: ["admin", ...words], dataDir, env });
      return { code: await ended(child, () => {}), output: output() };
    };
    const done = async (...words: string[]): Promise<Facts> => {
      const { code, output } = await run([...words, "--json"]);
      expect([words.join(" "), code, output]).toEqual([words.join(" "), 0, output]);
      return JSON.parse(output) as Facts;
    };
    if (part === "all") refusalTests(run);

    const client = (key: unknown, project?: unknown) =>
      clientOf(service.url, String(key), project === undefined ? undefined : String(project));
    const newWorkspace = async (plan = "business") => {
      const made = await done("workspace", "create", "--name", "Acme", "--plan", plan);
      const { organization_id: id, project_id: project, user_id: user, key } = made;
      return { id: String(id), project, user: String(user), key, api: client(key, project) };
    };
    const statusAndMessage = async (asked: Promise<{ readonly status: number; readonly body: Facts }>) => {
      const { status, body } = await asked;
      return status === 200 ? 200 : `${status} ${String(body.message)}`;
    };

    if (part !== "apart") actsOnTheStoresAlone();

    function actsOnTheStoresAlone(): void {
      it("makes a workspace whose key works at once, and projects in it", async () => {
        const { id, project, user, key, api } = await newWorkspace("pro");
        const { body } = await api.get("/whoami");
        expect(body).toMatchObject({
          user: { id: Number(user) },
          organizations: [{ id: Number(id), name: "Acme", role: "owner", plan: "pro" }],
          default_project_id: project,
        });
        const second = await done("project", "create", "--workspace", id, "--name", "Second");
        const there = client(key, second.project_id);
        expect((await there.get("/servers")).status).toBe(200);
        await done("project", "set", String(second.project_id), "--active", "false");
        expect(await statusAndMessage(there.get("/servers"))).toBe("404 Project not found or inactive");
        await done("project", "set", String(second.project_id), "--active", "true");
        expect((await there.get("/servers")).status).toBe(200);
        expect(await done("project", "list", "--workspace", id)).toMatchObject({
          projects: [{ id: project }, { id: second.project_id, name: "Second", active: true }],
        });
        const owned = await done("workspace", "create", "--name", "B", "--plan", "free", "--owner", user);
        expect(owned.user_id).toBe(Number(user));
        const { workspaces } = (await done("workspace", "list")) as { workspaces: readonly Facts[] };
        expect(workspaces.at(-1)).toMatchObject({
          id: owned.organization_id,
          name: "B",
          plan: "free",
          suspended: false,
        });
        expect(await statusAndMessage(client(owned.key).get("/keys"))).toBe(
          "403 API access isn't included on this workspace's plan.",
        );
      });

      it("adds people, changes their roles, switches them off, takes them out", async () => {
        const { id, project } = await newWorkspace();
        const email = `eve-${id}@test-site.org`;
        const add = (role: string) =>
          done("member", "add", "--workspace", id, "--email", email, "--name", "Eve", "--role", role);
        const { user_id: user, key } = await add("viewer");
        const api = client(key, project);
        const says = () => statusAndMessage(api.post("/servers", {}));
        expect(await says()).toBe("403 You do not have permission to create monitors in this project");
        expect((await add("manager")).user_id).toBe(user);
        expect(await says()).toBe("400 Missing or invalid name");
        await done("user", "set", String(user), "--active", "false");
        expect(await says()).toBe("401 API key owner account is inactive");
        await done("user", "set", String(user), "--active", "true");
        expect(await says()).toBe("400 Missing or invalid name");
        await done("member", "remove", "--workspace", id, "--user", String(user));
        expect(await says()).toBe("401 This API key's workspace access has been removed");
      });

      it("makes keys of each kind, lists them, switches them off and on", async () => {
        const { id, user, key } = await newWorkspace();
        const words = ["key", "create", "--user", user];
        const dashboard = await done(
          ...words,
          "--workspace",
          id,
          "--dashboard",
          "--name",
          "board",
          "--expires",
          "2999-01-01",
        );
        expect(dashboard.key).toMatch(/^dk\d+_/);
        const account = await done(...words, "--account");
        expect((await client(account.key).get("/whoami")).body).toMatchObject({
          key: { kind: "account", expires: null },
        });
        const own = (await done("key", "list", "--user", user)) as { keys: readonly Facts[] };
        expect(own.keys.map((one) => one.id)).toEqual([account.id, dashboard.id, own.keys[2]?.id]);
        const { keys } = (await done("key", "list", "--workspace", id)) as { keys: readonly Facts[] };
        expect(keys).toMatchObject([
          { id: dashboard.id, name: "board", status: "active", active: 1, expires: "2999-01-01 00:00:00" },
          { name: "First key", status: "active", expires: null },
        ]);
        const says = () => statusAndMessage(client(dashboard.key).get("/whoami"));
        expect(await says()).toBe(200);
        expect(await done("key", "disable", String(dashboard.id))).toMatchObject({ status: "inactive" });
        expect(await says()).toBe("401 Invalid or expired API key");
        await done("key", "enable", String(dashboard.id));
        expect(await says()).toBe(200);

        for (let request = 0; request < 3; request++) await client(key).get("/organizations");
        const used = await eventually(async () => {
          const { keys: uses } = (await done("key", "usage", "--workspace", id)) as { keys: readonly Facts[] };
          return uses.some(({ requests_today: today }) => Number(today) >= 3) ? uses : undefined;
        });
        expect(used.find(({ name: of }) => of === "First key")).toMatchObject({
          requests_today: 3,
          requests_7_days: 3,
          requests_30_days: 3,
          endpoints: [{ method: "GET", path: "/organizations", requests: 3, errors: 0 }],
        });
      });
    }

    it("changes plans with what they demand, suspends and restores", async () => {
      const { id, api } = await newWorkspace();
      const made = await api.post<MonitorBody>("/servers", { type: "push", name: "job", period: 60 });
      expect(made.status).toBe(200);
      const read = async () => (await api.get(`/servers/${made.body.id}`)).body;
      expect(await done("plan", "set", id, "starter")).toMatchObject({ plan: "starter", intervals_raised: 1 });
      expect(await read()).toMatchObject({ period: 180, interval: 180, active: true });
      expect(await done("workspace", "suspend", id)).toMatchObject({ suspended: true, monitors_paused: 1 });
      expect(await read()).toMatchObject({ status: "paused", active: false });
      expect(await statusAndMessage(api.post("/servers", { type: "push", name: "b", period: 600 }))).toBe(
        "403 Your plan does not allow monitors.",
      );
      expect(await done("workspace", "restore", id)).toMatchObject({ suspended: false, monitors_resumed: 1 });
      expect(await read()).toMatchObject({ active: true });
      const { body } = await api.get<{ entries: readonly Facts[] }>(`/servers/${made.body.id}/history`);
      expect(body.entries.map(({ message }) => message)).toEqual([
        "Monitoring resumed",
        "Monitoring paused",
        "Updated period",
        "Monitor created",
      ]);
      await done("plan", "set", id, "free");
      expect((await api.get("/servers")).status).toBe(403);
    });

    it("changes the sealing key while heartbeats are made; nothing is lost, a restart needs the new key", async () => {
      const { key, project } = await newWorkspace();
      let api = client(key, project);
      const urls = new Map<string, string>();
      const makeHeartbeat = async (): Promise<void> => {
        const { body } = await api.post<MonitorBody>("/servers", { type: "push", name: "job", period: 600 });
        urls.set(body.id, body.heartbeat_url ?? "");
      };
      for (let index = 0; index < 20; index++) await makeHeartbeat();
      // One of each kind of secret; none of them is ever dialled.
      const tunnel = { name: "t", url: "trojan://secret@192.31.196.7:443?sni=a.test-site.org#t", active: false };
      expect((await api.post("/servers", tunnel)).status).toBe(200);
      const source = { url: "https://192.31.196.7/list", enabled: false };
      expect((await api.post("/subscriptions", source)).status).toBe(200);
      await done("webhook", "create", "--project", String(project), "--url", "https://192.31.196.7/hook");
      const others = ["tunnel", "subscription", "key of its hash", "webhook"].length;
      const rotating = done("seal", "rotate");
      let isRotating = true;
      const finished = rotating.finally(() => {
        isRotating = false;
      });
      while (isRotating) await makeHeartbeat();
      const rotation = await finished;
      expect(Number(rotation.resealed)).toBeGreaterThanOrEqual(20 + others);
      for (let index = 0; index < 5; index++) await makeHeartbeat();
      const check = async (): Promise<void> => {
        for (const [id, url] of urls) {
          const { body } = await api.get<MonitorBody>(`/servers/${id}`);
          expect([id, body.heartbeat_url]).toEqual([id, url]);
        }
      };
      await check();
      const same = await api.post("/subscriptions", source);
      expect([same.status, same.body.message]).toEqual([
        409,
        "Another subscription already uses this URL in this project",
      ]);
      const [url = ""] = urls.values();
      expect(await (await fetch(url)).json()).toEqual({ ok: true });
      // What the running service sealed in between is found by the next rotation.
      const second = await done("seal", "rotate");
      expect(second.previous_key_id).toBe(rotation.key_id);
      expect(Number(second.resealed)).toBeGreaterThanOrEqual(urls.size + others);
      const used = async () => (await api.get<{ this_month: { used: number } }>("/usage")).body.this_month.used;
      const usedBefore = await used();
      await service.stop();
      service = await start({ dataDir: service.dataDir, port: service.port, env });
      api = client(key, project);
      expect(await used()).toBe(usedBefore + 1);
      await check();
    });
  });
}

function refusalTests(run: (words: readonly string[], dataDir?: string) => Promise<Run>): void {
  describe("refusals", () => {
    it.each([
      [["plan", "set", "1", "gold"], "the plan must be free, starter, pro or business"],
      [["plan", "set", "999", "pro"], "there is no workspace 999"],
      [["plan", "set", "prj_1", "pro"], "the workspace must be an id, such as 3"],
      [["project", "set", "999", "--active", "true"], "there is no project prj_999"],
      [["project", "set", "prj_1", "--active", "yes"], "--active must be true or false"],
      [["user", "set", "999", "--active", "true"], "there is no user 999"],
      [["member", "remove", "--workspace", "1", "--user", "999"], "there is no user 999 in workspace 1"],
      [["member", "add", "--workspace", "1", "--email", "x", "--role", "admin"], "--email must be an e-mail address"],
      [["member", "add", "--workspace", "1", "--email", "a@b", "--role", "boss"], "--role must be owner, admin"],
      [["key", "create", "--user", "1"], "give either --workspace or --account"],
      [["key", "create", "--user", "999", "--workspace", "1"], "there is no user 999"],
      [
        ["key", "create", "--user", "1", "--workspace", "1", "--expires", "2020-01-01"],
        "--expires must be in the future",
      ],
      [["key", "create", "--user", "1", "--workspace", "1", "--expires", "2030-02-30"], "--expires must be a date"],
      [["key", "create", "--user", "1", "--account", "--expires", "2030-01-01"], "an account-wide key never expires"],
      [["key", "disable", "999"], "there is no key 999"],
      [["workspace", "create", "--name", " ", "--plan", "pro"], "--name must have 1 to 255 characters"],
      [["workspace", "create", "--name", "x", "--plan", "pro", "--owner", "999"], "there is no user 999"],
      [["workspace", "create", "--plan", "pro"], "required option '--name <name>' not specified"],
    ])("refuses %j in one line, with an exit code", async (words, message) => {
      const { code, output } = await run(words);
      expect(code).toBe(1);
      expect(output).toContain(message);
      expect(output).not.toMatch(/\n {4}at /);
    });

    it("makes nothing where there is no store, and explains itself", async () => {
      const help = await run(["key", "create", "--help"]);
      expect(help.code).toBe(0);
      expect(help.output).toContain("Example:");
      const empty = temporaryFolder();
      const refused = await run(["key", "list", "--workspace", "1"], empty);
      expect(refused.code).toBe(1);
      expect(refused.output).toMatch(/^sonde: there is no data of a service in .*: start one there/);
      expect(existsSync(join(empty, "control.sqlite"))).toBe(false);
    });
  });
}
