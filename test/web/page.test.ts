/** The page in a real browser, against the product: what a person does in it, for keyboards and screen readers too, and nothing that its policy forbids. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWith } from "../prerequisites.ts";
import { createMonitor, type Product, startProduct, untilStatus } from "../product.ts";
import { cleanUp } from "../service.ts";
import { startTcp, startWebsite, type TcpTarget, type Website } from "../targets.ts";
import { accessFaults, DESKTOP, launchBrowser, openPage, PHONE, type WatchedPage } from "./browser.ts";

/** Before there is a session, asking for one is refused; a first stream may be too. */
const EXPECTED = [401, 404];
const HOSTILE_NAME = `<img src=x onerror=alert(1)> \u05e9\u05dc\u05d5\u05dd ${"long ".repeat(40)}`.trim();
/** Each screen, and what shows that it is there. */
const SCREENS: readonly (readonly [string, string])[] = [
  ["/", "Overview"],
  ["/monitors", "Monitors"],
  ["/monitors/new", "Add monitor"],
  ["/tunnels", "Tunnels"],
  ["/subscriptions", "Subscriptions"],
  ["/incidents", "Incidents"],
  ["/maintenance", "Maintenance"],
  ["/alerts", "Alerts"],
  ["/alerts/rules", "Alerts"],
  ["/status-pages", "Status pages"],
  ["/check", "Check"],
  ["/settings", "Settings"],
  ["/keys", "Keys"],
  ["/usage", "Usage"],
  ["/workspace", "Workspace"],
  ["/audit", "Log of changes"],
  ["/import", "Import and apply"],
  ["/webhooks", "Webhooks"],
  ["/service", "Service"],
  ["/locations", "Locations"],
  ["/account", "Account"],
  ["/wall", "Wall"],
  ["/nowhere", "Not found"],
];

