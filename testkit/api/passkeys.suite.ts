/** Passkeys: added by the person, used to sign in, forged, removed with the person. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHALLENGE_LIVES_MS } from "../../api/passkeys/sign-in.ts";
import { CODE_LIVES_MS, newSecret } from "../../store/session-secret.ts";
import { Authenticator, type Lies } from "./authenticator.suite.ts";
import { type Answer, openWorld, type World } from "./world.suite.ts";

const BASE_URL = "https://sonde.test-site.org";
const PAGE = { "x-sonde-page": "1", origin: BASE_URL, "sec-fetch-site": "same-origin" } as const;
const EVIL = "https://evil.test-site.org";
const HOUR_MS = 3_600_000;

export function passkeysSuite(server: "net" | "node"): void {
  describe("passkeys", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server, { baseUrl: BASE_URL });
    });
    afterAll(() => world.close());

    const cookieOf = ({ headers }: Answer): string => String(headers["set-cookie"]).split(";")[0] ?? "";
    const ask = (method: string, path: string, body?: unknown, cookie = "") =>
      world.send(method, `/api/v1${path}`, {
        ...{ key: null, project: null, headers: { ...PAGE, ...(cookie !== "" && { cookie }) } },
        ...(body !== undefined && { body }),
      });
    const byLink = async (userId = world.userId): Promise<string> => {
      const { text, hash } = newSecret();
      const nowMs = world.clock.nowMs;
      await world.controlPlane.sessions.addCode({ codeHash: hash, userId, nowMs, expiresAtMs: nowMs + CODE_LIVES_MS });
      return cookieOf(await ask("POST", "/session", { code: text }));
    };
    const add = async (cookie: string, device: Authenticator, lies: Lies = {}, name = "Phone") => {
      const asked = (await ask("POST", "/passkeys/challenge", undefined, cookie)).body;
      return ask("POST", "/passkeys", { name, credential: device.register(asked, lies) }, cookie);
    };
    const challenge = async (): Promise<string> => (await ask("POST", "/session/passkey")).body.challenge;
    const signIn = async (device: Authenticator, lies: Lies = {}) =>
      ask("POST", "/session", { passkey: device.answer(await challenge(), lies) });
    const error = (code: number, message: string) => ({ error: true, code, message });
    const USELESS = error(401, "This passkey signs no one in here. Try again, or sign in another way.");
    const INVALID = error(
      ...([400, "The browser's answer makes no passkey here: it is too old, or of another page. Try again."] as const),
    );

    it("are added, sign in to every workspace, are named and removed", async () => {
      expect((await ask("GET", "/sign-in")).body).toEqual({ oidc: null, passkeys: true });
      const cookie = await byLink();
      const device = new Authenticator(BASE_URL);
      const asked = (await ask("POST", "/passkeys/challenge", undefined, cookie)).body;
      expect(asked).toMatchObject({ rp_id: "sonde.test-site.org", user: { name: "ada@test-site.org" }, exclude: [] });
      const added = await add(cookie, device);
      expect(added.body).toEqual({
        ...{ id: expect.any(Number), name: "Phone", used_at: null },
        created_at: new Date(world.clock.nowMs).toISOString(),
      });
      expect((await add(cookie, device)).body).toEqual(error(409, "This passkey was added already."));
      const again = (await ask("POST", "/passkeys/challenge", undefined, cookie)).body;
      expect(again.exclude).toEqual([device.id]);
      const signed = await signIn(device);
      expect(signed.body).toMatchObject({ user: { id: world.userId }, organizations: [{ name: "Acme" }] });
      const own = cookieOf(signed);
      expect((await ask("GET", "/sessions", undefined, own)).body.sessions[0]).toMatchObject({ via: "passkey" });
      const { id } = added.body;
      const renamed = await ask("PUT", `/passkeys/${id}`, { name: " Old phone " }, own);
      expect(renamed.body).toMatchObject({ id, name: "Old phone", used_at: new Date(world.clock.nowMs).toISOString() });
      expect((await ask("GET", "/passkeys", undefined, own)).body).toMatchObject({ total: 1, passkeys: [{ id }] });
      expect((await ask("DELETE", `/passkeys/${id}`, undefined, own)).body).toEqual({ success: true, id });
      expect((await ask("DELETE", `/passkeys/${id}`, undefined, own)).body).toEqual(error(404, "Passkey not found"));
      expect((await signIn(device)).body).toEqual(USELESS);
      const { entries } = (await world.send("GET", "/api/v1/audit?what=passkey")).body;
      expect(entries).toMatchObject([
        { what: "passkey.removed", subject: { id: String(id), name: "Old phone" } },
        { what: "passkey.updated", subject: { name: "Old phone" } },
        { what: "passkey.added", subject: { id: String(id), name: "Phone" }, detail: {} },
      ]);
    });

    it("answer a challenge once, within five minutes, with a counter that rises", async () => {
      world.clock.nowMs += HOUR_MS;
      const device = new Authenticator(BASE_URL);
      await add(await byLink(), device);
      const passkey = device.answer(await challenge());
      expect((await ask("POST", "/session", { passkey })).status).toBe(200);
      expect((await ask("POST", "/session", { passkey })).body).toEqual(USELESS);
      const late = await challenge();
      world.clock.nowMs += CHALLENGE_LIVES_MS;
      expect((await ask("POST", "/session", { passkey: device.answer(late) })).body).toEqual(USELESS);
      expect((await signIn(device, { counter: 50 })).status).toBe(200);
      for (const counter of [50, 49, 0]) expect((await signIn(device, { counter })).body).toEqual(USELESS);
      expect((await signIn(device, { counter: 51 })).status).toBe(200);
    });

    it.each<readonly [string, Lies]>([
      ["another origin", { origin: EVIL }],
      ["a page of ours without TLS", { origin: BASE_URL.replace("https", "http") }],
      ["another relying party", { rpId: "evil.test-site.org" }],
      ["a challenge that was not given", { challenge: "a".repeat(43) }],
      ["a page of ours within another", { crossOrigin: true }],
      ["the making of a passkey", { type: "webauthn.create" }],
      ["a person who was not asked", { unasked: true }],
      ["another person", { userHandle: "b".repeat(43) }],
      ["the signature of another key", { signature: "MAYCAQECAQE" }],
    ])("sign no one in with an answer of %s, and none is made of such", async (_, lies) => {
      world.clock.nowMs += HOUR_MS;
      const cookie = await byLink();
      const device = new Authenticator(BASE_URL);
      await add(cookie, device);
      expect((await signIn(device, lies)).body).toEqual(USELESS);
      expect((await signIn(device)).status).toBe(200);
      const isOfMaking = lies.signature === undefined && lies.userHandle === undefined;
      const type = lies.type === undefined ? {} : { type: "webauthn.get" };
      if (isOfMaking)
        expect((await add(cookie, new Authenticator(BASE_URL), { ...lies, ...type })).body).toEqual(INVALID);
    });

    it("are not made with a certificate, of bytes that are none, or for another person", async () => {
      world.clock.nowMs += HOUR_MS;
      const [own, other] = [await byLink(), await byLink(await joined("bob@test-site.org"))];
      const device = new Authenticator(BASE_URL);
      expect((await add(own, device, { withCertificate: true })).body).toEqual(INVALID);
      const asked = (await ask("POST", "/passkeys/challenge", undefined, own)).body;
      const credential = device.register(asked);
      expect((await ask("POST", "/passkeys", { name: "a", credential }, other)).body).toEqual(INVALID);
      for (const bad of [null, {}, { ...credential, id: "?" }, { ...credential, response: { clientDataJSON: "a" } }])
        expect((await ask("POST", "/passkeys", { name: "a", credential: bad }, own)).body).toEqual(INVALID);
      for (const name of ["", " ", 7, "x".repeat(61)]) {
        const answer = await ask("POST", "/passkeys", { name, credential }, own);
        expect(answer.body).toEqual(error(400, "name must be a text of 1 to 60 characters."));
      }
      const { id } = (await add(own, device)).body;
      expect((await ask("PUT", `/passkeys/${id}`, { name: "mine" }, other)).status).toBe(404);
      expect((await ask("DELETE", `/passkeys/${id}`, undefined, other)).status).toBe(404);
      expect((await ask("DELETE", "/passkeys/x", undefined, own)).body).toEqual(error(400, "Invalid passkey ID"));
    });

    const joined = async (email: string): Promise<number> => {
      const answer = await world.send("POST", "/api/v1/members", { body: { email, role: "viewer" } });
      return answer.body.id;
    };

    it("are not added by a session of a key, and end with the person and with a further workspace", async () => {
      world.clock.nowMs += HOUR_MS;
      const ofKey = cookieOf(await ask("POST", "/session", { key: world.key }));
      for (const path of ["/passkeys", "/passkeys/challenge"]) {
        const answer = await ask("POST", path, {}, ofKey);
        expect([answer.status, answer.body.message]).toEqual([403, expect.stringContaining("began with a key")]);
      }
      const [eve, ivy] = [await joined("eve@test-site.org"), await joined("ivy@test-site.org")];
      const [ofEve, ofIvy] = [new Authenticator(BASE_URL), new Authenticator(BASE_URL)];
      await add(await byLink(eve), ofEve);
      await add(await byLink(ivy), ofIvy);
      expect([(await signIn(ofEve)).status, (await signIn(ofIvy)).status]).toEqual([200, 200]);
      await world.send("DELETE", `/api/v1/members/${eve}`);
      await joined("eve@test-site.org");
      await world.controlPlane.accounts.createWorkspace({
        ...{ name: "Other", plan: "free", projectName: "P", nowMs: world.clock.nowMs },
        owner: { email: "boss@test-site.org", name: null },
      });
      const [, other] = await world.controlPlane.accounts.workspaces();
      const person = { email: "ivy@test-site.org", name: null };
      await world.controlPlane.accounts.addMember(other?.id ?? 0, person, "viewer", world.clock.nowMs);
      for (const device of [ofEve, ofIvy]) expect((await signIn(device)).body).toEqual(USELESS);
    });

    it("use up the allowance of wrong keys when they prove nothing", async () => {
      world.clock.nowMs += HOUR_MS;
      const device = new Authenticator(BASE_URL);
      for (let count = 0; count < 10; count++) expect((await signIn(device)).body).toEqual(USELESS);
      expect((await signIn(device)).status).toBe(429);
    });
  });
}
