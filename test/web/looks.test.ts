/**
 * Eight screens as pictures, light and dark, compared with those in looks/: what moved without intent is seen. Answers, clock and font are
 * fixed, and the pictures have half the size, which evens out how machines draw letters. `npm run web:looks` makes them anew.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import pixelmatch from "pixelmatch";
import type { Browser, Page } from "playwright-core";
import { PNG } from "pngjs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { describeWith } from "../prerequisites.ts";
import { launchBrowser } from "./browser.ts";
import { ANSWERS, NOW } from "./looks/answers.ts";

const BUILT = fileURLToPath(new URL("../../dist/web/", import.meta.url));
const KEPT = fileURLToPath(new URL("looks/", import.meta.url));
/** Nothing is asked of the network: what the page asks for is answered here. */
const PLACE = "http://sonde.test-site.org/";
const SCREENS = ["overview", "monitors", "incidents", "maintenance", "check", "settings", "keys", "service"] as const;
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};
/** Of two colours, from 0 to 1 (pixelmatch). */
const COLOUR_TOLERANCE = 0.1;
/** Share of the picture: a few letters may differ, a button that moved may not. */
const MOST_DIFFERENT = 0.004;
const FONT =
  "*, *::before { font-family: 'DejaVu Sans', sans-serif !important; animation: none !important; caret-color: transparent !important }";

describeWith(["chromium"], "the looks of the page", () => {
  let browser: Browser;
  const isMaking = process.env.SONDE_TEST_LOOKS === "make";
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it.each(["light", "dark"] as const)("are as they were: %s", async (colorScheme) => {
    const context = await browser.newContext({
      ...{ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 0.5, locale: "en-GB", timezoneId: "UTC" },
      ...{ colorScheme, reducedMotion: "reduce" as const },
    });
    const page = await context.newPage();
    await page.clock.setFixedTime(new Date(NOW));
    await page.route("**/*", answer);
    await page.goto(PLACE);
    await page.addStyleTag({ content: FONT });
    const faults: string[] = [];
    for (const name of SCREENS) {
      const picture = await take(page, name);
      const file = join(KEPT, `${name}-${colorScheme}.png`);
      if (isMaking) writeFileSync(file, picture);
      else faults.push(...differences(picture, file));
    }
    await context.close();
    expect(faults).toEqual([]);
  });
});

async function answer(route: Parameters<Parameters<Page["route"]>[1]>[0]): Promise<void> {
  const { pathname } = new URL(route.request().url());
  if (pathname.startsWith("/api/v1")) {
    const found = ANSWERS.get(pathname.slice("/api/v1".length));
    // There is no stream: the page says that it asks again.
    const body = found ?? { error: true, code: 503, message: "Not here." };
    return route.fulfill({ status: found === undefined ? 503 : 200, json: body });
  }
  const file = join(BUILT, pathname === "/" ? "index.html" : pathname);
  if (!existsSync(file)) return route.fulfill({ status: 404, body: "" });
  return route.fulfill({ status: 200, contentType: TYPES[extname(file)] ?? "text/plain", body: readFileSync(file) });
}

async function take(page: Page, name: (typeof SCREENS)[number]): Promise<Buffer> {
  await page.evaluate(`location.hash = ${JSON.stringify(name === "overview" ? "/" : `/${name}`)}`);
  await page.getByRole("heading", { level: 1, name: HEADINGS[name] }).waitFor({ state: "attached" });
  await page.waitForFunction("document.querySelector('.skeleton') === null && document.fonts.status === 'loaded'");
  // What follows an answer is drawn with the next frame.
  await page.evaluate("new Promise((settle) => requestAnimationFrame(() => requestAnimationFrame(settle)))");
  return page.screenshot({ animations: "disabled", caret: "hide" });
}

const HEADINGS: Readonly<Record<(typeof SCREENS)[number], string>> = {
  overview: "Overview",
  monitors: "Monitors",
  incidents: "Incidents",
  maintenance: "Maintenance",
  check: "Check",
  settings: "Settings",
  keys: "Keys",
  service: "Service",
};

/** @returns a line when they differ by more than machines do; the new picture and what differs are kept in a folder that it names */
function differences(picture: Buffer, file: string): readonly string[] {
  if (!existsSync(file)) return [`${file} is missing: npm run web:looks makes it`];
  const [was, is] = [PNG.sync.read(readFileSync(file)), PNG.sync.read(picture)];
  const { width, height } = was;
  if (is.width !== width || is.height !== height)
    return [`${file}: ${is.width} x ${is.height}, it was ${width} x ${height}`];
  const diff = new PNG({ width, height });
  const count = pixelmatch(was.data, is.data, diff.data, width, height, { threshold: COLOUR_TOLERANCE });
  const share = count / (width * height);
  if (share <= MOST_DIFFERENT) return [];
  const folder = temporaryFolder();
  writeFileSync(join(folder, "is.png"), picture);
  writeFileSync(join(folder, "differs.png"), PNG.sync.write(diff));
  return [`${file}: ${(share * 100).toFixed(2)} % differ, see ${folder}; npm run web:looks where it is meant`];
}
