import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withoutBrackets } from "../../../model/url.ts";
import { must } from "../../../testkit/must.ts";
import { assertProperty } from "../../../testkit/property.ts";
import { literalOf } from "../../net/literal.ts";
import { toAsciiName } from "../dns/name.ts";
import { hopTo, parseWebUrl } from "./hop.ts";
import { webUrlFault } from "./web-url.ts";

describe("webUrlFault", () => {
  it.each([
    "http://h.test",
    " https://h.test/a b?c#d\n",
    "HTTPS://user:word@h.test:8443/",
    "http://[2001:db8::1]:8080/",
    "http://münchen.test/",
    "http://my_service/",
    "http://192.0.2.7",
  ])("takes %j", (text) => expect(webUrlFault(text)).toBeUndefined());

  it.each([
    ["", "url must begin with http:// or https://"],
    ["h.test", "url must begin with http:// or https://"],
    ["ftp://h.test/", "url must begin with http:// or https://"],
    ["http:h.test", "url must begin with http:// or https://"],
    ["http:/h.test", "url must begin with http:// or https://"],
    ["http:\\\\h.test", "url must begin with http:// or https://"],
    ["http://", "url has no host"],
    ["http:///path", "url has no host"],
    ["https:////h.test/", "url has no host"],
    ["http://\\h.test/", "url has no host"],
    ["http://?q", "url has no host"],
    ["http://user@/path", "url cannot be read as an address"],
    ["http://:80/", "url cannot be read as an address"],
    ["http://h.test:99999/", "url cannot be read as an address"],
    ["http://[::1", "url cannot be read as an address"],
    ["http://h.test:0/", "the port of url must be from 1 to 65535"],
    ["http://a!b.test/", "the host of url is neither a name nor an address"],
    ["http://a..test/", "the host of url is neither a name nor an address"],
    [`http://${"a".repeat(64)}.test/`, "the host of url is neither a name nor an address"],
  ])("refuses %j: %s", (text, fault) => expect(webUrlFault(text)).toBe(fault));

  it("takes nothing that no dial can use", () => {
    const piece = fc.constantFrom(
      "http",
      "https",
      ":",
      "/",
      "//",
      "\\",
      "@",
      "?",
      "#",
      "[",
      "]",
      "0",
      "a",
      "!",
      ".",
      "..",
      "%",
      " ",
      "\t",
      "::1",
      "é",
    );
    const text = fc.oneof(
      fc.webUrl(),
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("")),
      fc.string(),
    );
    assertProperty(
      fc.property(text, (written) => {
        if (webUrlFault(written) !== undefined) return;
        const url = parseWebUrl(written);
        if (url === undefined) throw new Error("taken, and is no URL");
        const { host, port } = hopTo(url, "gzip");
        must(port > 0, "the port is none");
        must((literalOf(withoutBrackets(host)) ?? toAsciiName(host)) !== undefined, `${host} is no host`);
        // The host is the one that stands behind the two slashes, as a person reads it.
        must(/^https?:\/\/[^/\\?#]/i.test(written.trim()), `${written} is no address`);
      }),
      { numRuns: 20_000 },
    );
  });
});
