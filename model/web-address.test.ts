import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must, mustEqual } from "../testkit/must.ts";
import { assertProperty } from "../testkit/property.ts";
import {
  displayAddress,
  displayLocation,
  editorAddress,
  receiverAddress,
  restoreAddress,
  withoutFragment,
} from "./web-address.ts";

const MARK = "m4rk";
const word = fc.stringMatching(/^[a-z]{1,8}$/);
const secret = fc.stringMatching(/^[!$&'()*+,;=A-Za-z0-9%_.~ -]{0,12}$/).map((text) => `${MARK}${text}`);
const address = fc.record({
  scheme: fc.constantFrom("http", "https", "HTTPS"),
  user: fc.option(secret, { nil: null }),
  password: fc.option(secret, { nil: null }),
  host: fc.oneof(
    word.map((name) => `${name}.test-site.org`),
    fc.constantFrom("[2001:db8::1]", "192.0.2.7", "münchen.test-site.org"),
  ),
  port: fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: null }),
  path: fc.option(
    fc.array(word, { maxLength: 3 }).map((parts) => `/${parts.join("/")}`),
    { nil: "" },
  ),
  query: fc.option(secret, { nil: null }),
  fragment: fc.option(secret, { nil: null }),
});
type Parts = typeof address extends fc.Arbitrary<infer Of> ? Of : never;

function textOf({ scheme, user, password, host, port, path, query, fragment }: Parts): string {
  const escaped = (text: string): string => encodeURIComponent(text);
  const login =
    password === null ? (user === null ? "" : `${escaped(user)}@`) : `${escaped(user ?? "")}:${escaped(password)}@`;
  const rest = `${query === null ? "" : `?${query.replaceAll(" ", "+")}`}${fragment === null ? "" : `#${fragment}`}`;
  return `${scheme}://${login}${host}${port === null ? "" : `:${port}`}${path}${rest}`;
}
const text = address.map(textOf);

describe("addresses that are shown", () => {
  it("hide login, query and fragment from viewers, and login and fragment from editors", () => {
    assertProperty(
      fc.property(address, (parts) => {
        const whole = textOf(parts);
        must(!displayAddress(whole).includes(MARK), "viewers see a secret");
        must(!receiverAddress(whole).includes(MARK), "a receiver's address has a secret");
        const edited = editorAddress(whole);
        must(edited.split("?")[0]?.includes(MARK) === false, "editors see a login");
        mustEqual(edited.includes(MARK), parts.query !== null);
        must(!edited.includes("#"), "editors see a fragment");
        // Nothing was hidden: as it was written.
        const isPlain = !whole.includes(MARK);
        if (isPlain) mustEqual([displayAddress(whole), edited], [whole, whole]);
      }),
      { numRuns: 20_000 },
    );
  });

  it("are addresses of the same place, and are shown as they are once more", () => {
    assertProperty(
      fc.property(text, (whole) => {
        const shown = displayAddress(whole);
        const [one, other] = [new URL(whole), new URL(shown)];
        mustEqual([other.origin, other.pathname], [one.origin, one.pathname]);
        mustEqual(displayAddress(shown), shown);
        mustEqual(editorAddress(editorAddress(whole)), editorAddress(whole));
        mustEqual(receiverAddress(receiverAddress(whole)), receiverAddress(whole));
        mustEqual(receiverAddress(whole), `${one.protocol}//${one.host}/***`);
      }),
      { numRuns: 20_000 },
    );
  });

  it.each([
    [
      "https://ada:pw@www.test-site.org/a?token=1#x",
      "https://***@www.test-site.org/a?***",
      "https://***@www.test-site.org/a?token=1",
    ],
    ["https://ada@www.test-site.org", "https://***@www.test-site.org/", "https://***@www.test-site.org/"],
    [
      "https://:pw@www.test-site.org:8443/",
      "https://***@www.test-site.org:8443/",
      "https://***@www.test-site.org:8443/",
    ],
    ["https:\\\\ada:pw@www.test-site.org\\a", "https://***@www.test-site.org/a", "https://***@www.test-site.org/a"],
    ["https://www.test-site.org/?", "https://www.test-site.org/?", "https://www.test-site.org/?"],
    ["https://www.test-site.org/a@b", "https://www.test-site.org/a@b", "https://www.test-site.org/a@b"],
    [" https://ada:pw@h.test-site.org/", "https://***@h.test-site.org/", "https://***@h.test-site.org/"],
    ["no address ?pw", "***", "***"],
  ])("%s", (whole, everybody, editors) => {
    expect([displayAddress(whole), editorAddress(whole)]).toEqual([everybody, editors]);
  });

  it("of any text show nothing after where a secret may begin", () => {
    assertProperty(
      fc.property(fc.string({ unit: "binary" }), (any) => {
        // None throws.
        for (const read of [displayAddress, editorAddress, receiverAddress, withoutFragment]) read(any);
        must(!displayLocation(`${any}?${MARK}`).includes(MARK), "a query is shown");
        must(!displayLocation(`${any}#${MARK}`).includes(MARK), "a fragment is shown");
      }),
      { numRuns: 20_000 },
    );
    expect(displayLocation("/login?next=m4rk")).toBe("/login?***");
    expect(displayLocation("ftp://ada:pw@files.test-site.org/a?b")).toBe("ftp://***@files.test-site.org/a?***");
    expect(displayLocation("mailto:ada@test-site.org")).toBe("***@test-site.org");
  });
});

