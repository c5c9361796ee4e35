/** What one-off checks must do, whatever carries them. Each test gets an empty place. */
import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MessageSealing } from "../sealed-text.ts";
import type { CheckClass, CheckReply, CheckServer, Checks, OneOffCheck } from "./checks.ts";
import { openCheckServer, openChecks } from "./open.ts";
import type { StateLocationMaker } from "./state.suite.ts";

/** Says by its text that it is sealed, for what, and unchanged. */
export const PLAIN_SEALING: MessageSealing = {
  seal: (purpose, text) => `${tagOf(purpose)}.${Buffer.from(text).toString("base64url")}`,
  open(purpose, sealed) {
    const [tag, body = ""] = sealed.split(".");
    if (tag !== tagOf(purpose)) throw new Error("sealed for something else");
    return Buffer.from(body, "base64url").toString();
  },
};

function tagOf(purpose: string): string {
  return createHash("sha256").update(purpose).digest("hex").slice(0, 16);
}

export const CHECK: OneOffCheck = {
  kind: "wireguard",
  settings: { config: "PrivateKey = no-reader-may-see-this" },
  host: "vpn.test-site.org",
  identity: null,
  timeoutMs: 5_000,
  organizationId: 1,
};

export function measured(latencyMs: number): CheckReply {
  return {
    type: "measured",
    result: { verdict: "ok", startedAtMs: 1, latencyMs, connectMs: 2, peerAnswered: true, message: null },
  };
}

/** A checker that notes what it was given, and answers when it is told to. */
interface Bench {
  readonly server: CheckServer;
  readonly given: { readonly check: OneOffCheck; readonly checkClass: CheckClass; answer(reply: CheckReply): void }[];
}

export function checkSuite(name: string, places: Pick<StateLocationMaker, "make">): void {
  describe(`one-off checks on ${name}`, () => {
    let place: Awaited<ReturnType<StateLocationMaker["make"]>>;
    let asker: Checks;
    const closing: { close(): Promise<void> }[] = [];

    beforeEach(async () => {
      place = await places.make();
      asker = await openChecks(place.place, () => PLAIN_SEALING);
      closing.push(asker);
    });
    afterEach(async () => {
      for (const one of closing.splice(0).reverse()) await one.close();
      await place.remove();
    });

    async function bench(
      room: Readonly<Record<CheckClass, number>> = { api: 10, public: 2 },
      location = "any",
    ): Promise<Bench> {
      const given: Bench["given"] = [];
      const server = await openCheckServer(place.place, PLAIN_SEALING, {
        location,
        room,
        take: (check, checkClass) => new Promise((answer) => given.push({ check, checkClass, answer })),
      });
      closing.push(server);
      return { server, given };
    }

    it("takes a check to a checker and the answer back", async () => {
      const { given } = await bench();
      const answer = asker.ask("api", "any", CHECK);
      await expect.poll(() => given.length, { timeout: 5_000 }).toBe(1);
      expect(given[0]).toMatchObject({ check: CHECK, checkClass: "api" });
      given[0]?.answer(measured(41));
      expect(await answer).toEqual(measured(41));
    });

    it("answers each to the process that asked, in any order", async () => {
      const { given } = await bench();
      const other = await openChecks(place.place, () => PLAIN_SEALING);
      closing.push(other);
      const hosts = Array.from({ length: 8 }, (_, index) => `h${index}.test`);
      const asked = hosts.map((host, index) =>
        (index % 2 === 0 ? asker : other).ask("api", "any", { ...CHECK, host, timeoutMs: 10_000 }),
      );
      await expect.poll(() => given.length, { timeout: 5_000 }).toBe(8);
      for (const one of [...given].reverse()) one.answer(measured(Number(one.check.host.slice(1, -5))));
      expect(await Promise.all(asked)).toEqual(hosts.map((_, index) => measured(index)));
    });

    it("gives each to one of several checkers", async () => {
      const benches = await Promise.all([bench(), bench(), bench()]);
      const asked = Array.from({ length: 20 }, () => asker.ask("api", "any", CHECK));
      const all = () => benches.flatMap(({ given }) => given);
      await expect.poll(() => all().length, { timeout: 5_000 }).toBe(20);
      for (const one of all()) one.answer(measured(1));
      expect((await Promise.all(asked)).every((answer) => answer.type === "measured")).toBe(true);
      expect(all()).toHaveLength(20);
    });

    it("has no more at a checker than there is room, class by class", async () => {
      const { given } = await bench({ api: 1, public: 1 });
      const asked = (["public", "public", "api"] as const).map((checkClass) => asker.ask(checkClass, "any", CHECK));
      await expect
        .poll(() => given.map(({ checkClass }) => checkClass).sort(), { timeout: 5_000 })
        .toEqual(["api", "public"]);
      await wait(50);
      expect(given).toHaveLength(2);
      for (const one of given) one.answer(measured(1));
      await expect.poll(() => given.length, { timeout: 5_000 }).toBe(3);
      given[2]?.answer(measured(2));
      expect((await Promise.all(asked)).map((answer) => answer.type)).toEqual(["measured", "measured", "measured"]);
    });

    it("keeps locations apart, and says so when a location has no checker; none runs it later", async () => {
      const elsewhere = await bench(undefined, "de");
      expect(await asker.ask("api", "any", CHECK)).toEqual({ type: "untaken" });
      expect(elsewhere.given).toEqual([]);
      const { given } = await bench();
      const answer = asker.ask("api", "any", { ...CHECK, host: "second.test" });
      await expect.poll(() => given.length, { timeout: 5_000 }).toBe(1);
      expect(given[0]?.check.host).toBe("second.test");
      given[0]?.answer(measured(1));
      await answer;
    }, 15_000);

    it("says busy for what runs when its checker stops", async () => {
      const { given, server } = await bench();
      const answer = asker.ask("api", "any", CHECK);
      await expect.poll(() => given.length, { timeout: 5_000 }).toBe(1);
      await server.close();
      expect(await answer).toEqual({ type: "busy" });
      given[0]?.answer(measured(1));
    });

    it("says busy for a checker that fails, and lost for callers that wait when we close", async () => {
      const failing = await openCheckServer(place.place, PLAIN_SEALING, {
        location: "any",
        room: { api: 1, public: 1 },
        take: () => Promise.reject(new Error("no")),
      });
      expect(await asker.ask("api", "any", CHECK)).toEqual({ type: "busy" });
      await failing.close();
      const { given } = await bench();
      const answer = asker.ask("api", "any", CHECK);
      await expect.poll(() => given.length, { timeout: 5_000 }).toBe(1);
      await asker.close();
      expect(await answer).toEqual({ type: "lost" });
    });
  });
}
