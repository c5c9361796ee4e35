/** A status page in a real browser: without script, for screen readers, on a phone, in light and dark. */
import { join } from "node:path";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openWorld, type World } from "../../testkit/api/world.suite.ts";
import { batch, liveOf } from "../../testkit/store/ground.suite.ts";
import { describeWith } from "../prerequisites.ts";
import { accessFaults, DESKTOP, launchBrowser, openPage, PHONE } from "./browser.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HOSTILE = `<img src=x onerror=alert(1)> \u202e${"long".repeat(20)} \u05e9\u05dc\u05d5\u05dd`;
/** Where pictures are put; absent: nowhere. */
const SHOTS = process.env.SONDE_TEST_SHOTS;

/** Monitors with what became of them: hours ago that it was down, for so many minutes; the last one lasts where it has no end. */
const MONITORS: readonly (readonly [
  name: string,
  tag: string,
  status: "healthy" | "down" | "degraded",
  downs: readonly [number, number | null][],
])[] = [
  [
    "Frankfurt 1",
    "eu",
    "healthy",
    [
      [30, 14],
      [400, 90],
      [1_200, 5],
    ],
  ],
  ["Frankfurt 2", "eu", "healthy", [[401, 40]]],
  ["Amsterdam", "nl", "healthy", []],
  ["Paris", "fr", "degraded", [[700, 2_000]]],
  ["Tokyo", "asia", "healthy", [[80, 3]]],
  ["Singapore", "asia", "down", [[1, null]]],
  ["Website", "web", "healthy", [[900, 8]]],
  [HOSTILE, "web", "healthy", []],
];

