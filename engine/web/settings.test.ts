import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mustEqual } from "../../testkit/must.ts";
import { property } from "../../testkit/property.ts";
import { http } from "../probes/http.ts";
import { keyword } from "../probes/keyword.ts";

const url = "https://web.site/";

function refusal(probe: typeof http | typeof keyword, body: unknown): { field: string; message: string } | null {
  const parsed = probe.settings.safeParse(body);
  if (parsed.success) return null;
  const issue = parsed.error.issues[0];
  return { field: String(issue?.path[0] ?? ""), message: issue?.message ?? "" };
}

describe("settings of website checks", () => {
  it("fill in the contract's defaults and leave to the API what depends on the project", () => {
    expect(http.settings.parse({ url })).toEqual({ url, accepted_statuscodes: ["200-299"], ip_version: null });
    expect(keyword.settings.parse({ url, keyword: "x" })).toEqual({
      url,
      accepted_statuscodes: ["200-299"],
      ip_version: null,
      keyword: "x",
      invert_keyword: false,
    });
  });

  it("read 0 as off", () => {
    expect(http.settings.parse({ url, ssl_expiration: 0, domain_expiration: 0 })).toMatchObject({
      ssl_expiration: null,
      domain_expiration: null,
    });
  });

  it("take as many status codes as there are, because lists of monitors repeat them", () => {
    const codes = Array.from({ length: 501 }, (_, at) => String(100 + (at % 500)));
    expect(refusal(http, { url, accepted_statuscodes: codes.slice(1) })).toBeNull();
    expect(refusal(http, { url, accepted_statuscodes: codes })).toEqual({
      field: "accepted_statuscodes",
      message: "accepted_statuscodes must have at most 500 codes and ranges.",
    });
  });

  it.each([undefined, null, 5, "", "web.site", "ftp://web.site/", "http://", "http://web.site:99999/", {}])(
    "refuse url %j",
    (settings) => {
      expect(refusal(http, { url: settings })).toEqual({ field: "url", message: "Missing or invalid url" });
    },
  );

  it.each([null, [], "200", [200], ["200", "600"], ["299-200"], ["2xx"], [""]])(
    "refuse accepted_statuscodes %j",
    (settings) => {
      const answer = refusal(http, { url, accepted_statuscodes: settings });
      expect(answer?.field).toBe("accepted_statuscodes");
      expect(answer?.message).toMatch(/^accepted_statuscodes must be a list of codes or ranges from 100 to 599/);
    },
  );

  it.each(["both", "4", 4, true])("refuse ip_version %j", (settings) => {
    expect(refusal(http, { url, ip_version: settings })).toEqual({
      field: "ip_version",
      message: "ip_version must be ipv4, ipv6 or null.",
    });
  });

  it.each(["ssl_expiration", "domain_expiration"])("refuse days that are not offered in %s", (field) => {
    for (const days of [4, -1, 1.5, "7", true]) {
      expect(refusal(http, { url, [field]: days })).toEqual({
        field,
        message: `${field} must be one of 0, 1, 2, 3, 7, 14, 30, 60 or null.`,
      });
    }
    for (const days of [0, 1, 2, 3, 7, 14, 30, 60, null]) expect(refusal(http, { url, [field]: days })).toBeNull();
  });

  it("refuse expiry alerts that the address cannot have", () => {
    expect(refusal(http, { url: "http://web.site/", ssl_expiration: 14 })).toEqual({
      field: "ssl_expiration",
      message: "ssl_expiration needs an https URL.",
    });
    expect(refusal(http, { url: "http://web.site/", ssl_expiration: 0 })).toBeNull();
    for (const host of ["192.0.2.1", "[2001:db8::1]", "0x7f.1"]) {
      expect(refusal(http, { url: `https://${host}/`, domain_expiration: 7 })).toEqual({
        field: "domain_expiration",
        message: "domain_expiration needs a domain name.",
      });
    }
  });

  it("refuse keywords that are none or too long", () => {
    for (const given of [undefined, null, "", 5]) {
      expect(refusal(keyword, { url, keyword: given })).toEqual({
        field: "keyword",
        message: "Missing or invalid keyword",
      });
    }
    expect(refusal(keyword, { url, keyword: "好".repeat(255) })).toBeNull();
    expect(refusal(keyword, { url, keyword: "😀".repeat(255) })).toBeNull();
    expect(refusal(keyword, { url, keyword: "x".repeat(256) })).toEqual({
      field: "keyword",
      message: "keyword must be at most 255 characters.",
    });
    expect(refusal(keyword, { url, keyword: "x", invert_keyword: "yes" })).toEqual({
      field: "invert_keyword",
      message: "invert_keyword must be true or false.",
    });
  });

  const body = fc.record(
    {
      url: fc.oneof(fc.webUrl({ validSchemes: ["http", "https"], withQueryParameters: true }), fc.anything()),
      accepted_statuscodes: fc.oneof(fc.array(fc.constantFrom("200", "100-599", "404-404", "x", 5)), fc.anything()),
      ip_version: fc.constantFrom("ipv4", "ipv6", null, "x"),
      ssl_expiration: fc.constantFrom(0, 1, 14, null, 5),
      domain_expiration: fc.constantFrom(0, 1, 14, null, 5),
      keyword: fc.oneof(fc.string(), fc.anything()),
      invert_keyword: fc.oneof(fc.boolean(), fc.anything()),
    },
    { requiredKeys: [] },
  );
  property([fc.oneof(body, fc.anything())], { numRuns: 100_000 })(
    "never throw, and parse twice to the same",
    (settings) => {
      for (const probe of [http, keyword]) {
        const once = probe.settings.safeParse(settings);
        if (once.success) mustEqual(JSON.stringify(probe.settings.parse(once.data)), JSON.stringify(once.data));
      }
    },
  );
});
