import fc from "fast-check";
import { expect, it } from "vitest";
import { base64Text, decoded, parametersOf, splitAddress } from "./link.ts";

it("finds what was put into a link, whatever marks are in it", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "#", "?", "@", "/", ":", " ", "é", "%", "&", "="),
    maxLength: 12,
  });
  fc.assert(
    fc.property(text, text, text, (user, value, name) => {
      const link = `${encodeURIComponent(user)}@h.test-site.org:5?k=${encodeURIComponent(value)}#${encodeURIComponent(name)}`;
      const read = splitAddress(link);
      expect([read.user, read.host, read.port]).toEqual([user, "h.test-site.org", "5"]);
      expect(read.name).toBe(name.trim() === "" ? null : name.trim());
      if (!/%[0-9a-f]{2}/i.test(value)) expect(read.parameters.get("k")).toBe(value);
    }),
    { numRuns: 10_000 },
  );
});

it("decodes what can be decoded", () => {
  expect(decoded("a%20b%zz%C3%A9 %ff")).toBe("a b%zzé %ff");
  expect([...parametersOf("A-b=1;a_b=2")]).toEqual([["ab", "2"]]);
  expect(base64Text("YQ%3D%3D")).toBe("a");
  expect(base64Text("a b!")).toBeUndefined();
});
