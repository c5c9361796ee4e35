import { expect, it } from "vitest";
import { parseUrl, withoutBrackets } from "./url.ts";

it("takes letters beyond ASCII however often it is asked", () => {
  // Enough for the compiler: URL.canParse of Node 20 turns wrong after about 2,000.
  for (let index = 0; index < 20_000; index += 1) {
    const text = Buffer.from(`http://münchen.test-site.org/${index}`).toString();
    if (parseUrl(text)?.host !== "xn--mnchen-3ya.test-site.org") expect([index, parseUrl(text)]).toBe(text);
  }
  expect(parseUrl("nonsense")).toBeUndefined();
  expect(parseUrl("/a", "https://www.test-site.org/b")?.href).toBe("https://www.test-site.org/a");
});

it.each([
  ["[2001:db8::1]", "2001:db8::1"],
  ["2001:db8::1", "2001:db8::1"],
  ["www.test-site.org", "www.test-site.org"],
  ["[", "["],
  ["[]", ""],
  ["[::1", "[::1"],
  ["", ""],
])("strips brackets that enclose a host: %s", (host, plain) => {
  expect(withoutBrackets(host)).toBe(plain);
});
