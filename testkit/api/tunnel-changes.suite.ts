/** How tunnel monitors are changed, and that their secrets never come back. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SYSTEM_ACTOR } from "../../model/actor.ts";
import { base64, GOOD, KEY, login, tunnelCalls, UUID } from "./tunnel-bodies.suite.ts";
import { openWorld, type World } from "./world.suite.ts";

export function tunnelChangesSuite(server: "net" | "node"): void {
  describe("changes of tunnels", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server, { allowNets: ["192.168.7.0/24"] });
    });
    afterAll(() => world.close());
    const { create, change, made, numberOf, settings } = tunnelCalls(() => world);

    it("lays sent fields over the stored ones, and validates the whole again", async () => {
      const { id } = await made({ protocol: "openconnect", host: "one.test-site.org", ...login, group: "staff" });
      expect((await change(id, { password: "new-secret" })).status).toBe(200);
      expect(await settings(id)).toEqual({
        host: "one.test-site.org",
        username: "secret-user",
        password: "new-secret",
        group: "staff",
      });
      await change(id, { host: "two.test-site.org", port: 8_443, group: null });
      expect(await settings(id)).toEqual({
        host: "two.test-site.org",
        username: "secret-user",
        password: "new-secret",
        port: 8_443,
      });
      expect((await world.send("GET", "/api/v1/servers/search?q=two.test-site.org")).body.total).toBe(1);
      expect((await change(id, { username: "" })).body).toMatchObject({
        code: 422,
        message: "Invalid VPN configuration: missing username",
      });
      expect((await change(id, { host: "10.0.0.1" })).status).toBe(422);
      expect(await settings(id)).toMatchObject({ host: "two.test-site.org", username: "secret-user" });
      const history = (await world.send("GET", `/api/v1/servers/${id}/history`)).body.entries;
      expect(history.map((entry: { message: string }) => entry.message)).toEqual([
        "Updated host, port, group",
        "Updated password",
        "Monitor created",
      ]);
      // The same again is no change.
      const before = (await world.controlPlane.monitors.recall(numberOf(id)))?.monitor;
      expect((await change(id, { password: "new-secret", name: "T" })).status).toBe(200);
      expect((await world.controlPlane.monitors.recall(numberOf(id)))?.monitor).toEqual(before);
    });

    it("loses no field that callers change at once", async () => {
      const { id } = await made({ protocol: "openconnect", host: "one.test-site.org", ...login });
      const changes = [
        { host: "two.test-site.org" },
        { port: 8_443 },
        { username: "other" },
        { password: "changed" },
        { group: "staff" },
        { ip: "9.9.9.9" },
        { name: "At once" },
      ];
      const answers = await Promise.all(changes.map((body) => change(id, body)));
      expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200));
      const { name, ...fields } = Object.assign({}, ...changes);
      expect(await settings(id)).toEqual(fields);
      expect((await world.send("GET", `/api/v1/servers/${id}`)).body.name).toBe(name);
    });

    it("replaces the configuration with another protocol's", async () => {
      const { id } = await made(GOOD.openconnect ?? {});
      expect((await change(id, { protocol: "ikev2" })).body).toMatchObject({
        code: 422,
        message: "Invalid VPN configuration: missing host",
      });
      expect((await change(id, { protocol: "nope" })).body).toMatchObject({ code: 422 });
      expect((await change(id, { protocol: "trojan", url: GOOD.vless?.url })).body).toMatchObject({ code: 422 });
      expect((await change(id, { protocol: "openconnect", type: "vpn" })).body).toMatchObject({
        protocol: "openconnect",
      });
      const changed = (await change(id, { protocol: "ikev2", host: "new.test-site.org", psk: "secret-psk" })).body;
      expect(changed).toMatchObject({ id, type: "vpn", protocol: "ikev2" });
      expect(await settings(id)).toEqual({ host: "new.test-site.org", psk: "secret-psk" });
      expect((await change(id, { url: GOOD.trojan?.url })).body).toMatchObject({ protocol: "trojan" });
      expect(await settings(id)).toEqual({ url: GOOD.trojan?.url });
      expect((await change(id, { type: "http" })).body).toMatchObject({
        code: 400,
        message: expect.stringContaining("new check"),
      });
      const history = (await world.send("GET", `/api/v1/servers/${id}/history`)).body.entries;
      expect(history[0].message).toBe("Updated protocol, url, host, psk");
    });

    it("changes what every monitor has, with its bounds", async () => {
      const { id } = await made(GOOD.vless ?? {});
      expect(
        (await change(id, { interval: 60, timeout: 20, maxretries: 3, tags: ["A"], name: "Named", keyword: "ignored" }))
          .body,
      ).toMatchObject({
        interval: 60,
        tags: ["a"],
        name: "Named",
      });
      const says = async (body: unknown) => (await change(id, body)).body;
      expect(await says({ interval: 29 })).toMatchObject({ code: 403 });
      expect(await says({ interval: 86_401 })).toMatchObject({
        code: 400,
        message: "interval must be a whole number from 1 to 86400.",
      });
      expect(await says({ timeout: 5 })).toMatchObject({ code: 400 });
      expect(await says({ maxretries: 11 })).toMatchObject({ code: 400 });
      expect(await says({ active: "no" })).toMatchObject({ code: 400 });
      expect(await says({ active: false })).toMatchObject({ status: "paused", active: false });
      expect(await says({ active: true })).toMatchObject({ status: "unknown", active: true });
    });

    it("never tells a secret again", async () => {
      for (const body of Object.values(GOOD)) await made({ name: "Quiet", ...body });
      const texts = [
        (await world.send("GET", "/api/v1/servers?limit=1000")).text,
        (await world.send("GET", "/api/v1/servers/search?q=test-site.org&limit=1000")).text,
        world.log.join("\n"),
      ];
      for (const { id } of JSON.parse(texts[0] ?? "").servers) {
        texts.push((await world.send("GET", `/api/v1/servers/${id}/history`)).text);
      }
      for (const secret of ["secret-", UUID, KEY, base64("aes-256-gcm")]) {
        for (const text of texts) expect(text.includes(secret)).toBe(false);
        expect((await world.send("GET", `/api/v1/servers/search?q=${encodeURIComponent(secret)}`)).body.total).toBe(0);
      }
      const refused = await create({ name: "T", url: "vless://secret-secret-secret-secret-secret@a.test-site.org:1" });
      expect([refused.status, refused.text.includes("secret-")]).toEqual([422, false]);
    });

    it("refuses to resume as uptime checks do", async () => {
      const { id } = await made(GOOD.tuic ?? {});
      const pause = (reason: "subscription" | "provider") =>
        world.controlPlane.monitors.update(world.projectId, numberOf(id), 1, SYSTEM_ACTOR, () => ({
          addPauseReason: reason,
        }));
      await pause("provider");
      expect((await change(id, { active: true })).body).toMatchObject({
        code: 409,
        message: "The provider no longer lists this server.",
      });
      await pause("subscription");
      expect((await change(id, { active: true })).body).toMatchObject({ code: 409 });
      expect((await change(id, { active: false })).body).toMatchObject({ status: "paused" });
    });
  });
}
