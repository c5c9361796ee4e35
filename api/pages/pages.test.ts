/** What pages say, from views: whatever stands in titles and notes, nothing of it is markup; and pages that a store is away from. */
import { describe, expect, it } from "vitest";
import { NEW_PAGE } from "../../model/status-page.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { PageMember, SealedPage } from "../../store/sql/status-pages/port.ts";
import { badgeImages, badgeText } from "./badges.ts";
import { feedOf } from "./feeds.ts";
import { AddressGate } from "./gate.ts";
import { escaped, plain } from "./html.ts";
import { incidentPage } from "./incident.ts";
import { styleOf } from "./look.ts";
import { makeView, type PageFacts, plannedLines } from "./make-view.ts";
import { markdown } from "./markdown.ts";
import { passwordPage, signInPage } from "./messages.ts";
import { PublicPages } from "./public-pages.ts";
import { newSecrets } from "./secrets.ts";
import { bar, statusPage } from "./status.ts";
import { wordsIn } from "./words.ts";
import { english } from "./words-en.ts";

const NOW_MS = Date.UTC(2026, 10, 26, 10, 40);
const DAY_MS = 86_400_000;
const PLACE = { files: "acme/", page: "acme", query: "" };
const NASTY = [
  "</title><script>alert(1)</script>",
  `"><img src=x onerror=alert(1)>`,
  "' onmouseover='alert(1)",
  "\u202eevil\u2066\u0000\u0008",
  "]]><x>&amp;&#x3c;",
  "]]> ]]><x>",
  "x".repeat(10_000),
  "<!--",
];

function memberOf(id: number, over: Partial<PageMember> = {}): PageMember {
  return {
    id,
    name: `m${id}`,
    kind: "http",
    family: "uptime",
    tags: [],
    subscriptionId: null,
    isPaused: false,
    maintenance: null,
    createdAtMs: NOW_MS - 30 * DAY_MS,
    status: "healthy",
    latencyMs: 12.4,
    lastCheckedAtMs: NOW_MS,
    certificateExpiresAtMs: NOW_MS + 40 * DAY_MS + 5,
    ...over,
  };
}

const pause = async (): Promise<void> => {};

async function factsOf(
  over: Partial<PageFacts> & { readonly members?: readonly PageMember[] } = {},
): Promise<PageFacts> {
  const { members = [], ...facts } = over;
  const page = facts.page ?? { ...NEW_PAGE, slug: "acme", title: "Acme" };
  return {
    page,
    plans: await plannedLines(page.groups, members, english, pause),
    closed: new Map(),
    pasts: new Map(),
    incidents: [],
    words: new Map(),
    updates: [],
    announced: [],
    nowMs: NOW_MS,
    nameOf: (what) => Buffer.from(what).toString("hex").slice(0, 16),
    badgeOf: (what) => `b${Buffer.from(what).toString("hex")}`,
    pause,
    ...facts,
  };
}

const component = (over: object) => ({
  servers: { all: true as const },
  title: null,
  text: "",
  merge: "each" as const,
  ...over,
});
const withLines = (...components: ReturnType<typeof component>[]) => ({
  ...NEW_PAGE,
  slug: "acme",
  title: "Acme",
  groups: [{ title: "All", open: "problems" as const, components }],
});

const recordOf = (id: number, monitorId: number, endedAtMs: number | null = NOW_MS) => ({
  id,
  monitorId,
  monitorName: "secret",
  monitorKind: "http",
  projectId: 1,
  level: "down" as const,
  startedAtMs: NOW_MS - id * 60_000,
  endedAtMs,
  acknowledgedAtMs: null,
  acknowledgedBy: null,
  errorMessage: "secret",
  errorCategory: null,
  locations: [],
  eventCount: 1,
  monitorPaused: false,
});

