import fc from "fast-check";
import { expect, it } from "vitest";
import { normalUrl } from "../../model/subscription.ts";
import { assertProperty } from "../../testkit/property.ts";
import { ApiError } from "../errors.ts";
import { readDraft } from "./draft.ts";

const FIELDS = [
  "url",
  "name",
  "syncIntervalSec",
  "timeoutSeconds",
  "maxWorkers",
  "enabled",
  "__proto__",
  "constructor",
  "unknown",
];
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.constantFrom<unknown>(
    "",
    "http://",
    "https://[::1]:0/",
    "http://a b/",
    "http://é.test-site.org/",
    "x".repeat(9_000),
    "\u0000",
    -0,
    60.5,
    1e308,
    "false",
    false,
  ),
);

it("a body of any kind is a draft or a refusal that is the caller's fault", () => {
  assertProperty(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...FIELDS), value), { maxLength: 6 }), (fields) => {
      try {
        const draft = readDraft(Object.fromEntries(fields));
        if (draft.url !== undefined) {
          expect(normalUrl(draft.url.text)).toBe(draft.url.normal);
          expect(draft.url.target.host).not.toBe("");
          expect(draft.url.target.port).toBeLessThanOrEqual(65_535);
        }
        expect(typeof (draft.enabled ?? true)).toBe("boolean");
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
        expect([400, 413]).toContain((error as ApiError).status);
        expect((error as ApiError).message.length).toBeLessThan(120);
      }
    }),
    { numRuns: 20_000 },
  );
});

it("only the JSON value false switches off", () => {
  for (const enabled of ["false", 0, "", true, {}]) expect(readDraft({ enabled })).toEqual({ enabled: true });
  expect(readDraft({ enabled: false })).toEqual({ enabled: false });
  expect(readDraft({ enabled: null })).toEqual({});
});
