import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must } from "../../../testkit/must.ts";
import { assertProperty } from "../../../testkit/property.ts";
import { hopTo, parseWebUrl, redirectedHop } from "./hop.ts";
import { compileStatusCodes, isAmong, isStatusCodeItem } from "./status-codes.ts";

function hop(text: string) {
  const url = parseWebUrl(text);
  if (url === undefined) throw new Error(`not a URL: ${text}`);
  return hopTo(url, "gzip");
}

describe("hopTo", () => {
  it("writes the whole request", () => {
    expect(hop("http://Example.test/a?b=c#d").request.toString("latin1")).toBe(
      "GET /a?b=c HTTP/1.1\r\nHost: example.test\r\nUser-Agent: Mozilla/5.0 (compatible; Sonde/0.1; uptime check)\r\nAccept: */*\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n",
    );
  });

  it.each([
    ["http://h.test", "h.test", 80, "h.test", "/"],
    ["https://h.test:8443/", "h.test", 8443, "h.test", "/"],
    ["https://h.test:443/", "h.test", 443, "h.test", "/"],
    ["https://h.test./", "h.test.", 443, "h.test", "/"],
    ["https://192.0.2.1/x", "192.0.2.1", 443, "", "/x"],
    ["https://[2001:db8::1]:9/x", "2001:db8::1", 9, "", "/x"],
    ["https://bücher.test/ü", "xn--bcher-kva.test", 443, "xn--bcher-kva.test", "/%C3%BC"],
    ["http://h.test?q", "h.test", 80, "h.test", "/?q"],
    ["http://h.test/?", "h.test", 80, "h.test", "/?"],
    ["http://h.test//a//b%2Fc%2e?x=%20+&y", "h.test", 80, "h.test", "//a//b%2Fc%2e?x=%20+&y"],
    ["http://h.test/a b?c d#e", "h.test", 80, "h.test", "/a%20b?c%20d"],
    ["http://h.test/#/?x", "h.test", 80, "h.test", "/"],
    ["http://u:p@h.test/?a@b", "h.test", 80, "h.test", "/?a@b"],
  ])("%s", (text, host, port, servername, target) => {
    expect(hop(text)).toMatchObject({ host, port, servername, target });
  });

  it("sends userinfo as Basic authentication and never shows it", () => {
    const secret = hop("http://us%C3%A9r:p%40ss%zz@h.test/x?token=y");
    expect(secret.headers.authorization).toBe(`Basic ${Buffer.from("usér:p%40ss%zz").toString("base64")}`);
    expect(secret.shown).toBe("http://h.test/x");
    expect(secret.headers.host).toBe("h.test");
  });

  it("cannot be made to inject a header", () => {
    const injected = hop("http://h.test/a\r\nX-Evil: 1\r\n?b\nc").request.toString("latin1");
    expect(injected.split("\r\n")).toHaveLength(8);
    expect(injected).toMatch(/^GET \/aX-Evil:%201\?bc HTTP\/1\.1\r\n/);
  });
});

describe("parseWebUrl", () => {
  it.each([
    "",
    "h.test",
    "ftp://h.test/",
    "http://",
    "http:///",
    "javascript:alert(1)",
    "http://h.test:99999/",
    "http://[::1",
    "/relative",
  ])("refuses %j", (text) => {
    const url = parseWebUrl(text);
    // `http:///x` is read as host x by the URL standard; without a path nothing is left.
    expect(url).toBeUndefined();
  });
});

describe("redirectedHop", () => {
  const from = hop("https://user:secret@h.test/dir/page?q");
  it.each([
    ["/x", "https://h.test/x", true],
    ["x?y", "https://h.test/dir/x", true],
    ["https://h.test/z#f", "https://h.test/z", true],
    ["http://h.test/z", "http://h.test/z", false],
    ["https://h.test:444/z", "https://h.test:444/z", false],
    ["//other.test/z", "https://other.test/z", false],
    ["https://evil:pw@other.test/z", "https://other.test/z", false],
  ])("%s", (location, shown, authorized) => {
    const next = redirectedHop(from, location, "gzip");
    expect(next?.shown).toBe(shown);
    expect(next?.headers.authorization !== undefined).toBe(authorized);
    expect(next?.url.href).not.toContain("evil");
  });

  it("carries credentials over several hops of one origin", () => {
    const second = redirectedHop(from, "/a", "gzip");
    const third = second === undefined ? undefined : redirectedHop(second, "/b", "gzip");
    expect(third?.headers.authorization).toBe(from.headers.authorization);
  });

  it("reads UTF-8 in a Location", () => {
    expect(redirectedHop(from, Buffer.from("/ü").toString("latin1"), "gzip")?.target).toBe("/%C3%BC");
  });

  it.each(["ftp://h.test/", "mailto:a@b", "data:text/html,x", "http://"])("goes nowhere for %s", (location) => {
    expect(redirectedHop(from, location, "gzip")).toBeUndefined();
  });
});

describe("status codes", () => {
  it.each(["200", "200-299", "100-599", "404-404"])("takes %s", (item) => expect(isStatusCodeItem(item)).toBe(true));
  it.each(["", "99", "600", "200-", "-299", "299-200", "2xx", "200 - 299", "200-600", "0200", "200,201"])(
    "refuses %j",
    (item) => expect(isStatusCodeItem(item)).toBe(false),
  );

  it("compiles to the codes that count", () => {
    const accepted = compileStatusCodes(["200-299", "404"]);
    const codes = Array.from({ length: 1_000 }, (_, code) => code).filter((code) => isAmong(accepted, code));
    expect([codes.length, codes[0], codes[99], codes[100]]).toEqual([101, 200, 299, 404]);
  });
});

describe("whatever a target says", () => {
  const piece = fc.constantFrom(
    ..."http: https: ftp: javascript: // / \\ @ user:pw@ : ? # %0d%0a \r\n \t \0 [::1] 127.1 h.test .. ü 🙂 :99999 :0 %".split(
      " ",
    ),
    " ",
  );
  const text = fc.oneof(
    fc
      .array(fc.oneof(piece, fc.string({ unit: "binary", maxLength: 6 })), { maxLength: 12 })
      .map((parts) => parts.join("")),
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
  );
  // Nothing that a target says may become a line of its own in a request.
  const REQUEST = /^GET \/[\x21-\x7e]* HTTP\/1\.1\r\n([A-Z][A-Za-z-]*: [\x20-\x7e]*\r\n)+Connection: close\r\n\r\n$/;

  it("a URL is refused or becomes one request", () => {
    assertProperty(
      fc.property(text, (value) => {
        const url = parseWebUrl(value);
        if (url === undefined) return;
        const { request, port, host } = hopTo(url, "gzip");
        must(REQUEST.test(request.toString("latin1")), "not one request");
        must(port >= 0 && port <= 65_535, "no port");
        must(host !== "", "no host");
      }),
      { numRuns: 100_000 },
    );
  });

  it("a Location is refused or becomes one request, without credentials for another origin", () => {
    const from = hop("https://user:secret@h.test:8443/a/b?c");
    assertProperty(
      fc.property(text, (location) => {
        const next = redirectedHop(from, location, "gzip");
        if (next === undefined) return;
        const request = next.request.toString("latin1");
        must(REQUEST.test(request), "not one request");
        const isSame = next.url.origin === from.url.origin;
        must(/^Authorization: /m.test(request) === isSame, "credentials for another origin, or none for the same");
        must(!next.shown.includes("secret"), "shows a secret");
      }),
      { numRuns: 100_000 },
    );
  });
});