describe("lines of a page", () => {
  it("say how many work, and the worst of many", async () => {
    const members = [
      ...Array.from({ length: 8 }, (_, id) => memberOf(id)),
      memberOf(8, { status: "down" }),
      memberOf(9, { isPaused: true, status: "down" }),
      memberOf(10, { status: "unknown", lastCheckedAtMs: null }),
    ];
    const merges = [component({ merge: "share", title: "Many" }), component({ merge: "worst", title: "Worst" })];
    const view = await makeView(await factsOf({ page: withLines(...merges), members }));
    const [many, worst] = view.groups[0]?.lines ?? [];
    expect([many?.state, many?.share, worst?.state, view.state]).toEqual([
      "partial",
      { works: 8, known: 9 },
      "down",
      "partial",
    ]);
    const half = members.map((member) => ({ ...member, status: member.id < 5 ? ("down" as const) : member.status }));
    const later = await makeView(await factsOf({ page: withLines(...merges), members: half }));
    expect(later.groups[0]?.lines[0]?.state).toBe("down");
  });

  it("say the worst of more monitors than a function takes arguments", async () => {
    const members = Array.from({ length: 200_000 }, (_, id) => memberOf(id, { lastCheckedAtMs: null }));
    const page = withLines(component({ merge: "worst", title: "All" }));
    expect((await makeView(await factsOf({ page, members }))).state).toBe("works");
  });

  it("name the incidents of their monitors, but for those of many in one line", async () => {
    const servers = { ids: [1] };
    const page = withLines(
      component({ merge: "worst", title: "One", servers }),
      component({ merge: "share", title: "All" }),
    );
    const members = [memberOf(1), memberOf(2), memberOf(3)];
    const words = new Map([[3, { title: "Told", postmortem: "", notes: [] }]]);
    const incidents = [recordOf(1, 1), recordOf(2, 2), recordOf(3, 3)];
    const view = await makeView(await factsOf({ page, members, words, incidents }));
    expect(view.incidents.map(({ title }) => title)).toEqual(["One was down", "Told"]);
    expect(JSON.stringify(view)).not.toContain("secret");
  });

  it("are those that the selector finds, with as many of them as a page may have", async () => {
    const members = Array.from({ length: 1_000 }, (_, id) => memberOf(id, { tags: id % 2 === 0 ? ["even"] : [] }));
    const page = withLines(component({ servers: { tags: ["even"], not: { ids: [0] } } }));
    const [lines = []] = await plannedLines(page.groups, members, english, pause);
    expect([lines.length, lines.at(-1)?.members.length, lines.at(-1)?.title]).toEqual([300, 200, "200 more"]);
    const [one = []] = await plannedLines(
      withLines(component({ title: "Own", servers: { ids: [3] } })).groups,
      members,
      english,
      pause,
    );
    expect(one.map(({ title }) => title)).toEqual(["Own"]);
  });

  it("of ten thousand monitors make a small page", async () => {
    const members = Array.from({ length: 10_000 }, (_, id) =>
      memberOf(id, { status: id % 50 === 0 ? "down" : "healthy" }),
    );
    const past = {
      incidents: [{ fromMs: NOW_MS - 5 * DAY_MS, toMs: NOW_MS - 4 * DAY_MS, downFromMs: NOW_MS - 5 * DAY_MS }],
      pauseEvents: [],
      maintenance: [],
      knownFromMs: NOW_MS - 30 * DAY_MS,
    };
    const pasts = new Map(members.filter(({ id }) => id % 10 === 0).map(({ id }) => [id, past]));
    const groups = Array.from({ length: 12 }, (_, at) => ({
      title: `Region ${at}`,
      open: "always" as const,
      components: [component({ merge: "share", title: `Tunnels ${at}` })],
    }));
    const view = await makeView(await factsOf({ page: { ...withLines(), groups }, members, pasts }));
    const html = statusPage(view, PLACE, "../badge/", null);
    expect(html).toContain("9800 of 10000 work");
    expect(Buffer.byteLength(html)).toBeLessThan(30_000);
    expect(Buffer.byteLength(styleOf(NEW_PAGE.settings, null))).toBeLessThan(6_144);
  });

  it("draw days that look the same as one stroke, and each outage with its words", () => {
    const day = (look: "up" | "bad", downS: number, n: number) => ({
      date: `2026-11-0${n}`,
      look,
      downS,
      watchedS: 86_400,
    });
    const { markup } = bar([day("up", 0, 1), day("up", 0, 2), day("bad", 840, 3), day("up", 0, 4)], english);
    expect(markup.match(/<path/g)?.length).toBe(3);
    expect(markup).toContain('aria-label="Last 4 days: outages on 1 day, 14 min in all"');
    expect(markup).toContain('<path class="bad" d="M8 13h3"><title>2026-11-03: down 14 min</title>');
  });

  it("never round up to what was not reached", () => {
    expect([100, 99.99999, 99.999, 99.5, 0].map(english.percent)).toEqual([
      "100 %",
      "99.99 %",
      "99.99 %",
      "99.50 %",
      "0.00 %",
    ]);
    expect([0, 59, 60, 3_900, 100_000].map(english.duration)).toEqual(["0 s", "59 s", "1 min", "1 h 5 min", "1 d 3 h"]);
  });
});