describeWith(["chromium"], "the page", () => {
  let product: Product;
  let browser: Browser;
  let website: Website;
  let door: TcpTarget;
  let siteId = "";
  let doorId = "";

  beforeAll(async () => {
    [product, browser, website, door] = await Promise.all([
      startProduct(),
      launchBrowser(),
      startWebsite(),
      startTcp(),
    ]);
    siteId = await createMonitor(product.api, {
      type: "http",
      name: "Shop",
      url: website.url,
      interval: 1,
      tags: ["prod"],
    });
    doorId = await createMonitor(product.api, {
      type: "port",
      name: "Door",
      host: "127.0.0.1",
      port: door.port,
      interval: 1,
      tags: ["prod", "door"],
    });
    await createMonitor(product.api, { type: "push", name: HOSTILE_NAME.slice(0, 255), period: 3_600 });
    await untilStatus(product.api, siteId, "healthy");
    await untilStatus(product.api, doorId, "healthy");
  });
  afterAll(async () => {
    await browser?.close();
    await website?.close();
    await door?.close();
    await cleanUp();
  });

  async function signedIn(options: BrowserContextOptions = DESKTOP): Promise<WatchedPage> {
    const watched = await openPage(browser, `${product.url}/`, options, EXPECTED);
    await watched.page.getByRole("textbox", { name: "Key" }).fill(product.key);
    await watched.page.getByRole("button", { name: "Sign in" }).click();
    await watched.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor({ state: "attached" });
    await watched.page.getByRole("grid", { name: "Monitors" }).waitFor();
    return watched;
  }

  async function open(page: Page, path: string, heading: string): Promise<void> {
    await page.evaluate(`location.hash = ${JSON.stringify(path)}`);
    await page.getByRole("heading", { level: 1, name: heading }).waitFor({ state: "attached" });
  }

  it("says what the API says of a wrong key", async () => {
    const { page } = await openPage(browser, `${product.url}/`, DESKTOP, EXPECTED);
    await page.getByRole("textbox", { name: "Key" }).fill("uk1_wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").filter({ hasText: /key/i }).waitFor();
    await page.context().close();
  });

  it.each([
    ["desktop", "light"],
    ["desktop", "dark"],
    ["phone", "light"],
    ["phone", "dark"],
  ] as const)(
    "has one heading and the navigation on every screen of a %s in %s, and breaks no rule of access or policy",
    async (device, colorScheme) => {
      const { page, faults } = await signedIn({ ...(device === "phone" ? PHONE : DESKTOP), colorScheme });
      for (const [path, heading] of SCREENS) {
        await open(page, path, heading);
        await page.getByRole("navigation", { name: "Main" }).waitFor();
        expect(await page.getByRole("heading", { level: 1 }).count(), path).toBe(1);
        expect(await accessFaults(page), path).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth <= screen.width"), `${path}: sideways`).toBe(
          true,
        );
      }
      await open(page, `/monitors/${siteId}`, "Shop");
      await page.getByRole("figure", { name: "Latency" }).waitFor();
      expect(await accessFaults(page), "monitor").toEqual([]);
      expect(faults).toEqual([]);
      await page.context().close();
    },
  );

  it("shows what goes down, why, and that it is back, without a reload", async () => {
    const { page, faults } = await signedIn();
    await page.getByRole("link", { name: "Monitors" }).click();
    await page.getByRole("searchbox", { name: "Filter" }).fill("tag:door");
    await page.getByRole("table", { name: "Monitors" }).getByRole("link", { name: "Door" }).click();
    await page.getByRole("status").filter({ hasText: "healthy" }).waitFor();
    await door.close();
    await page.getByRole("status").filter({ hasText: "down" }).first().waitFor({ timeout: 60_000 });
    await page.getByRole("heading", { level: 2, name: "Why" }).waitFor();
    await expect.poll(() => page.title(), { timeout: 60_000 }).toMatch(/^\(1\)/);
    await page.getByRole("link", { name: "Incidents" }).click();
    await page.getByRole("link", { name: "Door" }).first().click();
    await page.getByRole("heading", { level: 1, name: "Door is down" }).waitFor();
    await page.getByRole("button", { name: "Acknowledge" }).click();
    await page.getByText("Acknowledged by").waitFor();
    await page.getByRole("list", { name: "Timeline" }).waitFor();
    await door.reopen();
    await page.getByRole("heading", { level: 1, name: "Door has recovered" }).waitFor({ timeout: 60_000 });
    await page.getByRole("button", { name: "Write" }).click();
    const report = page.getByRole("dialog", { name: "Post-mortem" });
    await report.getByRole("textbox", { name: "Why it happened" }).fill(HOSTILE_NAME);
    await report.getByRole("button", { name: "Save" }).click();
    await page.getByText(HOSTILE_NAME).waitFor();
    await open(page, "/incidents?severity=warning", "Incidents");
    await page.getByText("No incident matches.").waitFor();
    await page.getByRole("combobox", { name: "Severity" }).selectOption("critical");
    await page.getByRole("searchbox", { name: "Tag" }).fill("door");
    await page.getByRole("searchbox", { name: "Tag" }).press("Enter");
    await page.getByRole("link", { name: "Door" }).first().waitFor();
    expect(await accessFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("has the columns that a person chooses, with the latest checks and what 30 days were, and keeps them in the address", async () => {
    const { page, faults } = await signedIn();
    await open(page, "/monitors", "Monitors");
    const table = page.getByRole("table", { name: "Monitors" });
    const row = table.getByRole("row").filter({ hasText: "Shop" });
    await row.getByRole("img", { name: /\d+ of \d+ passed/ }).waitFor();
    await page.getByText("Columns", { exact: true }).click();
    await page.getByRole("checkbox", { name: "p95" }).check();
    await page.getByRole("checkbox", { name: "Uptime 30 d" }).check();
    await page.getByRole("checkbox", { name: "Kind" }).uncheck();
    expect(await accessFaults(page)).toEqual([]);
    await row.filter({ hasText: /\d%/ }).waitFor();
    expect(await table.getByRole("columnheader", { name: "Kind" }).count()).toBe(0);
    expect(await page.evaluate("new URLSearchParams(location.hash.split('?')[1]).get('columns')")).toBe(
      "status,name,latency,p95,beats,uptime,since,checked",
    );
    await page.getByRole("heading", { level: 1, name: "Monitors" }).click();
    await page.getByRole("checkbox", { name: "p95" }).waitFor({ state: "hidden" });
    // As a link that was sent, with a column that there is not.
    await open(page, "/monitors?columns=uptime,%3Cimg%20src=x%3E", "Monitors");
    await table.getByRole("columnheader", { name: "Uptime 30 d" }).waitFor();
    expect(await table.getByRole("columnheader").count()).toBe(4);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("says at a field what is wrong with it, and goes there", async () => {
    const { page } = await signedIn();
    await open(page, "/monitors/new", "Add monitor");
    const form = page.locator("main form");
    await form.getByRole("combobox", { name: "Kind" }).selectOption("port");
    await form.getByRole("textbox", { name: "Name", exact: true }).fill("Wrong");
    await form.getByRole("textbox", { name: "Host" }).fill("127.0.0.1");
    const port = form.getByRole("textbox", { name: "Port" });
    await port.fill("99999");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByRole("alert").filter({ hasText: "port must be a whole number" }).waitFor();
    await form.locator("input:focus[aria-invalid=true]").waitFor();
    expect(await port.getAttribute("aria-invalid")).toBe("true");
    expect(await form.getByRole("alert").count()).toBe(1);
    // A field that is folded away is opened, and what was said of the other is gone.
    await port.fill("80");
    await form.locator("summary").click();
    const interval = form.getByRole("textbox", { name: "Interval" });
    await interval.fill("often");
    await form.locator("summary").click();
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByRole("alert").filter({ hasText: "interval must be" }).waitFor();
    await form.locator("input:focus[aria-invalid=true]").waitFor();
    expect(await port.getAttribute("aria-invalid")).toBe(null);
    expect(await accessFaults(page)).toEqual([]);
    await open(page, `/monitors/${siteId}`, "Shop");
    expect(await page.title()).toMatch(/Sonde · Shop$/);
    // Paper shows what the screen is about, without its frame.
    await page.emulateMedia({ media: "print" });
    expect(await page.getByRole("navigation", { name: "Main" }).isVisible()).toBe(false);
    expect(await page.getByRole("heading", { level: 1, name: "Shop" }).isVisible()).toBe(true);
    expect(await page.getByRole("button", { name: "Days as a table" }).isVisible()).toBe(false);
    await page.emulateMedia({ media: "screen" });
    await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit monitor" });
    await dialog.getByRole("textbox", { name: "Address" }).fill("http://10.0.0.1/");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").filter({ hasText: "SONDE_ALLOW_NETS" }).waitFor();
    await page.context().close();
  });

  it("sends what was changed in a form, and not what another person changed meanwhile", async () => {
    const { page, faults } = await signedIn();
    await open(page, `/monitors/${siteId}`, "Shop");
    await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit monitor" });
    const known = page.waitForResponse(
      async (answer) => answer.url().endsWith(`/servers/${siteId}`) && (await answer.text()).includes('"interval":2'),
    );
    await product.api.put(`/servers/${siteId}`, { interval: 2 });
    await known;
    await dialog.getByRole("textbox", { name: "Tags" }).fill("prod, shop");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const { body } = await product.api.get(`/servers/${siteId}`);
    expect(body).toMatchObject({ interval: 2, tags: ["prod", "shop"] });
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("adds a tunnel whose link was written into its field, without a protocol chosen", async () => {
    const { page } = await signedIn();
    await open(page, "/monitors/new", "Add monitor");
    expect(await page.title()).toMatch(/Sonde · Add monitor$/);
    const form = page.locator("main form");
    await form.getByRole("combobox", { name: "Kind" }).selectOption("vpn");
    await form.getByRole("textbox", { name: "Name", exact: true }).fill("Typed link");
    const id = "3f1a5b0e-7d7c-4d0a-9d39-0d6b6b1f7c11";
    await form.getByRole("textbox", { name: "Share link" }).fill(`vless://${id}@127.0.0.1:443?security=tls#x`);
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Typed link" }).waitFor();
    await page.getByText("vless", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete monitor" }).getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { level: 1, name: "Monitors" }).waitFor();
    await page.context().close();
  });

  it("adds a monitor from one field, changes it, pauses it and deletes it", async () => {
    const { page, faults } = await signedIn();
    await open(page, "/monitors/new", "Add monitor");
    await page.getByRole("textbox", { name: "What to watch" }).fill(`127.0.0.1:${new URL(website.url).port}`);
    expect(await page.getByRole("combobox", { name: "Kind" }).inputValue()).toBe("port");
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("Added");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Added" }).waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit monitor" });
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Renamed");
    await dialog.getByText("More settings").click();
    await dialog.getByRole("textbox", { name: "Time-out" }).fill("17");
    await dialog.getByRole("textbox", { name: "Failed checks before it is down" }).fill("5");
    const sent = page.waitForRequest((request) => request.method() === "PUT");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Renamed" }).waitFor();
    expect((await sent).postDataJSON()).toEqual({ name: "Renamed", timeout: 17, maxretries: 5 });
    await page.getByRole("link", { name: "Clone" }).click();
    const copied = page.getByRole("textbox", { name: "Name", exact: true });
    await expect.poll(() => copied.inputValue(), { timeout: 30_000 }).toBe("Renamed (copy)");
    expect(await accessFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Renamed (copy)" }).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    await page.getByRole("status").filter({ hasText: "paused" }).first().waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete monitor" }).getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { level: 1, name: "Monitors" }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("tells each tab, goes by the service's clock, and says when its key was revoked", async () => {
    const { body: made } = await product.api.post<{ id: number; key: string }>("/keys", { name: "Tab" });
    const { page, faults } = await openPage(browser, `${product.url}/`, DESKTOP, EXPECTED);
    // Of a device whose clock is wrong by hours.
    await page.clock.setSystemTime(Date.now() + 7_200_000);
    await page.getByRole("textbox", { name: "Key" }).fill(made.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("grid", { name: "Monitors" }).waitFor();
    await open(page, "/monitors", "Monitors");
    const row = (tab: Page) => tab.getByRole("row").filter({ hasText: "Shop" });
    await row(page)
      .filter({ hasText: /just now|\d+ s ago/ })
      .waitFor();
    const other = await page.context().newPage();
    await other.goto(`${product.url}/#/monitors/${siteId}`);
    await other.getByRole("button", { name: "Pause" }).click();
    await row(page).filter({ hasText: "paused" }).waitFor();
    await other.getByRole("button", { name: "Resume" }).click();
    await row(page).filter({ hasText: "healthy" }).waitFor({ timeout: 60_000 });
    await product.api.remove(`/keys/${made.id}`);
    await page.getByText("Your session has ended.").waitFor({ timeout: 60_000 });
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("is used by keyboard alone: palette, grid, menu", async () => {
    const { page, faults } = await signedIn();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find" }).waitFor();
    await page.keyboard.type("log of");
    await page.getByRole("option", { name: "Log of changes" }).waitFor();
    await page.getByRole("combobox", { name: "Find" }).fill("");
    await page.keyboard.type("sho");
    // The monitors may still be on their way.
    await page.getByRole("option", { name: "Shop" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Shop" }).waitFor();
    // The next key goes on from the screen that was opened, not from what was there before.
    await page.locator("#main:focus").waitFor();
    // A key presses the button of the screen that says so, and opens the list of them.
    await page.keyboard.press("e");
    await page.getByRole("dialog", { name: "Edit monitor" }).waitFor();
    const closeDialog = async () => {
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    };
    await closeDialog();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    expect(await accessFaults(page)).toEqual([]);
    await closeDialog();
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await page.getByRole("table", { name: "Monitors" }).getByRole("link").first().waitFor();
    await page.keyboard.press("j");
    await page.locator("tbody a:focus").press("Enter");
    await page.getByRole("button", { name: "Edit" }).waitFor();
    await page.locator("#main:focus").waitFor();
    await page.goBack();
    await page.getByRole("table", { name: "Monitors" }).getByRole("link").first().waitFor();
    for (const key of ["j", "j", "k", "x"]) await page.keyboard.press(key);
    await page.getByText("1 selected").waitFor();
    await page.keyboard.press(".");
    await page.keyboard.press("Tab");
    await page.locator(".bulk button:focus").filter({ hasText: "Pause" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("o");
    const grid = page.getByRole("grid", { name: "Monitors" });
    await grid.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Edit" }).waitFor();
    await page.getByRole("button", { name: "Account" }).press("Enter");
    await page.getByRole("menuitem", { name: "Sign out" }).press("Enter");
    await page.getByRole("textbox", { name: "Key" }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
