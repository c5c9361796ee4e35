/** Secrets in the addresses of websites: who sees what of them, what a masked one that is sent back means, and what is kept. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Role } from "../../model/plan.ts";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import { openWorld, START_MS, type World } from "./world.suite.ts";

const MARK = "m4rk";
const WHOLE = "https://ada:m4rk-pw@www.test-site.org/path?token=m4rk-token#m4rk-fragment";
const EDITORS = "https://***@www.test-site.org/path?token=m4rk-token";
const EVERYBODY = "https://***@www.test-site.org/path?***";
const KEPT = "https://ada:m4rk-pw@www.test-site.org/path?token=m4rk-token";

export function addressesSuite(server: "net" | "node"): void {
  describe("addresses with secrets", () => {
    let world: World;
    const keys: Partial<Record<Role | "account viewer" | "account editor", string>> = {};
    beforeAll(async () => {
      world = await openWorld(server);
      const { organizationId } = world;
      keys.owner = world.key;
      for (const role of ["admin", "manager", "viewer"] as const) {
        const person = { email: `${role}@test-site.org`, name: role };
        const added = await world.controlPlane.accounts.addMember(organizationId, person, role, START_MS);
        const userId = added?.userId ?? 0;
        keys[role] = await world.newKey({ userId, organizationId });
        if (role === "viewer") keys["account viewer"] = await world.newKey({ userId, organizationId: null });
        if (role === "manager") keys["account editor"] = await world.newKey({ userId, organizationId: null });
      }
    });
    afterAll(() => world.close());

    const make = async (url: string, over: object = {}) => {
      const answer = await world.send("POST", "/api/v1/servers", {
        body: { type: "http", name: "Site", url, ...over },
      });
      expect([answer.status, answer.text]).toEqual([200, answer.text]);
      return answer.body as { id: string; url: string };
    };
    const put = (id: string, body: object) => world.send("PUT", `/api/v1/servers/${id}`, { body });
    const rowOf = async (id: string) => (await world.controlPlane.monitors.recall(Number(id.slice(4))))?.monitor;
    /** What is checked. */
    const storedUrl = async (id: string): Promise<string> => {
      const row = await rowOf(id);
      const { urlSealed, settings } = row ?? {};
      if (typeof urlSealed !== "string") return String(settings?.url);
      return world.sealing.open(SEALED_CELLS.target(row?.id ?? 0), urlSealed);
    };
    const everyWay = async (id: string, key: string | undefined): Promise<Record<string, unknown>> => {
      const send = async (path: string, project?: null) => {
        const scope = project === null ? { project } : {};
        return (await world.send("GET", `/api/v1${path}`, { ...(key !== undefined && { key }), ...scope })).body;
      };
      const inRows = ({ servers }: { servers: { id: string; url: string }[] }) =>
        servers.find((one) => one.id === id)?.url;
      return {
        one: (await send(`/servers/${id}`)).url,
        again: (await send(`/servers/${id}`)).url,
        list: inRows(await send("/servers?family=all")),
        search: inRows(await send(`/servers/search?q=${id}`, null)),
      };
    };
    const all = (url: string) => ({ one: url, again: url, list: url, search: url });

    it.each([
      ["http", {}],
      ["keyword", { keyword: "ok" }],
    ])("of %s checks are shown to each as the role allows, by every way", async (type, over) => {
      const { id, url } = await make(WHOLE, { type, ...over });
      expect(url).toBe(EDITORS);
      for (const who of [
        "owner",
        "viewer",
        "admin",
        "account viewer",
        "manager",
        "account editor",
        "viewer",
      ] as const) {
        const isViewer = who.endsWith("viewer");
        expect([who, await everyWay(id, keys[who])]).toEqual([who, all(isViewer ? EVERYBODY : EDITORS)]);
      }
      expect(await storedUrl(id)).toBe(KEPT);
      expect((await rowOf(id))?.settings.url).toBe(EVERYBODY);
    });

    it("are kept out of the rows, the history and the log", async () => {
      const { id } = await make(WHOLE);
      await put(id, { url: "https://bob:m4rk-two@www.test-site.org/path?token=m4rk-3" });
      const row = JSON.stringify(await rowOf(id));
      const history = (await world.send("GET", `/api/v1/servers/${id}/history`)).text;
      for (const text of [row, history, world.log.join("\n")]) expect(text).not.toContain(MARK);
      // Viewers see the same of both, and still it was changed.
      expect(history).toContain("Updated url");
      expect(await storedUrl(id)).toBe("https://bob:m4rk-two@www.test-site.org/path?token=m4rk-3");
    });

    it("without a secret stay as they were written, and are not sealed", async () => {
      for (const url of ["https://www.test-site.org", "HTTP://WWW.test-site.org/a@b"]) {
        const { id } = await make(url);
        expect(await everyWay(id, keys.viewer)).toEqual(all(url));
        expect((await rowOf(id))?.urlSealed).toBeUndefined();
      }
    });

    it.each([
      [EDITORS, KEPT],
      [EVERYBODY, KEPT],
      ["https://***@www.test-site.org/other?***", "https://ada:m4rk-pw@www.test-site.org/other?token=m4rk-token"],
      ["https://***@www.test-site.org/path?x=1", "https://ada:m4rk-pw@www.test-site.org/path?x=1"],
      ["https://www.test-site.org/path?***", "https://www.test-site.org/path?token=m4rk-token"],
      ["https://www.test-site.org/path", "https://www.test-site.org/path"],
      ["https://other.test-site.org/path", "https://other.test-site.org/path"],
    ])("sent back as %s keep what is hidden", async (sent, kept) => {
      const { id } = await make(WHOLE);
      const answer = await put(id, { url: sent });
      expect([answer.status, await storedUrl(id)]).toEqual([200, kept]);
      expect((await rowOf(id))?.host).toBe(new URL(kept).hostname);
      const isSame = kept === KEPT;
      const { entries } = (await world.send("GET", `/api/v1/servers/${id}/history`)).body;
      expect(entries).toHaveLength(isSame ? 1 : 2);
    });

    it.each([
      "https://***@evil.test-site.org/path",
      "http://***@www.test-site.org/path",
      "https://***@www.test-site.org:8443/path",
      "https://evil.test-site.org/?***",
      "https://***@evil.test-site.org/?***",
    ])("sent back as %s never go to another origin", async (url) => {
      const { id } = await make(WHOLE);
      const { status, body } = await put(id, { url });
      const message = `url: *** stands for a secret of https://www.test-site.org: send the whole url for ${new URL(url).origin}.`;
      expect([status, body]).toEqual([400, { error: true, code: 400, message }]);
      expect(await storedUrl(id)).toBe(KEPT);
    });

    it("cannot be made of a masked one, nor filled in with what is not there", async () => {
      const wrong = {
        error: true,
        code: 400,
        message: expect.stringMatching(/^url: \*\*\* stands for .*send the whole url\.$/),
      };
      for (const url of [EVERYBODY, "https://***@www.test-site.org/", "https://www.test-site.org/?***"]) {
        const body = { type: "http", name: "Copy", url };
        expect((await world.send("POST", "/api/v1/servers", { body })).body).toEqual(wrong);
      }
      const { id } = await make("https://www.test-site.org/plain");
      for (const url of ["https://***@www.test-site.org/", "https://www.test-site.org/?***"]) {
        expect((await put(id, { url })).body).toEqual(wrong);
      }
    });

    it("survive changes of everything else", async () => {
      const { id } = await make(WHOLE);
      const sealed = (await rowOf(id))?.urlSealed;
      for (const body of [
        { name: "Renamed" },
        { active: false },
        { active: true },
        { accepted_statuscodes: ["204"] },
      ]) {
        expect((await put(id, body)).body.url).toBe(EDITORS);
      }
      await make("https://www.test-site.org/second", { ssl_expiration: 7 });
      expect((await world.send("GET", `/api/v1/servers/${id}`)).body.ssl_expiration).toBe(7);
      expect((await rowOf(id))?.urlSealed).toBe(sealed);
      expect(await storedUrl(id)).toBe(KEPT);
    });

    it("that were moved to another row do not open: they stay hidden, the log names the row, and a whole one replaces them", async () => {
      const mine = await make(WHOLE);
      const theirs = await make("https://eve:m4rk-eve@www.test-site.org/path?x=m4rk-eve");
      const stolen = (await rowOf(theirs.id))?.urlSealed ?? "";
      world.sql("update monitors set url_sealed = ? where id = ?", stolen, Number(mine.id.slice(4)));
      world.log.length = 0;
      expect(await everyWay(mine.id, keys.owner)).toEqual(all(EVERYBODY));
      expect(world.log.join("\n")).toContain(`monitors.url_sealed of row ${mine.id.slice(4)}`);
      expect(world.log.join("\n")).not.toContain(MARK);
      expect((await put(mine.id, { url: EDITORS })).status).toBe(400);
      expect((await put(mine.id, { name: "Other" })).status).toBe(200);
      expect((await put(mine.id, { url: WHOLE })).body.url).toBe(EDITORS);
      expect(await storedUrl(mine.id)).toBe(KEPT);
    });

    it("stand in clear while processes of the version before run, and are shown to each as ever", async () => {
      const { id } = await make("https://www.test-site.org/");
      const clear = JSON.stringify({ url: KEPT, accepted_statuscodes: ["200-299"], ip_version: null });
      world.sql("update monitors set settings = ? where id = ?", clear, Number(id.slice(4)));
      expect(await everyWay(id, keys.owner)).toEqual(all(EDITORS));
      expect(await everyWay(id, keys.viewer)).toEqual(all(EVERYBODY));
      expect((await put(id, { url: EDITORS, name: "Kept" })).body).toMatchObject({ url: EDITORS, name: "Kept" });
      expect(await storedUrl(id)).toBe(KEPT);
    });
  });
}