describe("pages of a language", () => {
  const textsOf = (words: object): readonly string[] =>
    Object.values(words).flatMap((word: unknown) => {
      if (typeof word === "string") return [word];
      return typeof word === "object" && word !== null ? textsOf(word) : [];
    });

  it.each(["ru", "fa", "zh-Hans"])("have all words in it: %s", async (language) => {
    const page = withLines(component({ servers: { all: true }, merge: "each" }));
    const settings = { ...page.settings, language };
    const members = [memberOf(1, { status: "down" }), memberOf(2, { lastCheckedAtMs: null })];
    const incidents = [recordOf(1, 1, null)];
    const view = await makeView(await factsOf({ page: { ...page, settings }, members, incidents }));
    const markup = statusPage(view, PLACE, "", 60_000);
    const said = textsOf(english).filter((word) => markup.includes(`>${word}<`) && word !== english.powered);
    expect(said).toEqual([]);
    for (const word of textsOf(wordsIn(language))) expect(word.replaceAll("Sonde", "")).not.toMatch(/[a-z]{2,}/i);
    expect(markup).toContain(wordsIn(language).states.down);
    expect(view.incidents[0]?.title).toBe(wordsIn(language).incident(members[0]?.name ?? "", "down", false));
  });

  it("count in it, and are in English where it has no words", () => {
    const { daysAgo, percent, duration } = wordsIn("ru-RU");
    expect([1, 3, 90].map(daysAgo)).toEqual(["1 день назад", "3 дня назад", "90 дней назад"]);
    expect([percent(99.999), duration(3_900)]).toEqual(["99,99 %", "1 ч 5 мин"]);
    expect(wordsIn("fa").percent(99.5)).toBe("۹۹٫۵۰٪");
    expect(wordsIn("de")).toBe(english);
    expect(wordsIn("constructor")).toBe(english);
  });
});

