/** The page in a real browser, when something is refused or gone: what a person has written stays, and the page says where to go on. */
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { admin } from "../admin.ts";
import { describeWith } from "../prerequisites.ts";
import { createMonitor, type Product, startProduct } from "../product.ts";
import { cleanUp } from "../service.ts";
import { accessFaults, DESKTOP, launchBrowser, openPage, type WatchedPage } from "./browser.ts";

/** The refusals that these tests are about. */
const EXPECTED = [400, 401, 404, 409, 422, 429];
const LONG = "long ".repeat(80).trim();

describeWith(["chromium"], "the page, refused", () => {
  let product: Product;
  let browser: Browser;

  beforeAll(async () => {
    [product, browser] = await Promise.all([startProduct(), launchBrowser()]);
    await createMonitor(product.api, {
      type: "push",
      name: "Job",
      period: 3_600,
      tags: ["a-tag-that-is-much-too-long"],
    });
  });
  afterAll(async () => {
    await browser?.close();
    await cleanUp();
  });

  async function signIn(page: Page, key: string): Promise<void> {
    await page.getByRole("textbox", { name: "Key" }).fill(key);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
  }

  async function signedIn(options: BrowserContextOptions = DESKTOP): Promise<WatchedPage> {
    const watched = await openPage(browser, `${product.url}/`, options, EXPECTED);
    await signIn(watched.page, product.key);
    await watched.page.getByRole("navigation").waitFor();
    return watched;
  }

  async function open(page: Page, path: string, heading: string): Promise<void> {
    await page.evaluate(`location.hash = ${JSON.stringify(path)}`);
    await page.getByRole("heading", { level: 1, name: heading }).waitFor({ state: "attached" });
  }

  /** It is said there, nowhere else, and the field has the focus. */
  async function refusedAt(form: Locator, label: string, words: RegExp): Promise<void> {
    await form.getByRole("button", { name: /^(Save|Make|Invite|Preview)$/ }).click();
    await form.locator(":is(input, textarea):focus[aria-invalid=true]").waitFor();
    const field = form.getByLabel(label, { exact: true });
    expect(await field.getAttribute("aria-invalid"), label).toBe("true");
    const described = (await field.getAttribute("aria-describedby")) ?? "";
    await form
      .page()
      .locator(`#${described.split(" ").at(-1)}`)
      .filter({ hasText: words })
      .waitFor();
    expect(await form.getByRole("alert").count(), label).toBe(1);
  }

  it("checks one link without an account, and says what was refused and what is left", async () => {
    const { page, faults } = await openPage(browser, `${product.url}/`, DESKTOP, EXPECTED);
    await page.getByRole("link", { name: "Check a link without an account" }).click();
    await page.getByRole("heading", { level: 1, name: "Check a link" }).waitFor();
    expect(await accessFaults(page)).toEqual([]);
    const text = page.getByRole("textbox", { name: "Share link or configuration" });
    const check = page.getByRole("button", { name: "Check", exact: true });
    await check.click();
    await page.locator("textarea:focus").waitFor();
    await text.fill("trojan://s3cret@10.0.0.7:443#private");
    await check.click();
    await page.getByRole("alert").filter({ hasText: "cannot be checked" }).waitFor();
    await page.route("**/api/v1/check/public", (route) => {
      expect(JSON.parse(route.request().postData() ?? "")).toEqual({
        config: "client\nremote vpn.test-site.org",
        protocol: "openvpn",
      });
      const found = {
        test_id: "tst_1",
        status: "down",
        protocol: "openvpn",
        config_detected: false,
        error_category: "timeout",
      };
      const none = { latency_ms: null, connect_ms: null, connection_time_ms: null, handshake_time_ms: null };
      const body = {
        ...found,
        ...none,
        assigned_ip: null,
        engine_used: null,
        error_message: "No answer",
        tested_at: "",
      };
      return route.fulfill({ json: body, headers: { "X-RateLimit-Remaining": "4" } });
    });
    await text.fill("client\nremote vpn.test-site.org");
    await check.click();
    await page.getByRole("status").filter({ hasText: "does not" }).waitFor();
    await page.getByText("It answered, but not in time").waitFor();
    await page.getByText("4 more checks are possible").waitFor();
    expect(await accessFaults(page)).toEqual([]);
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.getByRole("textbox", { name: "Key" }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("says at the field of each dialog what is wrong with it, and goes there", async () => {
    const { page, faults } = await signedIn();
    const dialog = page.getByRole("dialog");
    let opener = page.locator("main button");
    const opened = async (path: string, heading: string, button: string) => {
      await open(page, path, heading);
      opener = page.getByRole("button", { name: button, exact: true }).first();
      await opener.click();
    };
    // The focus is where it was before.
    const leave = async () => {
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await dialog.waitFor({ state: "detached" });
      expect(await opener.evaluate((element) => element.matches(":focus"))).toBe(true);
    };

    await opened("/maintenance", "Maintenance", "Add maintenance");
    await dialog.getByLabel("Title").fill("Kernels");
    await refusedAt(dialog, "Tags", /which tag/);
    await dialog.getByLabel("Tags").fill("prod");
    await dialog.getByLabel("Ends").fill("2020-01-01T00:00");
    await refusedAt(dialog, "Ends", /ends_at must be after/);
    await leave();

    await opened("/webhooks", "Webhooks", "Add webhook");
    await dialog.getByLabel("Address").fill("http://10.0.0.1/");
    await refusedAt(dialog, "Address", /is refused.*SONDE_ALLOW_NETS/);
    await leave();

    await opened("/alerts/rules", "Alerts", "Add rule");
    await dialog.getByLabel("Name").fill("Rule");
    await dialog.getByText("More settings").click();
    await dialog.getByLabel("Say again every").fill("often");
    await dialog.getByText("More settings").click();
    await refusedAt(dialog, "Say again every", /repeat_s/);
    await leave();

    await opened("/alerts/quiet-hours", "Alerts", "Add quiet hours");
    await dialog.getByLabel("Name").fill("Night");
    await dialog.getByLabel("Time zone").fill("Moon/Base");
    await refusedAt(dialog, "Time zone", /timezone/);
    await leave();

    await opened("/keys", "Keys", "Make a key");
    await dialog.getByLabel("Name").fill(LONG);
    await refusedAt(dialog, "Name", /at most 120/);
    // What is refused after the dialog was closed is told all the same.
    let answer = (): void => {};
    const closed = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route("**/api/v1/keys", async (route) => {
      await closed;
      await route.continue();
    });
    await dialog.getByRole("button", { name: "Make" }).click();
    await leave();
    answer();
    await page
      .getByRole("alert")
      .filter({ hasText: /at most 120/ })
      .waitFor();
    await page.getByRole("alert").getByRole("button", { name: "Close" }).click();

    await opened("/workspace", "Workspace", "Invite");
    await dialog.getByLabel("E-mail").fill("ada@test-site.org");
    await dialog.getByLabel("Name (optional)").fill(LONG);
    await refusedAt(dialog, "Name (optional)", /at most 120/);
    await leave();

    await opened("/subscriptions", "Subscriptions", "Add subscription");
    await dialog.getByLabel("Address").fill("nowhere");
    await refusedAt(dialog, "Address", /url/);
    expect(await accessFaults(page)).toEqual([]);
    await leave();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("says at the field of a status page and of an import what is wrong with it", async () => {
    const { page, faults } = await signedIn();
    await open(page, "/status-pages", "Status pages");
    await page.getByRole("button", { name: "Add status page" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Title").fill("Acme");
    await dialog.getByLabel("Address").fill("no such address");
    await refusedAt(dialog, "Address", /slug must be/);
    await dialog.getByLabel("Address").fill("acme");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Acme" }).waitFor();
    const form = page.locator("main form");
    await form.getByLabel("Days").fill("4000");
    await refusedAt(form, "Days", /days must be/);
    await form.getByLabel("Days").fill("90");
    await form.getByLabel("Shown as").selectOption("worst");
    await form.getByLabel("Shown name").fill(LONG);
    await refusedAt(form, "Shown name", /title must be/);

    await open(page, "/import", "Import and apply");
    await form.getByLabel("File or text").fill("sonde: 1\nnope: {}\nneither: {}\n");
    await refusedAt(form, "File or text", /errors[\s\S]*nope/);
    await page.evaluate("scrollTo(0, 0)");
    expect(await accessFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("leads to the list from what is not there, or no longer", async () => {
    const { page, faults } = await signedIn();
    for (const [path, list] of [
      ["/monitors/srv_999999", "Monitors"],
      ["/monitors/nonsense", "Monitors"],
      ["/incidents/inc_999999", "Incidents"],
      ["/subscriptions/999999", "Subscriptions"],
      ["/status-pages/spg_999999", "Status pages"],
    ] as const) {
      await open(page, path, list);
      await page
        .getByRole("alert")
        .getByRole("link", { name: `Go to ${list}` })
        .waitFor();
      expect(await page.getByRole("button", { name: "Try again" }).count(), path).toBe(0);
      expect(await accessFaults(page), path).toEqual([]);
    }
    const id = await createMonitor(product.api, { type: "push", name: "Short", period: 3_600 });
    await open(page, `/monitors/${id}`, "Short");
    await product.api.remove(`/servers/${id}`);
    await page.getByRole("alert").getByRole("link", { name: "Go to Monitors" }).click();
    await page.getByRole("heading", { level: 1, name: "Monitors" }).waitFor();
    // A tag that is cut says the whole of itself.
    await page.getByRole("button", { name: "a-tag-that-is-much-too-long" }).hover();
    await page.locator("button[title=a-tag-that-is-much-too-long]").waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("keeps what was written when the session ends, and goes on after another sign-in, in each tab", async () => {
    const { body: made } = await product.api.post<{ id: number; key: string }>("/keys", { name: "Ends" });
    const { page, faults } = await openPage(browser, `${product.url}/`, DESKTOP, EXPECTED);
    await signIn(page, made.key);
    await page.getByRole("navigation").waitFor();
    const other = await page.context().newPage();
    await other.goto(`${product.url}/#/check`);
    await other.getByRole("textbox", { name: "Links or configuration" }).fill("half a list");
    await open(page, "/maintenance", "Maintenance");
    await page.getByRole("button", { name: "Add maintenance" }).click();
    const form = page.getByRole("dialog", { name: "Add maintenance" });
    await form.getByLabel("Title").fill("Kernels");
    await form.getByLabel("Tags").fill("prod");
    await product.api.remove(`/keys/${made.id}`);
    const again = page.getByRole("dialog", { name: "Sign in" });
    await again.getByText("Your session has ended.").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    expect(await page.getByRole("combobox", { name: "Find" }).count()).toBe(0);
    expect(await accessFaults(page)).toEqual([]);
    await signIn(page, product.key);
    await again.waitFor({ state: "detached" });
    expect(await form.getByLabel("Title").inputValue()).toBe("Kernels");
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("list", { name: "Schedules" }).getByText("Kernels").waitFor();
    // The other tab has the new session, and what was written in it.
    await other.getByText("live", { exact: true }).waitFor();
    expect(await other.getByRole("textbox", { name: "Links or configuration" }).inputValue()).toBe("half a list");
    // Who signs out leaves nothing in another tab.
    await page.getByRole("button", { name: "Account" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("textbox", { name: "Key" }).waitFor();
    await other.getByRole("textbox", { name: "Key" }).waitFor();
    expect(await other.getByRole("textbox", { name: "Links or configuration" }).count()).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("says of a request that found the session ended that nothing was done, and does it after another sign-in", async () => {
    const { page, faults } = await signedIn();
    await open(page, "/maintenance", "Maintenance");
    await page.getByRole("button", { name: "Add maintenance" }).click();
    const form = page.getByRole("dialog", { name: "Add maintenance" });
    await form.getByLabel("Title").fill("Routers");
    await form.getByLabel("Tags").fill("prod");
    await page.context().clearCookies();
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog", { name: "Sign in" }).waitFor();
    await signIn(page, product.key);
    await form.getByText("The session had ended, so this was not done. Try again.").waitFor();
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("list", { name: "Schedules" }).getByText("Routers").waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("keeps what was begun of a monitor when its screen is left, and loses it when it is told to", async () => {
    const { page, faults } = await signedIn();
    await open(page, "/monitors/new", "Add monitor");
    const what = page.getByRole("textbox", { name: "What to watch" });
    const name = page.getByRole("textbox", { name: "Name", exact: true });
    await what.fill("127.0.0.1:4430");
    await name.fill("Half a monitor");
    await open(page, "/monitors", "Monitors");
    await open(page, "/monitors/new", "Add monitor");
    await page.getByText("What you wrote here before is still here.").waitFor();
    expect([await what.inputValue(), await name.inputValue()]).toEqual(["127.0.0.1:4430", "Half a monitor"]);
    expect(await page.getByRole("combobox", { name: "Kind" }).inputValue()).toBe("port");
    expect(await accessFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Start anew" }).click();
    expect([await what.inputValue(), await name.inputValue()]).toEqual(["", ""]);
    await what.fill("127.0.0.1:80");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("heading", { level: 1, name: "Monitors" }).waitFor();
    await open(page, "/monitors/new", "Add monitor");
    expect(await what.inputValue()).toBe("");
    // The same of an import, and of a note.
    await open(page, "/import", "Import and apply");
    await page.getByLabel("File or text").fill("sonde: 1\n");
    await open(page, "/check", "Check");
    await open(page, "/import", "Import and apply");
    expect(await page.getByLabel("File or text").inputValue()).toBe("sonde: 1\n");
    // The next person at this browser finds nothing of it.
    await page.getByRole("button", { name: "Account" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await signIn(page, product.key);
    await page.getByRole("navigation").waitFor();
    await open(page, "/import", "Import and apply");
    expect(await page.getByLabel("File or text").inputValue()).toBe("");
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("leaves a dialog in which something was written by the second Escape, or the second step back", async () => {
    const { page, faults } = await signedIn();
    await open(page, "/incidents", "Incidents");
    await open(page, "/maintenance", "Maintenance");
    const dialog = page.getByRole("dialog", { name: "Add maintenance" });
    const openDialog = () => page.getByRole("button", { name: "Add maintenance" }).click();
    const asked = dialog.getByRole("alert").filter({ hasText: "not saved yet" });
    await openDialog();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await openDialog();
    await dialog.getByLabel("Title").fill("Kernels");
    await page.keyboard.press("Escape");
    await asked.waitFor();
    expect(await accessFaults(page)).toEqual([]);
    await dialog.getByLabel("Title").fill("Kernels and more");
    await asked.waitFor({ state: "detached" });
    await page.goBack();
    await asked.waitFor();
    expect(await page.evaluate("location.hash")).toBe("#/maintenance");
    expect(await dialog.getByLabel("Title").inputValue()).toBe("Kernels and more");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await openDialog();
    await dialog.getByLabel("Title").fill("Kernels");
    await page.goBack();
    await asked.waitFor();
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Incidents" }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("says in the language of the page what is refused or away", async () => {
    const { page } = await openPage(browser, `${product.url}/`, { ...DESKTOP, locale: "ru-RU" }, EXPECTED);
    const signInAs = async (key: string) => {
      await page.getByRole("textbox", { name: "Ключ" }).fill(key);
      await page.getByRole("button", { name: "Войти", exact: true }).click();
    };
    const alert = page.getByRole("alert");
    await signInAs("uk1_wrong");
    await alert.filter({ hasText: "Ключ API недействителен или истёк" }).waitFor();
    await signInAs(product.key);
    await page.getByRole("navigation").waitFor();
    await open(page, "/incidents/inc_999999", "Инциденты");
    await alert.filter({ hasText: "Этого нет или больше нет." }).waitFor();
    await page.route("**/api/v1/channels*", (route) => route.abort());
    await open(page, "/alerts", "Оповещения");
    await alert.filter({ hasText: "Сервис недоступен." }).waitFor();
    await page.context().close();
  });

  it("says on a wall too that nothing can be read yet, and then that nothing is known to be well", async () => {
    const { page, faults } = await openPage(browser, `${product.url}/#/wall`, DESKTOP, [...EXPECTED, 503]);
    await page.route("**/api/v1/overview", (route) => route.fulfill({ status: 503, json: { message: "It is away." } }));
    await signIn(page, product.key);
    await page.getByRole("alert").filter({ hasText: "It is away." }).waitFor();
    expect(await accessFaults(page)).toEqual([]);
    await page.unroute("**/api/v1/overview");
    await page.getByRole("button", { name: "Try again" }).click();
    // No check of the only monitor has ended yet.
    await page.getByText("Nothing is down").waitFor();
    await open(page, "/", "Overview");
    await page.locator("section .hint").filter({ hasText: "Nothing is down" }).waitFor();
    expect(await page.getByText("Everything that is watched works").count()).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("can be read in the reader's own colours, also what is chosen", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page, faults } = await signedIn({ ...DESKTOP, forcedColors: "active", colorScheme });
      for (const [path, heading] of [
        ["/monitors", "Monitors"],
        ["/alerts/rules", "Alerts"],
        ["/account", "Account"],
      ] as const) {
        await open(page, path, heading);
        await page.locator(".skeleton").first().waitFor({ state: "detached" });
        expect(await accessFaults(page), `${path} ${colorScheme}`).toEqual([]);
      }
      expect(faults).toEqual([]);
      await page.context().close();
    }
  });

  it("shows a new screen from its top, whatever was scrolled before", async () => {
    const { page, faults } = await signedIn({ viewport: { width: 1280, height: 360 } });
    await open(page, "/settings", "Settings");
    await page.evaluate("scrollTo(0, 9_999)");
    expect(await page.evaluate<number>("scrollY")).toBeGreaterThan(0);
    await page.locator("main a").last().click();
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor({ state: "detached" });
    expect(await page.evaluate("scrollY")).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("waits where a list is longer than a minute allows, and keeps the lines that were not added", async () => {
    const { page, faults } = await signedIn();
    const answers = [
      { status: 429, json: { success: false, message: "This minute allows no more.", retry_after: 1 } },
      null,
      { status: 400, json: { success: false, message: "port is not for us." } },
    ];
    const asked: string[] = [];
    await page.route("**/api/v1/servers", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      asked.push((route.request().postDataJSON() as { name: string }).name);
      const answer = asked.length === 1 ? null : answers[asked.length - 2];
      return answer === null || answer === undefined ? route.continue() : route.fulfill(answer);
    });
    await open(page, "/monitors/new", "Add monitor");
    const what = page.getByRole("textbox", { name: "What to watch" });
    const lines = [1, 2, 3, 4].map((port) => `127.0.0.1:${port}`);
    await what.fill(lines.join("\n"));
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").filter({ hasText: "port is not for us." }).waitFor();
    expect(asked).toEqual([lines[0], lines[1], lines[1], lines[2]]);
    expect(await what.inputValue()).toBe(lines.slice(2).join("\n"));
    // Who goes on to another screen meanwhile is left there.
    await page.getByRole("button", { name: "Save" }).click();
    await open(page, "/check", "Check");
    await page.getByText("2 monitors are watched from now on.").waitFor();
    expect(await page.evaluate("location.hash")).toBe("#/check");
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("asks anew when another project is opened", async () => {
    await admin(product, {}, "project", "create", "--workspace", "1", "--name", "Staging");
    await product.api.post("/status-pages", { slug: "first", title: "Of the first project", groups: [] });
    const { page } = await signedIn();
    await open(page, "/status-pages", "Status pages");
    await page.getByText("Of the first project").waitFor();
    await page.getByRole("combobox", { name: "Project" }).selectOption({ label: "Workspace / Staging" });
    await page.getByText("No status pages").waitFor();
    await page.context().close();
  });
});
