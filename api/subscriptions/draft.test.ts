import fc from "fast-check";
import { expect, it } from "vitest";
import { normalUrl } from "../../model/subscription.ts";
import { must, mustEqual } from "../../testkit/must.ts";
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
          mustEqual(normalUrl(draft.url.text), draft.url.normal);
          must(draft.url.target.host !== "", "there is no host");
          must(draft.url.target.port <= 65_535, "the port is none");
        }
        mustEqual(typeof (draft.enabled ?? true), "boolean");
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        must([400, 413].includes(error.status), `it answers ${error.status}`);
        must(error.message.length < 120, "the message is long");
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
