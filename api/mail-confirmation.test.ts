import fc from "fast-check";
import { expect, it } from "vitest";
import { addressesOf, confirmingBy, digestOf, nextPlace, staysConfirmed } from "./mail-confirmation.ts";

const PLAIN = { open: (_where: string, sealed: string) => sealed };

it("a token is one of ours or none, whatever it says, and is good for its list and place alone", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\d{1,3}\.\d\.[\w-]{22}\.\d{1,5}$/)), (text) => {
      const read = confirmingBy(PLAIN, text, 500);
      if (read === undefined) return;
      expect(Number.isSafeInteger(read.channelId)).toBe(true);
      expect(nextPlace(read, { settings: { to: ["a@test-site.org"] }, secretNames: [] })).toBeUndefined();
    }),
    { numRuns: 200 },
  );
  const refusing = {
    open: () => {
      throw new Error("not sealed by us");
    },
  };
  expect(confirmingBy(refusing, "a", 0)).toBeUndefined();
  expect(confirmingBy(PLAIN, "1.".repeat(500), 0)).toBeUndefined();
});

it("addresses count once, and a shorter list asks no one again", () => {
  const lists = { to: ["a@b.org", "c@d.org"], cc: ["a@b.org"] };
  expect(addressesOf(lists)).toEqual(["a@b.org", "c@d.org"]);
  expect(addressesOf({ to: "a@b.org", topic: 5 })).toEqual([]);
  const all = { settings: lists, secretNames: [] };
  const one = { settings: { to: ["c@d.org"] }, secretNames: [] };
  expect([staysConfirmed(all, one), staysConfirmed(one, all)]).toEqual([true, false]);
});

it("what was confirmed by a mail server of one's own is asked again by the service's", () => {
  const service = { settings: { to: ["a@b.org"] }, secretNames: [] };
  const other = { ...service, secretNames: ["smtp_url"] };
  expect([staysConfirmed(other, service), staysConfirmed(service, other)]).toEqual([false, true]);
  expect(nextPlace({ channelId: 1, place: 0, digest: digestOf(other) }, other)).toBeNull();
  expect(nextPlace({ channelId: 1, place: 0, digest: digestOf(other) }, service)).toBeUndefined();
});