describe("texts from outside", () => {
  const incidentOf = async (title: string) => ({
    name: "abc",
    title: plain(title),
    level: "down" as const,
    fromMs: NOW_MS - 5_000,
    toMs: null,
    notes: [{ atMs: NOW_MS, phase: null, words: await markdown(title, pause), text: title }],
    postmortem: await markdown(title, pause),
  });

  it.each(NASTY)("stay text on every page, in feeds and badges: %j", async (text) => {
    const page = { ...withLines(component({ title: text, text, merge: "worst" })), title: text };
    const settings = { ...page.settings, text, links: { home: "https://acme.org/?a=1&b='", contact: null } };
    const update = { id: 1, level: "info" as const, title: text, text, atMs: NOW_MS, endsAtMs: null };
    const actor = { type: "system", id: null, name: null, via: "system", keyId: null } as const;
    const facts = await factsOf({
      page: { ...page, settings },
      members: [memberOf(1)],
      updates: [{ ...update, actor }],
    });
    const view = { ...(await makeView(facts)), incidents: [await incidentOf(text)] };
    const pages = [statusPage(view, PLACE, "b/", 5_000), incidentPage(view, await incidentOf(text), PLACE)];
    for (const html of pages) {
      expect(html).not.toMatch(/<script|<img src=x|<[^>]*\son\w+=|[\u202e\u2066]/);
      expect([html.includes("\0"), html.includes("\b")]).toEqual([false, false]);
      expect(html.match(/<title>/g)?.length).toBeGreaterThan(0);
      expect(html.match(/<h1>/g)).toHaveLength(1);
    }
    for (const form of ["feed.atom", "feed.rss"] as const) {
      expect(unbalanced(feedOf(view, form, "https://a/status/acme", "https://a/status/acme/", "?t=1&b"))).toEqual([]);
    }
    const atom = feedOf(view, "feed.atom", "https://a", "https://a/", "");
    expect(atom).toContain("<author>");
    for (const [, title] of atom.matchAll(/<title type="html"><!\[CDATA\[([\s\S]*?)\]\]>/g))
      expect(title).not.toMatch(/[<>"']|&(?!(amp|lt|gt|quot|#39);)/);
    const json = JSON.parse(feedOf(view, "feed.json", "https://a", "https://a/", ""));
    expect(json.items).toHaveLength(2);
    const drawn = await badgeImages();
    const of = { kind: "status", subject: { ...memberLine, title: text }, uptime: null } as const;
    const badge = drawn(badgeText(of, english, text), "flat");
    expect(unbalanced(badge)).toEqual([]);
    expect(badge).not.toMatch(/<script|<img|\u202e/);
  });

  it("lose what turns their surroundings around, and nothing else", async () => {
    expect(plain("a\u202eb\u0007c\ud800\n\td é العربية 🌍")).toBe("abc\n\td é العربية 🌍");
    expect(escaped(`<&>"'`)).toBe("&lt;&amp;&gt;&quot;&#39;");
    const { markup } = await markdown("[a](javascript:alert(1)) <b>x</b>", pause);
    expect(markup).toBe('<p><a href="">a</a> &lt;b&gt;x&lt;/b&gt;</p>');
  });
});

describe("what stands before a closed page, and its badges", () => {
  const around = { style: "-/", page: "acme", root: "../" };
  const line = { title: "", state: "down" as const, latencyMs: null, certificateDays: 3, days: [] };

  it.each(["en", "ru", "fa", "zh-Hans"])("speak the page's language: %s", (language) => {
    const words = wordsIn(language);
    const asks = passwordPage({ title: "Acme", language }, around, true);
    const leads = signInPage({ title: "Acme", language }, around);
    for (const text of [words.passwordTitle, words.password, words.enter, words.wrongPassword])
      expect(asks).toContain(text);
    for (const text of [words.signIn, words.signInLink]) expect(leads).toContain(text);
    for (const html of [asks, leads])
      expect(html).toContain(`<html lang="${language}" dir="${language === "fa" ? "rtl" : "ltr"}">`);
    expect(badgeText({ kind: "status", subject: line, uptime: null }, words, "")).toEqual({
      ...{ label: words.badges.status, message: words.states.down.toLowerCase(), color: "red" },
    });
    expect(badgeText({ kind: "certificate", subject: line, uptime: null }, words, "").message).toBe(
      words.badges.days(3),
    );
    expect(badgeText({ kind: "uptime", subject: line, uptime: null }, words, "").message).toBe(words.looks.none);
  });
});

const memberLine = { title: "", state: "works" as const, latencyMs: null, certificateDays: null, days: [] };

/** Tags of an XML text that are not closed where they must be, or that cannot be read as tags. */
function unbalanced(xml: string): readonly string[] {
  const open: string[] = [];
  const bare = xml.replace(/<!\[CDATA\[[\s\S]*?\]\]>/g, "").replace(/<\?xml[^>]*\?>/g, "");
  for (const [all, close, name = "", attributes = "", self] of bare.matchAll(
    /<(\/?)([\w:]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|[<]/g,
  )) {
    if (name === "" || (close === "/" && attributes !== "")) return [`no tag: ${all}`];
    if (close === "/") {
      if (open.pop() !== name) return [`</${name}>`];
    } else if (self !== "/") open.push(name);
  }
  const stray = /&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-f]+);)/i.exec(bare);
  return stray === null ? open : [`stray & at ${stray.index}`];
}

it("a text of thousands of signs is shown as it was written, because pairing them would stop a thread", async () => {
  const shown = async (text: string) => (await markdown(text, pause)).markup;
  expect(await shown("*_".repeat(10_000))).toBe(`<p>${"*_".repeat(10_000)}</p>`);
  expect(await shown(`${"*".repeat(600)}\n<b>`)).toBe(`<p>${"*".repeat(600)}<br>&lt;b&gt;</p>`);
  expect(await shown("*a* ".repeat(290))).toContain("<em>a</em>");
  for (const mark of ["- ", "+ ", "1. ", "1) ", "=\n", "-\n", "a\r"])
    expect(await shown(mark.repeat(700))).toMatch(/^<p>(?:(?!<p>|<li>|<h[12]>).)*$/s);
});

