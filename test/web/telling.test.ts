/** The page in a real browser: who is told and how, who may come in, and the languages, one of which runs from right to left. */
import { readFileSync } from "node:fs";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWith } from "../prerequisites.ts";
import { createMonitor, type Product, startProduct } from "../product.ts";
import { cleanUp } from "../service.ts";
import { startWebsite, type Website } from "../targets.ts";
import { accessFaults, DESKTOP, launchBrowser, openPage, PHONE, type WatchedPage } from "./browser.ts";

/** Before there is a session, asking for one is refused; a first stream may be too. */
const EXPECTED = [401, 404];
const HOSTILE = "<img src=x onerror=alert(1)> \u05e9\u05dc\u05d5\u05dd";

describeWith(["chromium"], "the page, telling people", () => {
  let product: Product;
  let browser: Browser;
  let receiver: Website;

  beforeAll(async () => {
    [product, browser, receiver] = await Promise.all([startProduct(), launchBrowser(), startWebsite()]);
    const { port } = new URL(receiver.url);
    const tags = ["one", "two", "three", "four"];
    await createMonitor(product.api, { type: "port", name: HOSTILE, host: "127.0.0.1", port: Number(port), tags });
  });
  afterAll(async () => {
    await browser?.close();
    await receiver?.close();
    await cleanUp();
  });

  async function signedIn(options: BrowserContextOptions = DESKTOP): Promise<WatchedPage> {
    const watched = await openPage(browser, `${product.url}/`, options, EXPECTED);
    await watched.page.getByRole("textbox").fill(product.key);
    await watched.page.locator("form button").click();
    await watched.page.getByRole("navigation").waitFor();
    return watched;
  }

  async function open(page: Page, path: string): Promise<void> {
    await page.evaluate(`location.hash = ${JSON.stringify(path)}`);
    await page.getByRole("heading", { level: 1 }).waitFor({ state: "attached" });
    await page.locator(".skeleton").first().waitFor({ state: "detached" });
  }

  it("adds a channel whose form the service describes, tries it, and shows what became of it", async () => {
    const { page, faults } = await signedIn();
    await open(page, "/alerts");
    await page.getByRole("tab", { name: "Channels", selected: true }).waitFor();
    // Where failures are told to no one, the overview says so until there is a channel.
    const untold = page.getByText("No one is told when something fails.");
    await open(page, "/");
    await untold.waitFor();
    await page.getByRole("link", { name: "Add a channel" }).click();
    await page.getByRole("button", { name: "Add channel" }).click();
    const dialog = page.getByRole("dialog", { name: "Add channel" });
    await dialog.getByRole("combobox", { name: "Kind" }).selectOption("ntfy");
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill(HOSTILE);
    await dialog.getByRole("textbox", { name: "Topic" }).fill("sonde");
    await dialog.getByText("More settings").click();
    await dialog.getByRole("textbox", { name: "Server" }).fill(receiver.url.replace(/\/$/, ""));
    expect(await accessFaults(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Send test" }).click();
    await dialog.getByRole("status").filter({ hasText: /\w/ }).waitFor();
    await dialog.getByRole("button", { name: "Save" }).click();
    const list = page.getByRole("list", { name: "Channels" });
    await list.getByText(HOSTILE).waitFor();
    await list.getByText("not tried yet").waitFor();
    expect(await accessFaults(page)).toEqual([]);
    await open(page, "/");
    await page.getByRole("heading", { name: "Open incidents" }).waitFor();
    await page
      .locator("section .hint")
      .filter({ hasText: /None\.|Nothing is down/ })
      .waitFor();
    expect(await untold.count()).toBe(0);
    await open(page, "/alerts");
    await list.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("dialog", { name: "Edit channel" }).getByRole("button", { name: "Save" }).click();
    await list.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete channel" }).getByRole("button", { name: "Delete" }).click();
    await page.getByText("No channels").waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("adds a rule and quiet hours, and says what would be sent", async () => {
    const { page, faults } = await signedIn();
    await open(page, "/alerts/quiet-hours");
    await page.getByRole("button", { name: "Add quiet hours" }).click();
    const quiet = page.getByRole("dialog", { name: "Add quiet hours" });
    await quiet.getByRole("textbox", { name: "Name" }).fill("Night");
    expect(await accessFaults(page)).toEqual([]);
    await quiet.getByRole("button", { name: "Save" }).click();
    await page.getByRole("list", { name: "Quiet hours" }).getByText("Night").waitFor();
    // What rules hold on to is not gone by one press.
    await page.getByRole("button", { name: "Delete Night" }).click();
    const asked = page.getByRole("dialog", { name: "Delete quiet hours" });
    await asked.getByText("Rules that have Night").waitFor();
    await asked.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("list", { name: "Quiet hours" }).getByText("Night").waitFor();
    await page.getByRole("button", { name: "Delete Night" }).click();
    await asked.getByRole("button", { name: "Delete" }).click();
    await page.getByText("No quiet hours").waitFor();
    await page.getByRole("tab", { name: "Rules" }).click();
    await page.getByRole("button", { name: "Add rule" }).click();
    const rule = page.getByRole("dialog", { name: "Add rule" });
    await rule.getByRole("textbox", { name: "Name" }).fill(HOSTILE);
    await rule.getByRole("textbox", { name: "Which monitors" }).fill("img");
    expect(await accessFaults(page)).toEqual([]);
    await rule.getByRole("button", { name: "Save" }).click();
    await page.getByRole("list", { name: "Rules" }).getByText(HOSTILE).waitFor();
    await page
      .getByRole("textbox", { name: "Monitor" })
      .or(page.getByRole("combobox", { name: "Monitor" }))
      .fill(HOSTILE);
    await page.getByRole("button", { name: "Show" }).click();
    await page.locator(".preview-steps li").first().waitFor();
    expect(await accessFaults(page)).toEqual([]);
    await page.getByRole("tab", { name: "Deliveries" }).press("Enter");
    await page.getByRole("tab", { name: "Deliveries", selected: true }).waitFor();
    await page.locator("[role=tab][aria-selected=true]:focus").waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("makes a status page and publishes it", async () => {
    const { page, faults } = await signedIn({ ...PHONE, colorScheme: "light" });
    await open(page, "/status-pages");
    await page.getByRole("button", { name: "Add status page" }).click();
    const dialog = page.getByRole("dialog", { name: "Add status page" });
    await dialog.getByRole("textbox", { name: "Title" }).fill("Acme VPN");
    expect(await dialog.getByRole("textbox", { name: "Address" }).inputValue()).toBe("acme-vpn");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Acme VPN" }).waitFor();
    expect(await accessFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByRole("button", { name: "Take down" }).waitFor();
    // Two people at one page: what the other has changed meanwhile stays.
    const { body: all } = await product.api.get<{ status_pages: { id: string }[] }>("/status-pages");
    const path = `/status-pages/${all.status_pages[0]?.id}`;
    const theirs = { text: "Theirs.", days: 30, published: false, links: { home: "https://acme.org/" } };
    await product.api.put(path, { ...theirs, show: { latency: true, incidents_days: 7 } });
    const form = page.locator("main form");
    await form.getByLabel("Title").fill("Acme VPN status");
    await form.getByLabel("Contact").fill("mailto:help@acme.org");
    await form.getByRole("checkbox", { name: "Uptime" }).uncheck();
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Acme VPN status" }).waitFor();
    expect((await product.api.get(path)).body).toMatchObject({
      ...{ ...theirs, title: "Acme VPN status", slug: "acme-vpn" },
      links: { home: "https://acme.org/", contact: "mailto:help@acme.org" },
      show: { uptime: false, latency: true, incidents_days: 7 },
      groups: [{ components: [{ servers: { all: true } }] }],
    });
    // The form shows what was saved, theirs too.
    expect(await form.getByLabel("Days").inputValue()).toBe("30");
    // Its maker sees it before its readers do.
    const preview = page.context().waitForEvent("page");
    await page.getByRole("link", { name: "Preview" }).click();
    await (await preview).getByText("This is a draft").waitFor();
    await (await preview).close();
    expect((await fetch(`${product.url}/status/acme-vpn`)).status).toBe(404);
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByRole("button", { name: "Take down" }).waitFor();
    // Enter in the headline of an announcement tells it, and does not save the page's settings.
    await page.getByLabel("Headline").fill("Tonight at ten");
    await page.getByLabel("Headline").press("Enter");
    await page.getByRole("list", { name: "Tell your readers" }).getByText("Tonight at ten").waitFor();
    expect((await fetch(`${product.url}/status/acme-vpn`)).status).toBe(200);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("keeps schedules of maintenance and webhooks, and shows the plan of another program's file", async () => {
    const { page, faults } = await signedIn();
    await open(page, "/maintenance");
    await page.getByRole("button", { name: "Add maintenance" }).click();
    const planned = page.getByRole("dialog", { name: "Add maintenance" });
    await planned.getByRole("textbox", { name: "Title" }).fill("Backups");
    await planned.getByRole("combobox", { name: "Repeat" }).selectOption("weekly");
    await planned.getByLabel("Tags").fill("img");
    expect(await accessFaults(page)).toEqual([]);
    await planned.getByRole("button", { name: "Save" }).click();
    await page.getByRole("list", { name: "Schedules" }).getByText("Backups").waitFor();
    await open(page, "/webhooks");
    await page.getByRole("button", { name: "Add webhook" }).click();
    const webhook = page.getByRole("dialog", { name: "Add webhook" });
    await webhook.getByRole("textbox", { name: "Address" }).fill(`${receiver.url}t0ken`);
    await webhook.getByRole("checkbox", { name: "Every event" }).uncheck();
    await webhook.getByRole("checkbox", { name: "incident.opened" }).check();
    expect(await accessFaults(page)).toEqual([]);
    await webhook.getByRole("button", { name: "Save" }).click();
    const secret = page.getByRole("dialog", { name: "The secret" });
    await secret.getByText(/^whsec_/).waitFor();
    // What is shown once is not lost by a key, however often, nor by a step back.
    for (let press = 0; press < 3; press++) await page.keyboard.press("Escape");
    await page.evaluate("history.back()");
    await secret.getByRole("alert").filter({ hasText: "not copied yet" }).waitFor();
    await secret.getByText(/^whsec_/).waitFor();
    await secret.getByRole("button", { name: "Close" }).click();
    const webhooks = page.getByRole("list", { name: "Webhooks" });
    await webhooks.getByText("1 event").waitFor();
    await webhooks.getByText("not tried yet").waitFor();
    await webhooks.getByRole("button", { name: "New secret" }).click();
    const rotation = page.getByRole("dialog", { name: "Make a new secret" });
    expect(await accessFaults(page)).toEqual([]);
    await rotation.getByRole("button", { name: "Cancel" }).click();
    expect(await secret.count()).toBe(0);
    await webhooks.getByRole("button", { name: "New secret" }).click();
    await rotation.getByRole("button", { name: "New secret" }).click();
    await secret.getByText(/^whsec_/).waitFor();
    await page.context().grantPermissions(["clipboard-write"]);
    await secret.getByRole("button", { name: "Copy" }).click();
    await page.getByText("The secret is copied.").waitFor();
    await page.keyboard.press("Escape");
    await secret.waitFor({ state: "detached" });
    await open(page, "/import");
    await page.getByRole("combobox", { name: "Source" }).selectOption("gatus");
    await page
      .getByRole("textbox", { name: "File or text" })
      .fill(`endpoints: [{ name: brought, url: "${receiver.url}", conditions: ["[STATUS] == 200"] }]`);
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByRole("list", { name: "Plan" }).getByText("brought").waitFor();
    // What is half below the bar at the top counts as too small to hit.
    await page.evaluate("scrollTo(0, 0)");
    expect(await accessFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("checks a list in one table, which is chosen from and taken away", async () => {
    const { page, faults } = await signedIn({ ...PHONE, colorScheme: "light" });
    await open(page, "/check");
    const links = ["one", "two"].map((name) => `trojan://s3cret${name}@10.0.0.7:443#${name}`);
    await page.getByRole("textbox", { name: "Links or configuration" }).fill([...links, "nonsense"].join("\n"));
    await page.getByRole("button", { name: "Check" }).click();
    const table = page.getByRole("table", { name: "Results" });
    await page.getByText("2 of 2").waitFor();
    await page.getByText("1 line is not understood").waitFor();
    await table.getByText("one").waitFor();
    expect(await accessFaults(page)).toEqual([]);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "CSV" }).click();
    expect((await download).suggestedFilename()).toBe("checked.csv");
    await page.getByRole("combobox", { name: "Result" }).selectOption("works");
    await page.getByText("Nothing matches.").waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("is moved sideways by no long name, and shows the first row of a table that scrolls by itself", async () => {
    const settings = { server: receiver.url.replace(/\/$/, ""), topic: "sonde" };
    const { body: channel } = await product.api.post<{ id: number }>("/channels", {
      kind: "ntfy",
      name: "long ".repeat(24).trim(),
      settings,
    });
    const { page } = await signedIn({ ...PHONE, colorScheme: "light" });
    await open(page, "/alerts/deliveries");
    await page.getByRole("combobox", { name: "Channel" }).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth <= screen.width")).toBe(true);
    await product.api.remove(`/channels/${channel.id}`);
    const config = {
      ...{ server_id: "srv_1", type: "vless", server: "127.0.0.1", port: 443, success: true, total_ms: 38, error: "" },
      ...{ error_category: "", public_ip: "192.0.2.7", engine_used: "xray", checked_at: null },
      locations: { de: true, nl: false },
    };
    const configs = [
      { ...config, tag: "one", country: "DE" },
      { ...config, tag: "two", country: "NL" },
    ];
    await page.route("**/api/v1/subscriptions/1/configs*", (route) =>
      route.fulfill({ json: { configs, total: 2, healthy: 2 } }),
    );
    await page.route("**/api/v1/subscriptions/1", (route) =>
      route.fulfill({
        json: {
          ...{ id: 1, projectId: 1, name: "Provider", syncIntervalSec: 300, timeoutSeconds: 30, maxWorkers: 50 },
          ...{ configAlertPercent: 50, engine: "both", enabled: true, lastSyncedAt: null, lastServerCount: 2 },
          ...{ lastSyncStatus: "success", syncErrorMessage: null, createdAt: "2026-11-21 06:10:00" },
        },
      }),
    );
    await open(page, "/subscriptions/1");
    const table = page.getByRole("table", { name: "Configurations" });
    await table.getByText("one").waitFor();
    const [head, row] = await Promise.all([table.locator("thead").boundingBox(), table.getByText("one").boundingBox()]);
    expect(row?.y).toBeGreaterThanOrEqual((head?.y ?? 0) + (head?.height ?? 0));
    await table.getByRole("row").filter({ hasText: "one" }).getByText("nl").waitFor();
    await page.getByRole("combobox", { name: "Country of the exit" }).selectOption({ label: "Netherlands" });
    await table.getByText("two").waitFor();
    expect(await table.getByText("one").count()).toBe(0);
    await page.context().close();
  });

  it("gives what its tables show, and the whole project, as files", async () => {
    const { page, faults } = await signedIn();
    const given = async (name: string) => {
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name, exact: true }).first().click();
      const file = await download;
      return { name: file.suggestedFilename(), text: readFileSync(await file.path(), "utf8") };
    };
    await open(page, "/monitors?q=img");
    await page.getByRole("table", { name: "Monitors" }).getByRole("link").first().waitFor();
    const csv = await given("CSV");
    expect(csv.name).toBe("monitors.csv");
    expect(csv.text.split("\r\n")[0]).toBe(
      "id,name,kind,status,latency_ms,interval_s,since,last_checked,tags,subscription",
    );
    expect(csv.text.split("\r\n")).toHaveLength(3);
    const json = await given("JSON");
    expect(JSON.parse(json.text)).toEqual([expect.objectContaining({ name: HOSTILE })]);
    await open(page, "/audit");
    await page.getByRole("table", { name: "Log of changes" }).waitFor();
    expect((await given("CSV")).text).toContain("monitor.created");
    await open(page, "/import");
    const project = await given("The document");
    expect(project.name).toBe("sonde.yaml");
    expect(project.text).toContain("monitors:");
    await page.getByText(/The document is saved/).waitFor();
    await open(page, "/keys");
    await page
      .getByRole("button", { name: /^Usage of / })
      .first()
      .click();
    const usage = page.getByRole("dialog", { name: /^Usage of / });
    await usage.getByRole("row", { name: /Last 30 days/ }).waitFor();
    expect(await accessFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("invites a person by a link that is shown once, and writes it into the log", async () => {
    const { page, faults } = await signedIn({ ...PHONE, colorScheme: "dark" });
    await open(page, "/workspace");
    await page.getByRole("button", { name: "Invite" }).click();
    const dialog = page.getByRole("dialog", { name: "Invite" });
    await dialog.getByRole("textbox", { name: "E-mail" }).fill("ada@test-site.org");
    await dialog.getByRole("button", { name: "Invite" }).click();
    const made = page.getByRole("dialog", { name: "The invitation" });
    await made.getByText(/http/).waitFor();
    expect(await accessFaults(page)).toEqual([]);
    await made.getByRole("button", { name: "Close" }).click();
    await page.getByRole("list", { name: "People" }).getByText("ada@test-site.org").waitFor();
    await open(page, "/audit");
    await page.getByRole("table", { name: "Log of changes" }).getByText("member.").first().waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("keeps a filter with a name, and ends sessions elsewhere", async () => {
    const other = await signedIn();
    const { page, faults } = await signedIn();
    await open(page, "/monitors?q=img");
    await page.getByRole("button", { name: "Save view" }).click();
    const dialog = page.getByRole("dialog", { name: "Save view" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("Mine");
    await dialog.getByRole("button", { name: "Save" }).click();
    await open(page, "/monitors");
    await page.getByRole("list", { name: "Saved views" }).getByRole("link", { name: "Mine" }).click();
    expect(await page.getByRole("searchbox", { name: "Filter" }).inputValue()).toBe("img");
    // The service has it: another browser shows it, on the overview too, and removes it for both.
    const view = other.page.getByRole("list", { name: "Saved views" }).getByRole("link", { name: "Mine" });
    await open(other.page, "/monitors");
    await view.waitFor();
    await open(other.page, "/?q=img");
    await view.waitFor();
    expect(await accessFaults(other.page)).toEqual([]);
    await other.page.getByRole("button", { name: "Remove view Mine" }).click();
    await other.page.getByRole("dialog", { name: "Remove view" }).getByRole("button", { name: "Remove view" }).click();
    await view.waitFor({ state: "detached" });
    await page.getByRole("table", { name: "Monitors" }).getByRole("link").first().click();
    await page.getByRole("button", { name: "Choose locations" }).click();
    await page.getByRole("dialog", { name: "Choose locations" }).getByRole("button", { name: "Cancel" }).click();
    await open(page, "/account");
    // Each is ended by a button whose name no other has.
    const ends = page.getByRole("list", { name: "Where you are signed in" }).getByRole("button");
    const names = await ends.evaluateAll((buttons) => buttons.map((one) => one.getAttribute("aria-label")));
    expect(names.length).toBeGreaterThan(1);
    expect(new Set(names).size).toBe(names.length);
    await page.getByRole("button", { name: "End all others" }).click();
    await page.getByText("All other sessions have ended.").waitFor();
    expect(faults).toEqual([]);
    await other.page.context().close();
    await page.context().close();
  });

  it("speaks the browser's language, and runs from right to left in Persian", async () => {
    for (const [locale, lang, direction] of [
      ["fa-IR", "fa", "rtl"],
      ["ru-RU", "ru", "ltr"],
      ["zh-CN", "zh-Hans", "ltr"],
    ] as const) {
      const { page, faults } = await signedIn({ ...(lang === "ru" ? DESKTOP : PHONE), locale });
      await page.locator(`html[lang="${lang}"]`).waitFor();
      expect(await page.evaluate("getComputedStyle(document.body).direction")).toBe(direction);
      if (lang === "fa") {
        await page.setViewportSize({ width: 1280, height: 800 });
        await open(page, "/monitors");
        // A sign before its number, also where text runs the other way.
        await page.locator("bdi[dir=ltr]").filter({ hasText: "+۲" }).waitFor();
        await page.setViewportSize({ width: 360, height: 740 });
      }
      for (const path of lang === "fa" ? ["/", "/alerts", "/keys", "/account"] : ["/"]) {
        await open(page, path);
        expect(await accessFaults(page), `${path} ${lang}`).toEqual([]);
        expect(
          await page.evaluate("document.documentElement.scrollWidth <= screen.width"),
          `${path} ${lang}: sideways`,
        ).toBe(true);
      }
      expect(faults).toEqual([]);
      await page.context().close();
    }
  });
});
