import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hiddenField, hideSecrets, restoreSecrets, secretsOf } from "./hidden-settings.ts";

const FIELDS = ["token", "headers"];

describe("settings with secrets", () => {
  it("show that there are secrets, the names of headers, and nothing else of them", () => {
    const settings = { url: "u", token: "t0ken", headers: { "X-A": "s3cret" } };
    expect(hideSecrets(settings, FIELDS)).toEqual({ url: "u", token: "***", headers: { "X-A": "***" } });
    expect(secretsOf(settings, FIELDS)).toEqual({ token: "t0ken", headers: { "X-A": "s3cret" } });
    expect(hideSecrets({ url: "u", token: null }, FIELDS)).toEqual({ url: "u", token: null });
  });

  it("are whole again where *** stands for what is kept, whatever the case of a header's name", () => {
    const kept = { token: "t0ken", headers: { "X-A": "s3cret", b: "2" } };
    const sent = { token: "***", headers: { "x-a": "***", c: "3" } };
    expect(restoreSecrets(sent, FIELDS, kept)).toEqual({ token: "t0ken", headers: { "x-a": "s3cret", c: "3" } });
  });

  it("stay hidden where nothing is kept, or something of another form", () => {
    for (const kept of [{}, { token: { a: "b" } }, { headers: "x" }]) {
      const restored = restoreSecrets({ token: "***", headers: { a: "***" } }, FIELDS, kept);
      expect(hiddenField(restored, FIELDS)).toBe("token");
      expect(hiddenField({ ...restored, token: null }, FIELDS)).toBe("headers");
    }
    expect(hiddenField({ url: "***" }, FIELDS)).toBeUndefined();
  });

  it("come back whole from what is shown and what is kept, and what is shown holds none of them", () => {
    const secret = fc.string({ minLength: 4 }).filter((text) => text !== "***");
    const settings = fc.record(
      {
        url: fc.string(),
        token: fc.option(secret),
        headers: fc.option(fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), secret, { minKeys: 1 })),
      },
      { requiredKeys: ["url"] },
    );
    fc.assert(
      fc.property(settings, (whole) => {
        const shown = hideSecrets(whole, FIELDS);
        expect(restoreSecrets(shown, FIELDS, secretsOf(whole, FIELDS))).toEqual(whole);
        const values = Object.values((shown.headers ?? {}) as object);
        expect([shown.token ?? "***", ...values].every((one) => one === "***")).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
