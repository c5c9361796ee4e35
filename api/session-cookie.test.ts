import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isFromPage } from "./csrf.ts";
import { deviceOf } from "./device.ts";
import { clearCookie, cookieRules, readCookie, setCookie } from "./session-cookie.ts";

const VALUE = `12.${"a".repeat(43)}`;

describe("the cookie of a session", () => {
  it.each([
    [null, "sonde", "; Path=/; HttpOnly; SameSite=Strict"],
    ["http://sonde.test-site.org", "sonde", "; Path=/; HttpOnly; SameSite=Strict"],
    ["https://sonde.test-site.org", "__Host-sonde", "; Path=/; Secure; HttpOnly; SameSite=Strict"],
    ["https://test-site.org/x/sonde", "sonde", "; Path=/x/sonde; Secure; HttpOnly; SameSite=Strict"],
  ])("of %s is called %s", (baseUrl, name, attributes) => {
    const rules = cookieRules(baseUrl);
    expect(rules).toEqual({ name, attributes });
    expect(setCookie(rules, VALUE, 60)).toBe(`${name}=${VALUE}${attributes}; Max-Age=60`);
    expect(clearCookie(rules)).toBe(`${name}=${attributes}; Max-Age=0`);
  });

  it("is found among others, and nothing else is taken for it", () => {
    const rules = cookieRules(null);
    expect(readCookie(rules, `a=b;sonde=${VALUE} ; c`)).toEqual({ id: 12, secret: "a".repeat(43) });
    for (const other of [
      "",
      "sonde",
      "sonde=",
      `Sonde=${VALUE}`,
      `xsonde=${VALUE}`,
      `sonde=${VALUE}x`,
      `sonde=0${VALUE}`,
    ])
      expect(readCookie(rules, other)).toBeNull();
    expect(readCookie(rules, `sonde=${VALUE}; sonde=${VALUE}`)).toBeNull();
    fc.assert(fc.property(fc.string(), (text) => readCookie(rules, text) === null || text.includes("sonde=")));
  });
});

describe("whether the page asks", () => {
  const signs = { page: "1", secFetchSite: "", origin: "", host: "sonde.test-site.org" };

  it.each([
    ["https://sonde.test-site.org", "sonde.test-site.org:443"],
    ["http://sonde.test-site.org", "sonde.test-site.org:80"],
    ["https://Sonde.test-site.org", "SONDE.test-site.org"],
    ["http://[::1]:8080", "[::1]:8080"],
  ])("takes %s for %s", (origin, host) => expect(isFromPage({ ...signs, origin, host }, null)).toBe(true));

  it.each([
    "null",
    "https://sonde.test-site.org.evil.org",
    "https://evil.org",
    "https://evil.org@sonde.test-site.org",
    "https://sonde.test-site.org:8443",
    "https://sonde.test-site.org/",
    "ftp://sonde.test-site.org",
    "https://sonde.test-site.org, https://sonde.test-site.org",
    "sonde.test-site.org",
  ])("refuses %s", (origin) => expect(isFromPage({ ...signs, origin }, null)).toBe(false));

  it("takes the address that others know, whatever the proxy calls us", () => {
    const behind = { ...signs, origin: "https://sonde.test-site.org", host: "10.0.0.7:8080" };
    expect(isFromPage(behind, "https://sonde.test-site.org/x")).toBe(true);
    expect(isFromPage(behind, "http://sonde.test-site.org")).toBe(false);
    expect(isFromPage(behind, null)).toBe(false);
  });

  it("refuses anything but the one word in the header", () => {
    for (const page of ["", "0", "true", "1, 1"]) expect(isFromPage({ ...signs, page }, null)).toBe(false);
  });
});

describe("a browser in words", () => {
  it.each([
    ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0",
      "Edge on Windows",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Safari/604.1",
      "Safari on iOS",
    ],
    ["Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36", "Chrome on Android"],
    ["", "A browser"],
    ["\u0000<script>", "A browser"],
  ])("is what %j says", (userAgent, words) => expect(deviceOf(userAgent)).toBe(words));
});