describeWith(["chromium"], "a status page in a browser", () => {
  let world: World;
  let browser: Browser;
  let url = "";
  let incident = "";

  beforeAll(async () => {
    [world, browser] = await Promise.all([openWorld("net", { trustedProxies: ["127.0.0.1"] }), launchBrowser()]);
    url = `http://127.0.0.1:${world.api.port}`;
    await seed();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  async function seed(): Promise<void> {
    const nowMs = world.clock.nowMs;
    const why = { message: "secret-message", category: null, locations: ["any"] };
    const [incidents, live]: [unknown[], unknown[]] = [[], []];
    for (const [name, tag, status, downs] of MONITORS) {
      const body = { type: "http", name, url: "https://secret-host.test-site.org/", tags: [tag] };
      const id = Number((await world.send("POST", "/api/v1/servers", { body })).body.id.slice(4));
      live.push(liveOf(id, { status, lastCheckedAtMs: nowMs, latencyMs: 41 }));
      for (const [hoursAgo, minutes] of [...downs].reverse()) {
        const atMs = nowMs - hoursAgo * HOUR_MS;
        incidents.push({ type: "open", monitorId: id, atMs, startedAtMs: atMs, level: "down", ...why });
        if (minutes !== null) incidents.push({ type: "close", monitorId: id, atMs: atMs + minutes * 60_000 });
      }
    }
    world.sql("update monitors set created_at_ms = ?", nowMs - 62 * DAY_MS);
    await world.controlPlane.sink.apply(batch(1, { live: live as never, incidents: incidents as never }));
    const rows = (await world.send("GET", "/api/v1/incidents?limit=50")).body.incidents;
    incident = rows[0].id;
    await world.send("POST", `/api/v1/incidents/${incident}/notes`, {
      body: { text: "We are **looking** at a router in Singapore.", phase: "investigating", public: true },
    });
    const past = rows.find((row: { server_name: string }) => row.server_name === "Website").id;
    await world.send("PUT", `/api/v1/incidents/${past}/report`, {
      body: { title: "Website unreachable", postmortem: "A disk was full.\n\n- It is larger now.", public: true },
    });
    const line = (title: string, tags: string[], merge: string) => ({ title, servers: { tags }, merge });
    const groups = [
      {
        title: "Europe",
        open: "always",
        components: [
          line("Frankfurt", ["eu"], "worst"),
          line("Amsterdam", ["nl"], "worst"),
          line("Paris", ["fr"], "worst"),
        ],
      },
      { title: "Asia", components: [{ servers: { tags: ["asia"] }, merge: "each" }] },
      {
        title: "All servers",
        components: [line("Everywhere", [], "share")].map((one) => ({ ...one, servers: { all: true } })),
      },
      { title: "Site", open: "never", components: [{ servers: { tags: ["web"] }, merge: "each" }] },
    ];
    const show = { uptime: true, latency: true, incidents_days: 60 };
    const page = { title: "Acme VPN", text: "Status of our servers.", published: true, groups, show };
    for (const theme of ["light", "dark"]) {
      const body = { ...page, slug: `acme-${theme}`, theme, links: { home: "https://acme.org" } };
      const { id } = (await world.send("POST", "/api/v1/status-pages", { body })).body;
      const update = {
        title: "Kernel updates in Frankfurt tonight",
        text: "From 22:00, an hour at most.",
        level: "maintenance",
      };
      await world.send("POST", `/api/v1/status-pages/${id}/updates`, { body: update });
    }
    const locked = { ...page, slug: "locked", access: { type: "password", password: "correct horse" } };
    await world.send("POST", "/api/v1/status-pages", { body: locked });
  }

  it("is read and walked through without script", async () => {
    const { page, faults } = await openPage(browser, `${url}/status/acme-light`, {
      ...DESKTOP,
      javaScriptEnabled: false,
    });
    await page.getByRole("heading", { level: 1, name: "Acme VPN" }).waitFor();
    for (const name of ["Open incidents", "Systems", "Past incidents", "Announcements"])
      await page.getByRole("heading", { level: 2, name }).waitFor();
    await page.getByText("7 of 8 work").waitFor();
    const group = page.getByRole("group").filter({ hasText: "Site" });
    expect(await group.getByText("Website").isVisible()).toBe(false);
    await group.locator("summary").click();
    expect(await group.getByText("Website").isVisible()).toBe(true);
    await page.getByRole("link", { name: "Frankfurt was down" }).first().waitFor();
    await page.getByRole("link", { name: "Singapore is down" }).click();
    await page.getByRole("heading", { level: 1, name: "Singapore is down" }).waitFor();
    await page.getByText("looking").waitFor();
    await page.getByRole("link", { name: "Back to the status" }).click();
    await page.getByRole("link", { name: "Website unreachable" }).click();
    await page.getByText("It is larger now.").waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  const looks: readonly (readonly [string, BrowserContextOptions])[] = [
    ["desktop", DESKTOP],
    ["phone", PHONE],
  ];
  it.each(looks.flatMap(([name, options]) => ["light", "dark"].map((theme) => [name, theme, options] as const)))(
    "is for everybody: %s, %s",
    async (name, theme, options) => {
      const { page, faults } = await openPage(browser, `${url}/status/acme-${theme}`, options);
      await page.locator("details").last().locator("summary").click();
      expect(await accessFaults(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
      expect(await page.content()).not.toMatch(/secret-|srv_|inc_|<script/);
      if (SHOTS !== undefined)
        await page.screenshot({ path: join(SHOTS, `status-${name}-${theme}.png`), fullPage: true });
      await page.getByRole("link", { name: "Website unreachable" }).click();
      await page.getByRole("heading", { name: "Post-mortem" }).waitFor();
      expect(await accessFaults(page)).toEqual([]);
      if (SHOTS !== undefined)
        await page.screenshot({ path: join(SHOTS, `incident-${name}-${theme}.png`), fullPage: true });
      expect(faults).toEqual([]);
      await page.context().close();
    },
  );

  it("is found with a slash at its end", async () => {
    const answer = await fetch(`${url}/status/acme-light/?x=1`);
    expect([answer.status, answer.url]).toEqual([200, `${url}/status/acme-light?x=1`]);
    const other = await fetch(`${url}/status/..%2f%2fexample.org/`, { redirect: "manual" });
    expect([other.status, other.headers.get("location")]).toEqual([308, "../..%2F%2Fexample.org"]);
  });

  it("opens with its password, by the keyboard alone", async () => {
    const { page } = await openPage(browser, `${url}/status/locked`, { ...PHONE }, [403]);
    expect(await accessFaults(page)).toEqual([]);
    await page.getByLabel("Password").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    expect(await accessFaults(page)).toEqual([]);
    if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, "locked.png"), fullPage: true });
    await page.getByLabel("Password").fill("correct horse");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 2, name: "Systems" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 2, name: "Systems" }).waitFor();
    await page.context().close();
  });

  it("has feeds and badges that a browser reads as XML", async () => {
    const { page } = await openPage(browser, `${url}/status/acme-light`, DESKTOP);
    const badge = await page.getByRole("link", { name: "Badge" }).getAttribute("href");
    for (const path of ["acme-light/feed.atom", "acme-light/feed.rss", badge ?? ""]) {
      const text = await (await fetch(new URL(path, `${url}/status/x`))).text();
      const root = await page.evaluate(
        `(() => { const read = new DOMParser().parseFromString(${JSON.stringify(text)}, "text/xml"); return read.querySelector("parsererror")?.textContent ?? read.documentElement.localName })()`,
      );
      expect(["feed", "rss", "svg"]).toContain(root);
    }
    await page.context().close();
  });
});
