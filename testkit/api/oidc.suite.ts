/** Signing in at a provider of identities: a certified provider, both ways through the API, and who is let in. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ATTEMPT_LIVES_MS } from "../../api/oidc/attempt.ts";
import { providerFetch } from "../../roles/provider.ts";
import { attemptsHere } from "../../scheduler/alerts/attempts/attempts.ts";
import { newSecret } from "../../store/session-secret.ts";
import { CLIENT_ID, CLIENT_SECRET, type RealProvider, startProvider } from "./real-provider.suite.ts";
import { type Answer, openWorld, type World } from "./world.suite.ts";

const BASE_URL = "https://sonde.test-site.org";
const CALLBACK = "/api/v1/session/oidc";
const PAGE = { "x-sonde-page": "1", origin: BASE_URL, "sec-fetch-site": "same-origin" } as const;
const ENGINE = {
  ...{ allowNets: ["127.0.0.0/8"], ownEndpoints: [], resolvers: [], extraCaPem: null },
  ...{ rdapBootstrapUrl: null, canaries: null },
};

export function oidcSuite(server: "net" | "node"): void {
  describe("signing in at a provider", () => {
    let provider: RealProvider;
    let world: World;
    beforeAll(async () => {
      provider = await startProvider(`${BASE_URL}${CALLBACK}`);
      const oidc = {
        ...{ issuer: provider.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, emailClaim: "email" },
        autoMembers: [{ role: "viewer" as const, domain: "joins.test-site.org" }],
      };
      const config = { baseUrl: BASE_URL, oidc };
      world = await openWorld(server, config, {}, { providerFetch: providerFetch(attemptsHere(ENGINE)) });
    });
    beforeEach(() => {
      // Below the limit of sign-ins of one network.
      world.clock.nowMs += 60_000;
    });
    afterAll(async () => {
      await world.close();
      await provider.close();
    });

    const cookieOf = ({ headers }: Answer): string => String(headers["set-cookie"]).split(";")[0] ?? "";
    const begin = () => world.send("POST", CALLBACK, { key: null, project: null, headers: PAGE });
    const comeBack = (url: string, cookie: string) =>
      world.send("GET", url.replace(BASE_URL, ""), {
        ...{ key: null, project: null, headers: { cookie, "sec-fetch-site": "cross-site" } },
      });
    const known = (login: string, email: string, more: Readonly<Record<string, unknown>> = {}) =>
      provider.people.set(login, { email, email_verified: true, name: `Name of ${login}`, ...more });
    const signIn = async (login: string): Promise<Answer> => {
      const begun = await begin();
      return comeBack(await provider.signIn(begun.body.url, login), cookieOf(begun));
    };
    const whoIs = (answer: Answer) =>
      world.send("GET", "/api/v1/session", { key: null, project: null, headers: { cookie: cookieOf(answer) } });
    const failed = (word: string) => `${BASE_URL}/#/sign-in?failed=${word}`;

    it("is offered, and goes to the provider with code, PKCE, state and nonce", async () => {
      const ways = await world.send("GET", "/api/v1/sign-in", { key: null, project: null });
      expect(ways.body).toEqual({ oidc: { name: new URL(provider.issuer).host }, passkeys: true });
      const begun = await begin();
      expect(begun.headers["set-cookie"]).toMatch(
        /^__Host-sonde-oidc=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/,
      );
      const url = new URL(begun.body.url);
      expect(url.origin).toBe(provider.issuer);
      expect(Object.fromEntries(url.searchParams)).toEqual({
        ...{ client_id: CLIENT_ID, redirect_uri: `${BASE_URL}${CALLBACK}`, response_type: "code" },
        ...{ scope: "openid email profile", code_challenge_method: "S256" },
        ...{ state: expect.stringMatching(/^[\w-]{43}$/), nonce: expect.stringMatching(/^[\w-]{43}$/) },
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      });
      expect(JSON.stringify(begun.body)).not.toContain(cookieOf(begun).split("=")[1]);
    });

    it("signs a member in by the verified address, and by the account ever after", async () => {
      known("ada", "ADA@test-site.org");
      const first = await signIn("ada");
      expect(first.status).toBe(303);
      expect(first.headers).toMatchObject({ location: `${BASE_URL}/#/`, "cache-control": "no-store" });
      expect(first.headers["set-cookie"]).toMatch(/^__Host-sonde=\d+\.[\w-]{43}; .*SameSite=Strict/);
      expect((await whoIs(first)).body).toMatchObject({ user: { email: "ada@test-site.org" } });
      known("ada", "elsewhere@test-site.org", { email_verified: false });
      const later = await signIn("ada");
      expect((await whoIs(later)).body).toMatchObject({ user: { id: world.userId } });
      const { sessions } = (
        await world.send("GET", "/api/v1/sessions", { key: null, headers: { cookie: cookieOf(later) } })
      ).body;
      expect(sessions[0]).toMatchObject({ via: "oidc", current: true });
      const audit = (await world.send("GET", "/api/v1/audit?what=session")).body.entries[0];
      expect(audit).toMatchObject({ what: "session.started", detail: { via: "oidc" }, actor: { id: world.userId } });
      expect(JSON.stringify(world.log)).not.toContain(CLIENT_SECRET);
    });

    it("stays signed in when the person joins a further workspace, and a session of a link ends", async () => {
      known("ada", "ada@test-site.org");
      const ofProvider = cookieOf(await signIn("ada"));
      const secret = newSecret();
      const { nowMs } = world.clock;
      const code = { codeHash: secret.hash, userId: world.userId, nowMs, expiresAtMs: nowMs + 60_000 };
      await world.controlPlane.sessions.addCode(code);
      const headers = { ...PAGE };
      const sent = { key: null, project: null, headers, body: { code: secret.text } };
      const ofLink = cookieOf(await world.send("POST", "/api/v1/session", sent));
      const statuses = () =>
        Promise.all(
          [ofProvider, ofLink].map(async (cookie) => {
            const asked = { key: null, project: null, headers: { cookie } };
            return (await world.send("GET", "/api/v1/session", asked)).status;
          }),
        );
      expect(await statuses()).toEqual([200, 200]);
      const owner = { email: "boss@test-site.org", name: null };
      await world.controlPlane.accounts.createWorkspace({ name: "B", plan: "free", projectName: "P", nowMs, owner });
      const other = (await world.controlPlane.accounts.workspaces()).at(-1);
      const person = { email: "ada@test-site.org", name: null };
      await world.controlPlane.members.invite(other?.id ?? 0, person, "viewer", nowMs);
      expect(await statuses()).toEqual([200, 401]);
    });

    it("works once, in the browser that began it, within ten minutes", async () => {
      known("ada", "ada@test-site.org");
      const [one, two, late] = [await begin(), await begin(), await begin()];
      const back = await provider.signIn(one.body.url, "ada");
      expect((await comeBack(back, "")).headers.location).toBe(failed("again"));
      expect((await comeBack(back, cookieOf(two))).headers.location).toBe(failed("again"));
      const both = `${cookieOf(one)}; ${cookieOf(two)}`;
      expect((await comeBack(back, both)).headers.location).toBe(failed("again"));
      expect((await comeBack(`${CALLBACK}?code=x&state=${"a".repeat(43)}`, cookieOf(one))).headers.location).toBe(
        failed("again"),
      );
      const good = await comeBack(back, cookieOf(one));
      expect(good.headers.location).toBe(`${BASE_URL}/#/`);
      const again = await comeBack(back, cookieOf(one));
      expect([again.headers.location, again.headers["set-cookie"]]).toEqual([failed("again"), undefined]);
      // What another sign-in was answered is of no use in this one.
      const code = new URL(await provider.signIn(two.body.url, "ada")).searchParams.get("code");
      const state = new URL(late.body.url).searchParams.get("state");
      const mixed = `${CALLBACK}?${new URLSearchParams({ code: code ?? "", state: state ?? "", iss: provider.issuer })}`;
      expect((await comeBack(mixed, cookieOf(late))).headers.location).toBe(failed("provider"));
      const old = await begin();
      const oldBack = await provider.signIn(old.body.url, "ada");
      world.clock.nowMs += ATTEMPT_LIVES_MS;
      expect((await comeBack(oldBack, cookieOf(old))).headers.location).toBe(failed("again"));
    });

    it.each([
      ["an address that is not verified", "eve", { email: "ada@test-site.org", email_verified: false }, "email"],
      ["no word of verifying", "eve2", { email: "ada@test-site.org", email_verified: null }, "email"],
      ["no address", "eve3", { email: undefined }, "email"],
      ["an address of no person here", "eve4", { email: "outsider@test-site.org" }, "unknown"],
      ["an address below a domain that joins", "eve5", { email: "x@sub.joins.test-site.org" }, "unknown"],
      ["an address of a member with another account", "eve6", { email: "ada@test-site.org" }, "other"],
      ["a letter that only looks like another", "eve7", { email: "\u212Aim@joins.test-site.org" }, "email"],
    ])("signs no one in with %s", async (_, login, claims, word) => {
      known(login, "", claims);
      const answer = await signIn(login);
      expect([answer.status, answer.headers.location]).toEqual([303, failed(word)]);
      expect(answer.headers["set-cookie"]).toBeUndefined();
    });

    it("makes a member of an outsider only where the operator set so, and no one back of who was taken out", async () => {
      known("new", "New@Joins.Test-Site.org");
      const joined = await signIn("new");
      expect((await whoIs(joined)).body).toMatchObject({
        user: { email: "new@joins.test-site.org", name: "Name of new" },
        organizations: [{ name: "Acme", role: "viewer" }],
      });
      const entries = (await world.send("GET", "/api/v1/audit?what=member")).body.entries;
      expect(entries).toMatchObject([{ what: "member.joined", detail: { via: "oidc", role: "viewer" } }]);
      const { id } = (await whoIs(joined)).body.user;
      await world.controlPlane.accounts.setUserActive(id, false);
      expect((await signIn("new")).headers.location).toBe(failed("inactive"));
      await world.controlPlane.accounts.setUserActive(id, true);
      expect((await signIn("new")).headers.location).toBe(`${BASE_URL}/#/`);
      expect((await world.send("DELETE", `/api/v1/members/${id}`)).status).toBe(200);
      expect((await signIn("new")).headers.location).toBe(failed("none"));
      known("new", "new+again@joins.test-site.org");
      expect((await signIn("new")).headers.location).toBe(failed("none"));
      known("new", "New@Joins.Test-Site.org");
      const invited = { email: "new@joins.test-site.org", role: "viewer" };
      expect((await world.send("POST", "/api/v1/members", { body: invited })).body.id).toBe(id);
      expect((await whoIs(joined)).status).toBe(401);
      expect((await signIn("new")).headers.location).toBe(`${BASE_URL}/#/`);
    });

    it("is told no from the provider as no, and begins from our own page alone", async () => {
      const begun = await begin();
      const state = new URL(begun.body.url).searchParams.get("state") ?? "";
      const query = new URLSearchParams({ error: "access_denied", state, iss: provider.issuer });
      expect((await comeBack(`${CALLBACK}?${query}`, cookieOf(begun))).headers.location).toBe(failed("denied"));
      for (const headers of [{}, { ...PAGE, origin: "https://evil.test-site.org" }, { origin: BASE_URL }]) {
        const forged = await world.send("POST", CALLBACK, { key: null, project: null, headers });
        expect(forged.status).toBe(403);
      }
    });

    it("has a limit for each network", async () => {
      const answers: number[] = [];
      for (let count = 0; count < 121; count++) answers.push((await begin()).status);
      expect([answers.filter((status) => status === 200).length, answers.at(-1)]).toEqual([120, 429]);
      expect((await comeBack(`${CALLBACK}?code=x`, "")).headers.location).toBe(failed("busy"));
    });
  });

  it("is not offered where no provider is set up", async () => {
    const world = await openWorld(server);
    expect((await world.send("GET", "/api/v1/sign-in", { key: null })).body).toEqual({ oidc: null, passkeys: false });
    for (const method of ["POST", "GET"]) {
      const answer = await world.send(method, CALLBACK, { key: null, headers: { "x-sonde-page": "1" } });
      expect(answer.body.message).toBe("Signing in at a provider is not set up on this service.");
    }
    await world.close();
  });
}
