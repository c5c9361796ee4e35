import fc from "fast-check";
import { expect, it } from "vitest";
import { addressesOf, confirmingBy, isWithin, nextPlace } from "./mail-confirmation.ts";

const PLAIN = { open: (_where: string, sealed: string) => sealed };

it("a token is one of ours or none, whatever it says, and is good for its list and place alone", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\d{1,3}\.\d\.[\w-]{22}\.\d{1,5}$/)), (text) => {
      const read = confirmingBy(PLAIN, text, 500);
      if (read === undefined) return;
      expect(Number.isSafeInteger(read.channelId)).toBe(true);
      expect(nextPlace(read, ["a@test-site.org"])).toBeUndefined();
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
  expect(isWithin(lists, { to: ["c@d.org"] })).toBe(true);
  expect(isWithin({ to: ["c@d.org"] }, lists)).toBe(false);
});
