// `npm run web:shots -- http://127.0.0.1:8080/ KEY FOLDER`: pictures of every screen of a running service, on a desktop and a phone, light and dark, and in Persian.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { chromium } from "playwright-core";

const [url, key, folder] = process.argv.slice(2);
/** Addresses, and what the file is called. */
const SCREENS = {
  overview: "/",
  monitors: "/monitors",
  "monitors-new": "/monitors/new",
  tunnels: "/tunnels",
  subscriptions: "/subscriptions",
  incidents: "/incidents",
  maintenance: "/maintenance",
  alerts: "/alerts",
  "status-pages": "/status-pages",
  check: "/check",
  settings: "/settings",
  keys: "/keys",
  usage: "/usage",
  workspace: "/workspace",
  audit: "/audit",
  import: "/import",
  webhooks: "/webhooks",
  service: "/service",
  locations: "/locations",
  account: "/account",
  wall: "/wall",
};
const LOOKS = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
};

if (folder === undefined) {
  process.stderr.write("web:shots: say where the service is, a key, and a folder for the pictures\n");
  process.exit(1);
}
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.SONDE_CHROMIUM ?? "/usr/bin/chromium",
  chromiumSandbox: process.getuid?.() !== 0,
  args: ["--disable-dev-shm-usage", "--force-color-profile=srgb", "--font-render-hinting=none", "--hide-scrollbars"],
});
for (const [look, size] of Object.entries(LOOKS)) {
  for (const colorScheme of ["light", "dark"]) await shoot(look, { ...size, colorScheme });
  await shoot(`${look}-fa`, { ...size, colorScheme: "light", locale: "fa-IR" });
}
await browser.close();

async function shoot(look, options) {
  const page = await (await browser.newContext({ locale: "en-GB", ...options })).newPage();
  await page.goto(url);
  // By place, not by name: the words may be of another language.
  await page.locator("form input").first().fill(key);
  await page.locator("form button[type=submit]").click();
  await page.getByRole("navigation").waitFor();
  for (const [name, path] of Object.entries(SCREENS)) await take(page, path, `${name}-${look}-${options.colorScheme}`);
  await page.evaluate("location.hash = '/monitors'");
  const first = page.locator("table.monitors").getByRole("link").first();
  await first.click();
  await take(page, null, `monitor-${look}-${options.colorScheme}`);
  await page.context().close();
}

/** @param path null: what is open already */
async function take(page, path, name) {
  if (path !== null) await page.evaluate(`location.hash = ${JSON.stringify(path)}`);
  await page.getByRole("heading", { level: 1 }).waitFor({ state: "attached" });
  // What is still loading says so.
  while ((await page.locator(".skeleton").count()) > 0)
    await page.locator(".skeleton").first().waitFor({ state: "detached" });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
