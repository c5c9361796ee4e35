/** Channels: added, changed, tested, removed; what is secret goes in and never comes out (docs/api-contract.md#channels). */
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import { openWorld, type World } from "./world.suite.ts";

interface Got {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

export function channelsSuite(server: "net" | "node"): void {
  describe("channels", () => {
    let world: World;
    const got: Got[] = [];
    let answer: readonly [status: number, body: string] = [200, '{"id":"x"}'];
    const service = createServer(async (request, response) => {
      const { url: path = "", headers } = request;
      const body = (await json(request)) as Got["body"];
      got.push({ path, authorization: headers.authorization, body });
      response.writeHead(answer[0]).end(answer[1]);
    });
    let url = "";
    beforeAll(async () => {
      world = await openWorld(server);
      url = `http://127.0.0.1:${await listen(service)}`;
    });
    afterAll(async () => {
      service.closeAllConnections();
      service.close();
      await world.close();
    });

    const post = (path: string, body: unknown) => world.send("POST", `/api/v1/channels${path}`, { body });
    const put = (id: string, body: unknown) => world.send("PUT", `/api/v1/channels/${id}`, { body });
    const add = async (name: string, settings: Readonly<Record<string, unknown>> = {}, kind = "ntfy") => {
      const token = "tk_verysecret";
      return post("", { kind, name, settings: { server: url, topic: "sonde", token, ...settings } });
    };

    it("shows its kinds with their settings as JSON Schema", async () => {
      const { body } = await world.send("GET", "/api/v1/channels/kinds");
      expect(body.total).toBe(body.kinds.length);
      const names = body.kinds.map(({ kind }: { kind: string }) => kind);
      const asked =
        "email slack discord telegram teams google_chat pagerduty ntfy pushover gotify matrix webhook custom apprise";
      expect(names).toEqual(asked.split(" "));
      for (const { fields, docs, summary } of body.kinds) {
        expect(fields).toMatchObject({ type: "object", additionalProperties: false });
        expect(Object.values(fields.properties).every((field) => (field as { description?: string }).description)).toBe(
          true,
        );
        expect(docs).toMatch(/^docs\/use\/channels\/\w+\.md$/);
        expect(summary).not.toMatch(/\.$/);
      }
      const { fields } = body.kinds.find(({ kind }: { kind: string }) => kind === "telegram");
      expect(fields.properties.token).toMatchObject({ "x-secret": true, type: "string" });
      expect(fields.required).toEqual(["token", "chat_id"]);
    });

    it("keeps secrets sealed and to itself, and leaves those alone that are not sent", async () => {
      const made = await add("Phone");
      expect(made.status).toBe(200);
      const { id } = made.body;
      expect(made.body).toMatchObject({
        kind: "ntfy",
        name: "Phone",
        active: true,
        state: "ok",
        has_secret: ["token"],
        used_by_rules: 1,
      });
      expect(made.body.settings).toMatchObject({ topic: "sonde", server: url, priority: 3 });
      const renamed = await put(id, { name: " Phone of Ada ", settings: { server: url, topic: "other" } });
      expect(renamed.body).toMatchObject({ name: "Phone of Ada", settings: { topic: "other" }, has_secret: ["token"] });
      const [kept] = await world.controlPlane.channels.openable([Number(id.slice(3))]);
      const cell = SEALED_CELLS.channel(Number(id.slice(3)));
      expect(JSON.parse(world.sealing.open(cell, kept?.sealed ?? ""))).toEqual({ token: "tk_verysecret" });
      const shown = [
        made,
        renamed,
        await world.send("GET", "/api/v1/channels"),
        await world.send("GET", `/api/v1/channels/${id}`),
      ];
      for (const { text } of shown) expect(text).not.toContain("verysecret");
      expect(shown[2]?.body).toMatchObject({ total: 1, channels: [{ id, has_secret: ["token"] }] });
      const cleared = await put(id, { settings: { server: url, topic: "other", token: null }, active: false });
      expect(cleared.body).toMatchObject({ has_secret: [], active: false, state: "off", off_reason: "operator" });
      expect((await world.send("DELETE", `/api/v1/channels/${id}`)).body).toEqual({ success: true, id });
      expect((await world.send("GET", `/api/v1/channels/${id}`)).status).toBe(404);
    });

    it("says how many rules tell it", async () => {
      const { id } = (await add("Told")).body;
      const { projectId, controlPlane, clock } = world;
      const anything = { events: null, select: null, severity: null };
      const times = { delayS: 0, waitS: 0, intervalS: 300, repeatS: null, repeatGrowth: 2, recovered: true };
      const rule = {
        id: null,
        name: "all",
        active: true,
        goesOn: false,
        match: anything,
        groupBy: "none" as const,
        ...times,
      };
      const rest = { quietHoursId: null, template: null };
      const own = Number(id.slice(3));
      const rules = [
        { ...rule, ...rest, channels: null, escalation: [] },
        { ...rule, ...rest, channels: [own + 1], escalation: [{ afterS: 900, channels: [own] }] },
        { ...rule, ...rest, channels: [own + 1], escalation: [] },
      ];
      await controlPlane.alerts.writeRules(projectId, 0, rules, clock.nowMs);
      expect((await world.send("GET", `/api/v1/channels/${id}`)).body.used_by_rules).toBe(2);
      await controlPlane.alerts.writeRules(
        projectId,
        1,
        [{ ...rule, ...rest, channels: [own], escalation: [] }],
        clock.nowMs,
      );
      const removed = await world.send("DELETE", `/api/v1/channels/${id}`);
      expect(removed.body).toEqual({
        ...{ success: true, id },
        warnings: ['the rule "all" has no channel left: nothing that it matches is sent'],
      });
      const { rules: left, version } = (await world.send("GET", "/api/v1/alert-rules")).body;
      const more = [...left, { name: "new" }];
      const written = await world.send("PUT", "/api/v1/alert-rules", { body: { version, rules: more } });
      expect([written.status, written.body.rules.length, written.body.rules[0].channels]).toEqual([200, 2, [id]]);
      await controlPlane.alerts.writeRules(projectId, written.body.version, [], clock.nowMs);
    });

    it("takes no secret to another place than the one it was given for", async () => {
      const { id } = (await add("Moved")).body;
      const elsewhere = { server: "https://evil.test-site.org", topic: "sonde" };
      const refused = await put(id, { settings: elsewhere });
      expect([refused.status, refused.body.message]).toEqual([
        400,
        "server: token was given for another server: send it again.",
      ]);
      const tested = await post("/test", { kind: "ntfy", id, settings: elsewhere });
      expect(tested.body.message).toBe("server: token was given for another server: send it again.");
      expect((await put(id, { settings: { ...elsewhere, token: "tk_new" } })).status).toBe(200);
      await world.send("DELETE", `/api/v1/channels/${id}`);
    });

    it.each([
      [{ kind: "pigeon", name: "x", settings: {} }, "kind must be one of GET /channels/kinds."],
      [{ kind: "ntfy", name: " ", settings: {} }, "Missing or invalid name"],
      [{ kind: "ntfy", name: "x", settings: [] }, "settings must be an object."],
      [{ kind: "ntfy", name: "x", settings: {} }, "topic: is needed."],
      [{ kind: "ntfy", name: "x", settings: { topic: "a b" } }, "topic: must be 1 to 64 letters, digits, - and _."],
      [{ kind: "ntfy", name: "x", settings: { topic: "a", colour: 1 } }, "settings: there is no colour here."],
      [
        { kind: "ntfy", name: "x", settings: { topic: "a", user: "ada" } },
        "password: user and password belong together.",
      ],
      [
        { kind: "ntfy", name: "x", settings: { topic: "a", server: "ftp://x" } },
        "server: must be an http or https address without a user name.",
      ],
      [
        { kind: "custom", name: "x", settings: { url: "https://x.org", body: "{{ a | nonsense }}" } },
        /^body: is no template that can be used: /,
      ],
      [{ kind: "email", name: "x", settings: { to: ["a@b\nBcc: c@d"] } }, "to: must be a line of 1 to 254 characters."],
      [{ kind: "ntfy", name: "x", settings: { topic: "a" }, active: "yes" }, "active must be true or false."],
    ])("refuses %j", async (body, message) => {
      const refused = await post("", body);
      expect([refused.status, refused.body.message]).toEqual([
        400,
        typeof message === "string" ? message : expect.stringMatching(message),
      ]);
    });

    it("has names that differ, and no more than a hundred", async () => {
      await add("Twice");
      const twice = await add("Twice");
      expect([twice.status, twice.body.message]).toEqual([409, "Another channel of this project has this name"]);
      const { projectId, controlPlane } = world;
      const more = { kind: "ntfy", settings: {}, secretNames: [], sealed: null, active: true, nowMs: 0, projectId };
      for (let count = 1; count < 100; count += 1)
        await controlPlane.channels.create({ ...more, name: `c${count}` }, 100);
      const full = await add("One more");
      expect([full.status, full.body.message]).toEqual([400, "A project has at most 100 channels."]);
      for (const { id } of await controlPlane.channels.list(projectId))
        await controlPlane.channels.remove(projectId, id);
    });

    it("is tested as often at once as its project and its workspace may, and leaves the rest to others", async () => {
      const silent = createServer(() => {});
      const silentUrl = `http://127.0.0.1:${await listen(silent)}`;
      const body = { kind: "ntfy", settings: { server: silentUrl, topic: "sonde" } };
      const insert = "insert into projects (organization_id, name, active, created_at_ms) values (?, ?, 1, 1)";
      const projects = ["B", "C"].map((name) => String(world.sql(insert, world.organizationId, name)));
      const test = (project?: string) =>
        world.send("POST", "/api/v1/channels/test", { body, ...(project !== undefined && { project }) });
      const running = Array.from({ length: 4 }, () => [test(), test(projects[0])]).flat();
      const asked = new Promise<void>((settle) => {
        let count = 0;
        silent.on("request", () => ++count === running.length && settle());
      });
      await asked;
      expect([(await test()).status, (await test(projects[1])).status]).toEqual([429, 429]);
      silent.closeAllConnections();
      silent.close();
      expect((await Promise.all(running)).map(({ status }) => status)).toEqual(running.map(() => 200));
    });

    it("is tested saved and unsaved, and says what the service said", async () => {
      const unsaved = await post("/test", {
        kind: "ntfy",
        settings: { server: url, topic: "sonde", token: "tk_verysecret" },
      });
      expect(unsaved.body).toMatchObject({ delivered: true, status_code: 200, error: null });
      expect(unsaved.body.sent).toContain("A test of this channel");
      expect(got.at(-1)).toMatchObject({ path: "/", authorization: "Bearer tk_verysecret", body: { topic: "sonde" } });
      const { id } = (await add("Tested")).body;
      const edited = await post("/test", {
        kind: "ntfy",
        id,
        settings: { server: url, topic: "new" },
        reason: "opened",
      });
      expect(edited.body.delivered).toBe(true);
      expect(got.at(-1)).toMatchObject({
        authorization: "Bearer tk_verysecret",
        body: { topic: "new", title: "Berlin 3 is down" },
      });
      answer = [403, '{"code":40301,"http":403,"error":"forbidden of tk_verysecret"}'];
      for (let round = 0; round < 2; round += 1) {
        const refused = await world.send("POST", `/api/v1/channels/${id}/test`);
        expect(refused.body).toMatchObject({ delivered: false, status_code: 403, error: "HTTP 403: forbidden of ***" });
        expect(refused.text).not.toContain("verysecret");
      }
      const failing = await world.send("GET", `/api/v1/channels/${id}`);
      expect(failing.body).toMatchObject({
        state: "failing",
        last_error: "HTTP 403: forbidden of ***",
        last_success_at: null,
      });
      answer = [200, '{"id":"x"}'];
      expect((await post(`/${id}/test`, { reason: "recovered" })).body.delivered).toBe(true);
      const well = await world.send("GET", `/api/v1/channels/${id}`);
      expect(well.body).toMatchObject({ state: "ok", failing_since: null, last_error: null });
      expect(well.body.last_success_at).not.toBeNull();
      const wrong = await post(`/${id}/test`, { reason: "why not" });
      expect(wrong.status).toBe(400);
    });

    it("sends mail to addresses only when the reader of each has confirmed", async () => {
      const mailed: { readonly to: string; readonly link: string }[] = [];
      const mailServer = new SMTPServer({
        ...{ authOptional: true, hideSTARTTLS: true, disabledCommands: ["STARTTLS"] },
        onData(stream, { envelope }, done) {
          const pieces: Buffer[] = [];
          stream.on("data", (piece: Buffer) => void pieces.push(piece));
          stream.on("end", () => {
            const text = Buffer.concat(pieces).toString().replaceAll("=\r\n", "");
            const link = /\/confirm\/[\w.~-]+/.exec(text)?.[0] ?? "";
            mailed.push({ to: envelope.rcptTo.map(({ address }) => address).join(), link });
            done();
          });
        },
      });
      const port = await listen(mailServer.server);
      const asked = async (count: number) => {
        await expect.poll(() => mailed.length, { timeout: 20_000, interval: 20 }).toBe(count);
        return mailed[count - 1] ?? { to: "", link: "" };
      };
      const follow = (method: string, link: string) => world.send(method, link, { key: null, project: null });
      const [ada, bob] = ["ada@test-site.org", "bob@test-site.org"];
      const settings = { to: [ada], cc: [bob], smtp_url: `smtp://127.0.0.1:${port}`, from: "sonde@test-site.org" };
      expect((await post("/test", { kind: "email", settings })).body).toMatchObject({ delivered: false, sent: "" });
      const { id, state } = (await post("", { kind: "email", name: "Mail", settings })).body;
      expect(state).toBe("unverified");
      const first = await asked(1);
      expect(first.to).toBe(ada);
      // Looking at it changes nothing.
      expect((await follow("GET", first.link)).text).toContain(ada);
      expect((await world.send("GET", `/api/v1/channels/${id}`)).body.state).toBe("unverified");
      expect((await follow("POST", first.link)).text).toContain("Another address of the channel is asked now.");
      const second = await asked(2);
      expect(second.to).toBe(bob);
      expect((await follow("POST", second.link)).text).toContain("Confirmed.");
      expect((await world.send("GET", `/api/v1/channels/${id}`)).body.state).toBe("ok");
      expect((await post(`/${id}/test`, {})).body).toMatchObject({ delivered: true });
      expect(mailed.at(-1)).toEqual({ to: `${ada},${bob}`, link: "" });
      // Who runs that server may have pressed the buttons alone.
      const byService = { to: [ada], from: settings.from, smtp_url: null };
      expect((await post("/test", { kind: "email", id, settings: byService })).body.error).toContain(
        "save the channel",
      );
      // Another address is asked first, and the links that went out before are for another list.
      expect((await put(id, { settings: { to: [ada, "eve@test-site.org"], from: settings.from } })).body.state).toBe(
        "unverified",
      );
      expect((await asked(4)).to).toBe(ada);
      expect((await follow("POST", second.link)).status).toBe(404);
      const again = (await post(`/${id}/test`, {})).body;
      expect(again).toMatchObject({
        delivered: false,
        error: expect.stringContaining("a mail with a link is on its way"),
      });
      expect((await post("/test", { kind: "email", id, settings })).body.delivered).toBe(false);
      expect((await follow("GET", "/confirm/x")).status).toBe(404);
      // So often an address is asked in a day.
      expect((await post(`/${id}/test`, {})).body.error).toContain("try again tomorrow");
      await new Promise<void>((resolve) => mailServer.close(() => resolve()));
    });

    it("counts no mail that was not sent: a mail server is tried until it works", async () => {
      const settings = { to: ["typo@test-site.org"], smtp_url: "smtp://10.0.0.7:587", from: "sonde@test-site.org" };
      const { id } = (await post("", { kind: "email", name: "Typo", settings })).body;
      for (let tries = 0; tries < 5; tries += 1)
        expect((await post(`/${id}/test`, {})).body.error).toMatch(/SONDE_ALLOW_NETS=10\.0\.0\.7:587 opens it$/);
    });

    it("says which line opens an address that the guard refuses", async () => {
      const settings = { url: "http://10.0.0.7:9000/hook", secret: `whsec_${Buffer.alloc(32).toString("base64")}` };
      const { body } = await post("/test", { kind: "webhook", settings });
      expect(body).toMatchObject({ delivered: false, status_code: null });
      expect(body.error).toMatch(/SONDE_ALLOW_NETS=10\.0\.0\.7:9000 opens it$/);
    });
  });
}