it("others have a turn before each text that was not read yet", async () => {
  let turns = 0;
  const count = async (): Promise<void> => void turns++;
  for (const text of ["first", "second", "first"]) await markdown(text, count);
  expect(turns).toBe(2);
});

/** Down for a day until an hour of the next, and since midnight. */
const PAST = {
  incidents: [
    { fromMs: Date.UTC(2026, 10, 26), toMs: null, downFromMs: Date.UTC(2026, 10, 26) },
    { fromMs: Date.UTC(2026, 10, 20, 1), toMs: Date.UTC(2026, 10, 21, 1), downFromMs: Date.UTC(2026, 10, 20, 1) },
  ],
  pauseEvents: [],
  maintenance: [],
  knownFromMs: NOW_MS - 30 * DAY_MS,
};

describe("pages that are kept", () => {
  const page: SealedPage = {
    ...withLines(component({})),
    published: true,
    id: 1,
    projectId: 1,
    badgeName: "abcdefghijkl",
    createdAtMs: 0,
    updatedAtMs: 0,
    accessSealed: JSON.stringify(newSecrets()),
  };

  const schedule = {
    title: "Kernel updates",
    text: "An *hour*",
    selector: { all: true },
    announce: true,
    schedule: { type: "once", startsAtMs: NOW_MS + DAY_MS, endsAtMs: NOW_MS + DAY_MS + 3_600_000 },
    timezone: "UTC",
    startsOn: null,
    endsOn: null,
    endedUntilMs: null,
    overAtMs: null,
  };

  function rigOf() {
    const rig = { nowMs: NOW_MS, isAway: false, reads: 0, pastsSinceMs: [] as number[], members: [memberOf(1)] };
    const read =
      <T>(value: T) =>
      async (): Promise<T> => {
        if (rig.isAway) throw new Error("the store is away");
        return value;
      };
    const bySlug = async (slug: string) => {
      rig.reads += 1;
      return await read(slug === "acme" ? page : undefined)();
    };
    const statusPages = {
      bySlug,
      byBadge: read(page),
      members: async () => read(rig.members)(),
      pasts: async (members: readonly PageMember[], sinceMs: number) => {
        rig.pastsSinceMs.push(sinceMs);
        return read(new Map(members.map(({ id }) => [id, PAST])))();
      },
      words: read(new Map()),
      updates: read({ rows: [], total: 0 }),
      domains: read(new Map([["status.acme.org", "acme"]])),
      list: read([]),
    };
    const sealing = {
      keyId: "",
      bindsRows: true,
      seal: (_: unknown, text: string) => text,
      open: (_: unknown, text: string) => text,
    };
    const pages = new PublicPages({
      // A store with as much of it as pages ask.
      controlPlane: {
        statusPages,
        incidents: { named: read([]) },
        schedules: { list: read([schedule]) },
      } as unknown as ControlPlane,
      sealing,
      nowMs: () => rig.nowMs,
      log: { warn: () => {} },
    });
    return { rig, pages };
  }

  it("ask no store about what no page can be called", async () => {
    const { rig, pages } = rigOf();
    for (const slug of ["", "Acme", "a\0", "-", "a".repeat(64)]) expect(await pages.of(slug)).toBeNull();
    expect(rig.reads).toBe(0);
  });

  it("work out days that are over once in ten minutes, and for lines that changed", async () => {
    const { rig, pages } = rigOf();
    const linesAt = async (nowMs: number) => {
      rig.nowMs = nowMs;
      rig.pastsSinceMs = [];
      return (await pages.of("acme"))?.view.groups[0]?.lines;
    };
    const [wholeMs, todayMs] = [NOW_MS - 90 * DAY_MS, Math.floor(NOW_MS / DAY_MS) * DAY_MS];
    const first = await linesAt(NOW_MS);
    expect(rig.pastsSinceMs).toEqual([wholeMs, todayMs]);
    expect(first?.[0]?.days.map(({ downS }) => downS).filter((downS) => downS > 0)).toEqual([82_800, 3_600, 38_400]);
    const second = await linesAt(NOW_MS + 20_000);
    expect(second?.[0]?.days.slice(0, -1)).toEqual(first?.[0]?.days.slice(0, -1));
    expect(rig.pastsSinceMs).toEqual([todayMs]);
    rig.members = [memberOf(1), memberOf(2), memberOf(3, { createdAtMs: NOW_MS - 5 })];
    expect((await linesAt(NOW_MS + 40_000))?.length).toBe(3);
    expect(rig.pastsSinceMs).toEqual([NOW_MS + 40_000 - 90 * DAY_MS, todayMs]);
    await linesAt(NOW_MS + 60_000);
    expect(rig.pastsSinceMs).toEqual([todayMs]);
    await linesAt(NOW_MS + 601_000);
    expect(rig.pastsSinceMs).toHaveLength(2);
  });

  it("are made anew at once for a project whose people wrote something, also while they are being made", async () => {
    const { rig, pages } = rigOf();
    const before = await pages.of("acme");
    pages.dropProject(2);
    expect(pages.of("acme")).toBe(before);
    pages.dropProject(1);
    const during = pages.of("acme");
    pages.drop("acme");
    await during;
    expect(await pages.of("acme")).not.toBe(await during);
    expect(rig.reads).toBe(3);
  });

  it("are made once for all who ask, and again after ten seconds", async () => {
    const { rig, pages } = rigOf();
    const [one, other] = await Promise.all([pages.of("acme"), pages.of("acme")]);
    expect([one === other, rig.reads]).toEqual([true, 1]);
    expect(one?.view.maintenance).toMatchObject([{ titles: ["Kernel updates"], fromMs: NOW_MS + DAY_MS }]);
    rig.nowMs += 9_999;
    expect(pages.of("acme")).toBe(one);
    rig.nowMs += 1;
    expect(pages.of("acme")).toBe(one);
    await expect.poll(() => pages.of("acme")).not.toBe(one);
    rig.nowMs += 20_000;
    expect((await pages.of("acme"))?.view.atMs).toBe(rig.nowMs);
    expect(await pages.of("none")).toBeNull();
    expect(await pages.of("none")).toBeNull();
    expect(rig.reads).toBe(4);
    pages.drop("acme");
    expect((await pages.of("acme"))?.view.atMs).toBe(rig.nowMs);
  });

  it("are found by their domain by all who ask at once, also after a change, and after one while the store is away", async () => {
    const { rig, pages } = rigOf();
    const slugs = () => Promise.all([1, 2].map(() => pages.slugAt("status.acme.org")));
    expect(await slugs()).toEqual(["acme", "acme"]);
    pages.drop("acme");
    expect(await slugs()).toEqual(["acme", "acme"]);
    pages.drop("acme");
    rig.isAway = true;
    expect(await slugs()).toEqual(["acme", "acme"]);
  });

  it("are shown as they were while a store is away, and say how old they are", async () => {
    const { rig, pages } = rigOf();
    await pages.of("acme");
    await pages.slugAt("status.acme.org");
    rig.isAway = true;
    rig.nowMs += 7_200_000;
    const shown = await pages.of("acme");
    expect(shown?.ageMs).toBe(7_200_000);
    if (shown == null) throw new Error("nothing is shown");
    expect(statusPage(shown.view, PLACE, "", shown.ageMs)).toContain(
      "This is 2 h old: the service does not reach its data",
    );
    expect(await pages.slugAt("status.acme.org")).toBe("acme");
    await expect(pages.of("other")).rejects.toThrow("the store is away");
    rig.isAway = false;
    rig.nowMs += 20_000;
    expect((await pages.of("acme"))?.ageMs).toBeNull();
  });
});

it("an address passes so often in a minute", () => {
  const gate = new AddressGate(2);
  expect([0, 1, 2].map(() => gate.waitS("a", 60_000))).toEqual([0, 0, 60]);
  expect([gate.waitS("b", 60_000), gate.waitS("a", 119_500), gate.waitS("a", 120_000)]).toEqual([0, 1, 0]);
});
