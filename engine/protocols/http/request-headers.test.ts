import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mustEqual } from "../../../testkit/must.ts";
import { hopTo, parseWebUrl } from "./hop.ts";
import { headersFault, MOST_HEADER_BYTES, MOST_HEADERS } from "./request-headers.ts";

describe("headersFault", () => {
  it.each([
    {},
    { "X-Api-Key": "abc" },
    { accept: "application/json", "User-Agent": "Mozilla/5.0 (X11; Linux)" },
    { "X-Empty": "" },
    { "X-Tab": "a\tb" },
    { Authorization: "Bearer abc.def" },
  ])("takes %j", (headers) => {
    expect(headersFault(headers)).toBeUndefined();
  });

  it.each([
    "Host",
    "host",
    "Connection",
    "Content-Length",
    "Transfer-Encoding",
    "TE",
    "Trailer",
    "Upgrade",
    "Expect",
    "Keep-Alive",
    "Proxy-Authorization",
    "Accept-Encoding",
  ])("refuses %s, and says why", (name) => {
    expect(headersFault({ [name]: "x" })).toMatch(new RegExp(`^headers: ${name} cannot be set: .+\\.$`));
  });

  it.each([{ "": "x" }, { "a b": "x" }, { "a:b": "x" }, { "a\r\nb": "x" }, { é: "x" }])(
    "refuses names as %j",
    (headers) => {
      expect(headersFault(headers)).toBe("headers: a name is letters, digits and hyphens.");
    },
  );

  it.each(["a\r\nX-Evil: 1", "a\n", "\u0000", "a\u007f", "é", " a", "a "])("refuses the value %j", (value) => {
    expect(headersFault({ "X-A": value })).toContain("must be visible ASCII");
  });

  it("bounds number and size, and refuses a name that is there twice", () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, "v"]));
    expect(headersFault(many(MOST_HEADERS))).toBeUndefined();
    expect(headersFault(many(MOST_HEADERS + 1))).toBe("headers must be at most 32.");
    expect(headersFault({ a: "x".repeat(MOST_HEADER_BYTES - 5) })).toBeUndefined();
    expect(headersFault({ a: "x".repeat(MOST_HEADER_BYTES - 4) })).toBe("headers must be at most 8192 bytes together.");
    expect(headersFault({ "X-A": "1", "x-a": "2" })).toBe("headers: x-a is there twice.");
  });

  it("lets nothing through that would break the request", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom("a", "-", ":", " ", "\r", "\n", "\t") }),
      fc.constantFrom("host", "Connection", "X-A", "content-type"),
    );
    const url = parseWebUrl("http://h.test/") as URL;
    fc.assert(
      fc.property(fc.dictionary(text, text, { maxKeys: 4 }), (headers) => {
        if (headersFault(headers) !== undefined) return;
        const { request } = hopTo(url, "gzip", null, { method: "POST", headers, body: Buffer.from("x") });
        const [head = "", body] = request.toString("latin1").split("\r\n\r\n");
        const lines = head.split("\r\n");
        mustEqual(body, "x");
        expect(lines.filter((line) => /^host:/i.test(line))).toEqual(["Host: h.test"]);
        expect(lines.filter((line) => /^content-length:/i.test(line))).toEqual(["Content-Length: 1"]);
        for (const line of lines.slice(1)) expect(line).toMatch(/^[^\s:]+: [\t\x20-\x7e]*$/);
        for (const [name, value] of Object.entries(headers)) {
          expect(lines.map((line) => line.toLowerCase())).toContain(`${name}: ${value}`.toLowerCase());
        }
      }),
      { numRuns: 3_000 },
    );
  });
});
