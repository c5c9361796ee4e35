/** Debian's Chromium, and pages that write down what the page's policy forbids: errors on the console, violations, requests to other hosts. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { CHROMIUM } from "../prerequisites.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** WCAG 2.0 to 2.2, levels A and AA. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

export const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };
export const PHONE: BrowserContextOptions = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

export interface WatchedPage {
  readonly page: Page;
  /** What should not have happened, as lines. */
  readonly faults: readonly string[];
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    chromiumSandbox: process.getuid?.() !== 0,
    headless: true,
    args: ["--disable-dev-shm-usage", "--force-color-profile=srgb", "--font-render-hinting=none", "--hide-scrollbars"],
  });
}

/** @param expected answers with these statuses are part of the test: Chromium writes each refused request on the console */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions,
  expected: readonly number[] = [],
): Promise<WatchedPage> {
  const context = await browser.newContext({ locale: "en-GB", timezoneId: "UTC", ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => {
    if (message.type() !== "error") return;
    const status = Number(/status of (\d+)/.exec(message.text())?.[1] ?? 0);
    if (!expected.includes(status)) faults.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== "data:" && origin !== new URL(url).origin) faults.push(`foreign: ${request.url()}`);
  });
  await page.exposeFunction("toldViolation", (text: string) => faults.push(`policy: ${text}`));
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => toldViolation(event.violatedDirective + ' ' + event.blockedURI))",
  );
  await page.goto(url);
  return { page, faults };
}

interface Found {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** @returns a line for each rule that an element breaks */
export async function accessFaults(page: Page): Promise<readonly string[]> {
  // Evaluated, not added as an element: the page's policy allows no foreign script. Once for a document, which all screens share.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE);
  const { violations } = await page.evaluate<Found>(`axe.run(document, { runOnly: ${JSON.stringify(RULES)} })`);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
