/** Sessions of the page: signing in, what a session reaches, how it ends, who may not use it, and what it does not cost. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_IDLE_MS } from "../../api/auth-session.ts";
import { CODE_LIVES_MS, newSecret } from "../../store/session-secret.ts";
import { type Answer, openWorld, type Send, type World } from "./world.suite.ts";

const PAGE = { "x-sonde-page": "1" } as const;
const DAY_MS = 86_400_000;

export function sessionsSuite(server: "net" | "node"): void {
  describe("sessions of the page", () => {
    let world: World;
    beforeEach(async () => {
      world = await openWorld(server);
    });
    afterEach(() => world.close());

    const signIn = (body: unknown, headers: Record<string, string> = PAGE) =>
      world.send("POST", "/api/v1/session", { key: null, project: null, body, headers });
    const cookieOf = ({ headers }: Answer): string => String(headers["set-cookie"]).split(";")[0] ?? "";
    const signedIn = async (key = world.key): Promise<string> => {
      const answer = await signIn({ key });
      expect(answer.status).toBe(200);
      return cookieOf(answer);
    };
    const newCode = async (userId = world.userId): Promise<string> => {
      const { text, hash } = newSecret();
      const nowMs = world.clock.nowMs;
      await world.controlPlane.sessions.addCode({ codeHash: hash, userId, nowMs, expiresAtMs: nowMs + CODE_LIVES_MS });
      return text;
    };
    const by = (cookie: string, method: string, path: string, send: Send = {}) =>
      world.send(method, `/api/v1${path}`, { key: null, ...send, headers: { cookie, ...PAGE, ...send.headers } });
    const error = (code: number, message: string) => ({ error: true, code, message });

    it("begin with a key, whose reach they have", async () => {
      const answer = await signIn(
        { key: world.key },
        { ...PAGE, "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0" },
      );
      expect(answer.body).toEqual({
        user: { id: world.userId, name: "Ada Byron", email: "ada@test-site.org" },
        organizations: [{ id: world.organizationId, name: "Acme", role: "owner", plan: "business" }],
        projects: [
          { id: `prj_${world.projectId}`, name: "Production", organization_id: world.organizationId, role: "owner" },
        ],
        default_organization_id: world.organizationId,
        default_project_id: `prj_${world.projectId}`,
        expires_at: new Date(world.clock.nowMs + MAX_IDLE_MS).toISOString(),
      });
      expect(answer.headers["cache-control"]).toBe("no-store");
      expect(String(answer.headers["set-cookie"])).toMatch(
        /^sonde=\d+\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/,
      );
      const cookie = cookieOf(answer);
      expect((await by(cookie, "GET", "/session")).body).toEqual(answer.body);
      const list = await by(cookie, "GET", "/servers");
      expect(list.status).toBe(200);
      expect(list.headers["x-ratelimit-limit"]).toBeUndefined();
      expect((await by(cookie, "GET", "/sessions")).body).toMatchObject({
        sessions: [{ current: true, via: "key", device: "Firefox on Linux", address: "127.0.0.1" }],
        total: 1,
      });
      // No hash of a table is what the browser has.
      const text = JSON.stringify(world.log);
      expect(text).not.toContain(cookie.split(".")[1]);
    });

    it("begin with a link, once, and reach every workspace of the person", async () => {
      const code = await newCode();
      const other = await world.controlPlane.accounts.createWorkspace({
        ...{ name: "Second", plan: "free", projectName: "P", owner: world.userId, nowMs: world.clock.nowMs },
      });
      const answer = await signIn({ code });
      expect(answer.status).toBe(200);
      expect(answer.body.organizations.map(({ name }: { name: string }) => name)).toEqual(["Acme", "Second"]);
      const useless = error(401, "This sign-in link was used already or is too old. Make a new one.");
      expect((await signIn({ code })).body).toEqual(useless);
      const cookie = cookieOf(answer);
      // A plan without API access has a page all the same.
      expect((await by(cookie, "GET", "/servers", { project: `prj_${other?.projectId}` })).status).toBe(200);
      expect((await by(cookie, "GET", "/whoami")).body.key).toBeNull();
      const made = await by(cookie, "POST", "/keys", { body: { name: "from the page" } });
      expect(made.body.key).toMatch(/^dk\d+_/);
    });

    it("do not begin with a link that is too old, wrong, or of a person who was switched off", async () => {
      const [late, ofInactive] = [await newCode(), await newCode()];
      world.clock.nowMs += CODE_LIVES_MS;
      expect((await signIn({ code: late })).status).toBe(401);
      const fresh = await newCode();
      await world.controlPlane.accounts.setUserActive(world.userId, false);
      expect((await signIn({ code: fresh })).body).toEqual(error(401, "API key owner account is inactive"));
      expect((await signIn({ code: ofInactive })).status).toBe(401);
      for (const body of [{}, { key: world.key, code: fresh }, { code: 1 }, { code: "" }, { key: "x".repeat(301) }])
        expect((await signIn(body)).body).toEqual(error(400, "Send one of key, code and passkey."));
    });

    it("are not begun by trying: wrong codes and keys use one allowance up, and sessions go on", async () => {
      const cookie = await signedIn();
      for (let count = 0; count < 5; count++) {
        expect((await signIn({ code: `wrong${count}` })).status).toBe(401);
        expect((await signIn({ key: `uk1_wrong${count}` })).body).toEqual(error(401, "Invalid or expired API key"));
      }
      for (const body of [{ key: world.key }, { code: await newCode() }]) expect((await signIn(body)).status).toBe(429);
      expect((await by(cookie, "GET", "/servers")).status).toBe(200);
    });

    it("have a new secret each time, and the one before ends", async () => {
      const first = await signedIn();
      const second = await signIn({ key: world.key }, { ...PAGE, cookie: first });
      expect(cookieOf(second)).not.toBe(first);
      expect((await by(first, "GET", "/session")).body).toEqual(error(401, "The session has ended. Sign in again."));
      expect((await by(cookieOf(second), "GET", "/session")).status).toBe(200);
      const planted = `sonde=1.${"a".repeat(43)}`;
      expect(cookieOf(await signIn({ key: world.key }, { ...PAGE, cookie: planted }))).not.toBe(planted);
    });

    it("end when signed out, when idle, at the latest after thirty days, and with their key or person", async () => {
      const out = await signedIn();
      const gone = await by(out, "DELETE", "/session");
      expect(String(gone.headers["set-cookie"])).toMatch(/^sonde=; Path=\/; HttpOnly; SameSite=Strict; Max-Age=0$/);
      expect((await by(out, "GET", "/session")).status).toBe(401);

      const idle = await signedIn();
      const used = await signedIn();
      for (let day = 0; day < 7; day++) {
        world.clock.nowMs += DAY_MS;
        expect((await by(used, "GET", "/session")).status).toBe(200);
      }
      expect((await by(idle, "GET", "/session")).status).toBe(401);
      for (let day = 7; day < 29; day++) {
        world.clock.nowMs += DAY_MS;
        expect((await by(used, "GET", "/session")).status).toBe(200);
      }
      world.clock.nowMs += DAY_MS;
      expect((await by(used, "GET", "/session")).status).toBe(401);

      const key = await world.newKey(world);
      const ofKey = await signedIn(key);
      const keyId = Number(/\d+/.exec(key)?.[0]);
      await world.controlPlane.keys.setActive(keyId, false);
      expect((await by(ofKey, "GET", "/session")).body).toEqual(error(401, "Invalid or expired API key"));
      await world.controlPlane.keys.setActive(keyId, true);
      expect((await by(ofKey, "GET", "/session")).status).toBe(200);
      await world.controlPlane.keys.remove(keyId);
      expect((await by(ofKey, "GET", "/session")).status).toBe(401);

      const ofPerson = await signedIn();
      await world.controlPlane.accounts.setUserActive(world.userId, false);
      expect((await by(ofPerson, "GET", "/session")).status).toBe(401);
    });

    it("are ended one by one, or all others, by the person alone", async () => {
      const [one, two, three] = [await signedIn(), await signedIn(), await signedIn()];
      const other = await world.controlPlane.accounts.addMember(
        ...([world.organizationId, { email: "bob@test-site.org", name: null }, "owner", world.clock.nowMs] as const),
      );
      const bob = cookieOf(await signIn({ code: await newCode(other?.userId) }));
      const idOf = (cookie: string): string => /=(\d+)\./.exec(cookie)?.[1] ?? "";
      expect((await by(bob, "DELETE", `/sessions/${idOf(one)}`)).body).toEqual(error(404, "Session not found"));
      expect((await by(one, "DELETE", "/sessions/x")).body).toEqual(error(400, "Invalid session ID"));
      expect((await by(one, "DELETE", `/sessions/${idOf(two)}`)).body).toEqual({ success: true, ended: 1 });
      expect((await by(two, "GET", "/session")).status).toBe(401);
      expect((await by(one, "DELETE", "/sessions")).status).toBe(400);
      expect((await by(one, "DELETE", "/sessions?others=1")).body).toEqual({ success: true, ended: 1 });
      expect((await by(three, "GET", "/session")).status).toBe(401);
      expect((await by(one, "GET", "/session")).status).toBe(200);
      expect((await by(bob, "GET", "/session")).status).toBe(200);
      for (const [method, path] of [
        ["GET", "/session"],
        ["DELETE", "/session"],
        ["GET", "/sessions"],
        ["DELETE", "/sessions/1"],
      ] as const) {
        const answer = await world.send(method, `/api/v1${path}`);
        expect(answer.body).toEqual(error(403, "This is for sessions of the page. A key has none."));
      }
      expect((await world.send("GET", "/api/v1/session", { key: null })).status).toBe(401);
    });

    it("give way to a key, and do not help a wrong one", async () => {
      const cookie = await signedIn();
      const both = await world.send("GET", "/api/v1/servers", { headers: { cookie } });
      expect(both.headers["x-ratelimit-limit"]).toBeDefined();
      const wrong = await world.send("GET", "/api/v1/servers", { key: "uk1_wrong", headers: { cookie } });
      expect(wrong.body).toEqual(error(401, "Invalid or expired API key"));
      // Without the page's header a key may do everything, because no browser sends it by itself.
      const made = await world.send("POST", "/api/v1/keys", {
        body: { name: "ci" },
        headers: { cookie, origin: "https://evil.test-site.org" },
      });
      expect(made.status).toBe(200);
    });

    it.each([
      ["none of ours", "other=1"],
      ["no secret", "sonde=1"],
      ["a bad id", `sonde=0.${"a".repeat(43)}`],
      ["an unknown id", `sonde=999.${"a".repeat(43)}`],
      ["a long one", `sonde=${"1".repeat(3_000)}`],
      ["quotes", `sonde="1.${"a".repeat(43)}"`],
      ["many", Array.from({ length: 200 }, (_, index) => `c${index}=v`).join("; ")],
    ])("are not had with a cookie of %s", async (_, cookie) => {
      expect((await by(cookie, "GET", "/servers")).status).toBe(401);
    });

    it("are not had with a wrong secret, with two cookies of the name, or by the cookie of another host's rules", async () => {
      const cookie = await signedIn();
      const wrong = cookie.slice(0, -1) + (cookie.endsWith("A") ? "B" : "A");
      expect((await by(wrong, "GET", "/servers")).body).toEqual(error(401, "The session has ended. Sign in again."));
      expect((await by(`${cookie}; ${wrong}`, "GET", "/servers")).status).toBe(401);
      expect((await by(`a=b; ${cookie}; c=d`, "GET", "/servers")).status).toBe(200);
      const behind = await openWorld(server, { baseUrl: "https://sonde.test-site.org" });
      const answer = await behind.send("POST", "/api/v1/session", {
        ...{ key: null, project: null, body: { key: behind.key } },
        headers: { ...PAGE, origin: "https://sonde.test-site.org", "sec-fetch-site": "same-origin" },
      });
      expect(String(answer.headers["set-cookie"])).toMatch(
        /^__Host-sonde=\d+\.[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=2592000$/,
      );
      const secure = cookieOf(answer);
      const asPlain = secure.replace("__Host-", "");
      const get = (sent: string) => behind.send("GET", "/api/v1/servers", { key: null, headers: { cookie: sent } });
      expect((await get(secure)).status).toBe(200);
      expect((await get(asPlain)).status).toBe(401);
      await behind.close();
    });

    it("have limits of their own, and are not counted as use of the API", async () => {
      const cookie = await signedIn();
      const before = await world.state.counters.usage(world.organizationId, world.clock.nowMs);
      const answers: number[] = [];
      for (let count = 0; count < 121; count++) answers.push((await by(cookie, "DELETE", "/servers/999999")).status);
      expect(answers.filter((status) => status === 404).length).toBe(120);
      const refused = await by(cookie, "DELETE", "/servers/999999");
      expect(refused.status).toBe(429);
      expect(refused.body).toEqual({
        error: "Rate limit exceeded",
        message: "Per-minute limit of 120 requests exceeded",
        retry_after: 60,
      });
      expect((await by(cookie, "GET", "/servers")).status).toBe(200);
      world.clock.nowMs += 60_000;
      expect((await by(cookie, "DELETE", "/servers/999999")).status).toBe(404);
      const after = await world.state.counters.usage(world.organizationId, world.clock.nowMs);
      expect([after.day, after.month]).toEqual([before.day, before.month]);
      expect(await world.state.counters.endpointUsage(world.organizationId, 1, world.clock.nowMs)).toEqual([]);
    });

    it("name the person as the actor, and the page as the way", async () => {
      const cookie = await signedIn();
      const made = await by(cookie, "POST", "/servers", {
        body: { type: "http", name: "a", url: "https://a.test-site.org/" },
      });
      expect(made.status).toBe(200);
      const history = await by(cookie, "GET", `/servers/${made.body.id}/history`);
      expect(JSON.stringify(history.body)).toContain('"via":"dashboard","key_id":null');
    });

    it("change something only for our own page", async () => {
      const cookie = await signedIn();
      const host = `127.0.0.1:${world.api.port}`;
      const headers: Record<string, readonly (string | undefined)[]> = {
        "x-sonde-page": [undefined, "1", "2"],
        "sec-fetch-site": [undefined, "same-origin", "same-site", "cross-site", "none"],
        origin: [
          undefined,
          `http://${host}`,
          `https://${host}`,
          "http://evil.test-site.org",
          "null",
          "http://127.0.0.1",
        ],
      };
      let cells = 0;
      for (const page of headers["x-sonde-page"] ?? []) {
        for (const site of headers["sec-fetch-site"] ?? []) {
          for (const origin of headers.origin ?? []) {
            for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE"]) {
              const sent = {
                cookie,
                host,
                ...(page !== undefined && { "x-sonde-page": page }),
                ...(site !== undefined && { "sec-fetch-site": site }),
                ...(origin !== undefined && { origin }),
              };
              const isOwn =
                page === "1" &&
                [undefined, "same-origin"].includes(site) &&
                (origin === undefined || origin.endsWith(host));
              const isRead = method === "GET" || method === "HEAD";
              const path = method === "POST" ? "/api/v1/servers" : "/api/v1/servers/999999";
              const answer = await world.send(method, path, {
                ...{ key: null, headers: sent },
                ...(!isRead && { body: {} }),
              });
              const where = JSON.stringify([method, page, site, origin]);
              const let_in = method === "POST" ? 400 : 404;
              expect([where, answer.status]).toEqual([where, isRead || isOwn ? let_in : 403]);
              if (!isRead && !isOwn) expect(answer.body.message).toBe("This request did not come from the page.");
              cells += 1;
              // Keeps below the session's own limits.
              if (cells % 100 === 0) world.clock.nowMs += 60_000;
            }
          }
        }
      }
      const forged = await signIn({ key: world.key }, { origin: "https://evil.test-site.org", ...PAGE });
      expect(forged.body).toEqual(error(403, "This request did not come from the page."));
      expect((await signIn({ key: world.key }, {})).status).toBe(403);
      expect((await world.send("OPTIONS", "/api/v1/session", { key: null })).status).toBe(405);
    });
  });
}