describe("addresses that are sent back", () => {
  const SAME = fc.tuple(address, fc.boolean());

  it("mean the stored one, for editors and for viewers", () => {
    assertProperty(
      fc.property(SAME, ([parts, isEditor]) => {
        const stored = withoutFragment(textOf(parts));
        const sent = isEditor ? editorAddress(stored) : displayAddress(stored);
        const restored = restoreAddress(sent, stored);
        mustEqual("url" in restored ? new URL(restored.url).href : restored, new URL(stored).href);
      }),
      { numRuns: 20_000 },
    );
  });

  it("never take a secret to another origin", () => {
    assertProperty(
      fc.property(text, text, (stored, other) => {
        for (const sent of [displayAddress(other), editorAddress(other)]) {
          const restored = restoreAddress(sent, stored);
          if (new URL(stored).origin === new URL(other).origin || sent === withoutFragment(other)) continue;
          if ("url" in restored) {
            const own = new Set([...new URL(stored).username, new URL(stored).password, new URL(stored).search]);
            mustEqual(restored.url, sent);
            mustEqual(
              [...own].every(
                (part) => part === "" || part.length < 2 || !restored.url.includes(part) || sent.includes(part),
              ),
              true,
            );
          } else must(/^url: \*\*\* stands for/.test(restored.fault), restored.fault);
        }
      }),
      { numRuns: 20_000 },
    );
  });

  const STORED = "https://ada:p%40w@www.test-site.org/a?token=1";
  it.each([
    ["https://***@www.test-site.org/b", "https://ada:p%40w@www.test-site.org/b"],
    ["https://***@www.test-site.org/b?***", "https://ada:p%40w@www.test-site.org/b?token=1"],
    ["https://www.test-site.org/a?***", "https://www.test-site.org/a?token=1"],
    ["https://***@www.test-site.org:443/a?x=2", "https://ada:p%40w@www.test-site.org/a?x=2"],
    ["https://bob:***@other.test-site.org/", "https://bob:***@other.test-site.org/"],
    ["https://other.test-site.org/", "https://other.test-site.org/"],
    ["nonsense", "nonsense"],
  ])("%s is filled in", (sent, url) => {
    expect(restoreAddress(sent, STORED)).toEqual({ url });
  });

  it.each([
    ["https://***@other.test-site.org/", STORED],
    ["http://***@www.test-site.org/a", STORED],
    ["https://***@www.test-site.org:8443/a", STORED],
    ["https://other.test-site.org/?***", STORED],
    ["https://***@www.test-site.org/", null],
    ["https://www.test-site.org/?***", null],
    ["https://***@www.test-site.org/", "https://www.test-site.org/?token=1"],
    ["https://www.test-site.org/?***", "https://ada:pw@www.test-site.org/"],
    // What is stored does not open, and only its shown form is known.
    ["https://***@www.test-site.org/", "https://***@www.test-site.org/?***"],
    ["https://www.test-site.org/?***", "https://www.test-site.org/?***"],
  ])("%s is refused beside %s", (sent, stored) => {
    expect(restoreAddress(sent, stored)).toEqual({
      fault: expect.stringMatching(/^url: \*\*\* stands for .*send the whole url/),
    });
  });
});
