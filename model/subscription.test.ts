import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mustEqual } from "../testkit/must.ts";
import { assertProperty } from "../testkit/property.ts";
import { defaultSyncIntervalS, normalUrl } from "./subscription.ts";

describe("normalUrl", () => {
  it.each([
    ["HTTPS://User:Pw@Host.test:443/A/?b#c", "https://User:Pw@host.test/A/?b"],
    ["http://h:80", "http://h/"],
    ["http://h:8080?x", "http://h:8080/?x"],
    ["https://[2001:DB8::1]:443/x", "https://[2001:db8::1]/x"],
    [" https://h/%7e/../a ", "https://h/%7e/../a"],
    ["http://h:443/", "http://h:443/"],
    ["http://h/a #b", "http://h/a"],
  ])("%s", (text, normal) => {
    expect(normalUrl(text)).toBe(normal);
  });

  it.each(["", "h", "ftp://h/", "https://", "https:///x", "http://:80/", "http:/h"])("is undefined for %j", (text) => {
    expect(normalUrl(text)).toBeUndefined();
  });

  it("is the same of what it made", () => {
    const text = fc.oneof(
      fc.webUrl({ withFragments: true, withQueryParameters: true }),
      fc.string().map((rest) => `http://${rest}`),
    );
    assertProperty(
      fc.property(text, (url) => {
        const normal = normalUrl(url);
        if (normal !== undefined) mustEqual(normalUrl(normal), normal);
      }),
      { numRuns: 20_000 },
    );
  });
});

it("the default interval is the plan's shortest when that is longer", () => {
  expect(defaultSyncIntervalS({ shortestIntervalS: 30 })).toBe(300);
  expect(defaultSyncIntervalS({ shortestIntervalS: 400 })).toBe(400);
});
