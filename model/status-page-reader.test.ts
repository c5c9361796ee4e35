/** Whatever is sent as a status page ends in a page within its limits, or in a sentence. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineDays } from "./page-days.ts";
import { NEW_PAGE } from "./status-page.ts";
import { logoParts, PAGE_LIMITS, readPageUpdate, readStatusPage, writeGroups } from "./status-page-reader.ts";

const WORDS = { kinds: ["http", "vless"] };
const DAY_MS = 86_400_000;

describe("status pages that are sent", () => {
  it("are read, and read again as they are written", () => {
    const groups = [
      { title: "g", open: "always", components: [{ servers: { all: true }, title: "t", text: "x", merge: "share" }] },
    ];
    const read = readStatusPage({ slug: "a", title: " A ", groups }, null, WORDS);
    if ("fault" in read) throw new Error(read.fault);
    expect(read.page).toEqual({ ...NEW_PAGE, slug: "a", title: "A", groups: expect.anything() });
    expect(writeGroups(read.page.groups)).toEqual(groups);
    const again = readStatusPage({ groups: writeGroups(read.page.groups) }, read.page, WORDS);
    expect(again).toEqual({ page: read.page, secrets: { password: null, rotate: false } });
  });

  it.each([
    ["en", true],
    ["de-AT", true],
    ["de-1996-1996", false],
    ["e", false],
    ["<script>", false],
  ])("may be in the language %s: %s", (language, isKnown) => {
    expect("page" in readStatusPage({ slug: "a", title: "a", language }, null, WORDS)).toBe(isKnown);
  });

  it.each([
    ["png", "AAAA", true],
    ["svg+xml", "AAA=", true],
    ["png", "AAA", false],
    ["html", "AAAA", false],
    ["png", `${"A".repeat(87_382)}==`, true],
    ["png", "A".repeat(87_384), false],
    ["png", "A".repeat(87_388), false],
  ])("may have a logo of %s with a length that fits", (type, data, isTaken) => {
    const logo = `data:image/${type};base64,${data}`;
    expect("page" in readStatusPage({ slug: "a", title: "a", logo }, null, WORDS)).toBe(isTaken);
    if (isTaken) expect(logoParts(logo)).toEqual({ mediaType: `image/${type}`, base64: data });
  });

  it("keep to their limits whatever is sent", () => {
    const member = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.string(),
      fc.constantFrom("public", "each", "#ffffff", 90),
    );
    const body = fc.dictionary(
      fc.constantFrom(
        ...["slug", "title", "groups", "domains", "access", "css", "logo", "links", "show", "days", "text"],
      ),
      member,
    );
    fc.assert(
      fc.property(body, (sent) => {
        const read = readStatusPage(sent, { ...NEW_PAGE, slug: "a", title: "a" }, WORDS);
        if ("fault" in read) {
          expect(read.fault).toMatch(/\.$/);
          return;
        }
        expect([...read.page.title].length).toBeLessThanOrEqual(PAGE_LIMITS.title);
        expect(read.page.domains.length).toBeLessThanOrEqual(PAGE_LIMITS.domains);
      }),
      { numRuns: 200 },
    );
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("title", "text", "level", "ends_at"), member), (sent) => {
        const read = readPageUpdate(sent, null, 5);
        if ("update" in read) expect(read.update.endsAtMs ?? 6).toBeGreaterThan(5);
        else expect(read.fault).toMatch(/\.$/);
      }),
      { numRuns: 200 },
    );
  });
});

describe("days of a line", () => {
  const nowMs = 100 * DAY_MS + DAY_MS / 2;
  const past = (fromMs: number, toMs: number) => ({
    incidents: [{ fromMs, toMs, downFromMs: fromMs }],
    pauseEvents: [],
    maintenance: [],
    knownFromMs: 98 * DAY_MS,
  });

  it("are the worst of many, or all together", () => {
    for (const [rule, down, uptime] of [
      ["worst", 7_200, 100 * (1 - 7_200 / (2.5 * 86_400))],
      ["sum", 10_800, 100 * (1 - 10_800 / (2 * 2.5 * 86_400))],
    ] as const) {
      const days = new LineDays(rule, 4, nowMs);
      days.add(past(99 * DAY_MS, 99 * DAY_MS + 3_600_000));
      days.add(past(99 * DAY_MS, 99 * DAY_MS + 7_200_000));
      expect(days.days().map(({ downS }) => downS)).toEqual([0, 0, down, 0]);
      expect(days.days()[0]).toMatchObject({ watchedS: 0, downShare: 0, fromMs: 97 * DAY_MS });
      expect(days.uptime()).toBeCloseTo(uptime, 9);
    }
  });

  it("of a monitor that nothing happened to are the same on the short way", () => {
    const [long, short] = [new LineDays("sum", 5, nowMs), new LineDays("sum", 5, nowMs)];
    const knownFromMs = 98 * DAY_MS + 5_000;
    long.add({ incidents: [], pauseEvents: [], maintenance: [], knownFromMs });
    short.addQuiet(knownFromMs);
    expect(short.days()).toEqual(long.days());
    expect(new LineDays("worst", 3, nowMs).uptime()).toBeNull();
  });

  it("are the same with those that are over from before", () => {
    const at = fc.integer({ min: 96 * DAY_MS, max: nowMs });
    const times = fc.tuple(at, at, at).map((all) => all.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(fc.constantFrom("worst", "sum"), fc.array(times, { maxLength: 4 }), (rule, all) => {
        const midnightMs = 100 * DAY_MS;
        const whole = new LineDays(rule, 4, nowMs);
        const closed = new LineDays(rule, 4, midnightMs);
        const pasts = all.map(([knownFromMs = 0, fromMs = 0, toMs = 0]) => ({ ...past(fromMs, toMs), knownFromMs }));
        for (const one of pasts) for (const days of [whole, closed]) days.add(one);
        const days = new LineDays(rule, 4, nowMs, closed);
        for (const one of pasts) {
          const incidents = one.incidents.filter(({ toMs }) => toMs > midnightMs);
          if (incidents.length > 0) days.add({ ...one, incidents });
          else days.addQuiet(one.knownFromMs);
        }
        for (const [index, day] of whole.days().entries()) {
          const other = days.days()[index];
          expect(other?.fromMs).toBe(day.fromMs);
          // Whole seconds of a day are rounded on one way and not on the other.
          expect(Math.abs((other?.downS ?? 0) - day.downS)).toBeLessThanOrEqual(pasts.length);
          expect(Math.abs((other?.watchedS ?? 0) - day.watchedS)).toBeLessThanOrEqual(pasts.length);
        }
      }),
      { numRuns: 100 },
    );
  });
});
