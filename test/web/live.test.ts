/** The page's stream in a real browser: changes come by it, and it comes back after the service was stopped or cut off. */
import { createServer, connect as dial, type Server, type Socket } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../../testkit/free-port.ts";
import { describeWith } from "../prerequisites.ts";
import { createMonitor, type Product, startProduct, untilStatus } from "../product.ts";
import { cleanUp } from "../service.ts";
import { startTcp, type TcpTarget } from "../targets.ts";
import { DESKTOP, launchBrowser, openPage } from "./browser.ts";

/** A check a second, a second until it is told, two busy cores. */
const COMES_WITHIN_MS = 60_000;
const PATIENCE_MS = 240_000;

describeWith(["chromium"], "the page and its stream", () => {
  let product: Product;
  let browser: Browser;
  let door: TcpTarget;
  beforeAll(async () => {
    [product, browser, door] = await Promise.all([startProduct(), launchBrowser(), startTcp()]);
    const body = { type: "port", name: "Door", host: "127.0.0.1", port: door.port, interval: 1, maxretries: 1 };
    await untilStatus(product.api, await createMonitor(product.api, body), "healthy");
  });
  afterAll(async () => {
    await browser?.close();
    await door?.close();
    await cleanUp();
  });

  async function signedIn(url: string): Promise<Page> {
    const { page } = await openPage(browser, `${url}/`, DESKTOP);
    await page.getByRole("textbox", { name: "Key" }).fill(product.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Monitors" }).click();
    await page.getByRole("table", { name: "Monitors" }).waitFor();
    return page;
  }
  const says = (page: Page, word: string) =>
    page.locator(".live-word", { hasText: word }).waitFor({ timeout: COMES_WITHIN_MS });
  const doorIs = (page: Page, word: string) =>
    page.getByRole("row").filter({ hasText: "Door" }).filter({ hasText: word }).waitFor({ timeout: COMES_WITHIN_MS });

  it(
    "shows a change that it did not ask for, and comes back after a restart",
    async () => {
      const page = await signedIn(product.url);
      await says(page, "live");
      await doorIs(page, "healthy");
      // From now on the stream alone tells what changes.
      await page.route("**/api/v1/overview", (route) => route.abort());
      await door.close();
      await doorIs(page, "down");
      await page.unroute("**/api/v1/overview");
      const { dataDir, port } = product;
      expect(await product.stop()).toBe(0);
      await says(page, "offline");
      product = await startProduct({ dataDir, port });
      await says(page, "live");
      await door.reopen();
      await doorIs(page, "healthy");
      await page.context().close();
    },
    PATIENCE_MS,
  );

  it(
    "says that the service is away before the next poll is due",
    async () => {
      const cable = await openCable(product.port);
      const page = await signedIn(`http://127.0.0.1:${cable.port}`);
      await says(page, "live");
      await page.clock.install();
      await page.reload();
      await says(page, "live");
      await page.clock.pauseAt(await page.evaluate("Date.now() + 2_000"));
      await cable.cut();
      // From here a second passes only when the test says so: the poll comes after ten.
      for (let second = 0; second < 5; second++) {
        await page.clock.runFor(1_000);
        await page.evaluate("fetch('/api/v1/health').catch(() => {})");
      }
      expect(await page.locator(".live-word").textContent()).toBe("offline");
      await page.context().close();
    },
    PATIENCE_MS,
  );

  it(
    "comes back after it was cut off, by a stream of its own",
    async () => {
      const cable = await openCable(product.port);
      const page = await signedIn(`http://127.0.0.1:${cable.port}`);
      await says(page, "live");
      await doorIs(page, "healthy");
      await cable.cut();
      await says(page, "offline");
      await door.close();
      await cable.mend();
      await says(page, "live");
      await doorIs(page, "down");
      await page.route("**/api/v1/overview", (route) => route.abort());
      await door.reopen();
      await doorIs(page, "healthy");
      await page.context().close();
      await cable.cut();
    },
    PATIENCE_MS,
  );

  it(
    "says so when the network swallows everything, and comes back with what the screen asks for",
    async () => {
      const cable = await openCable(product.port);
      const page = await signedIn(`http://127.0.0.1:${cable.port}`);
      await says(page, "live");
      cable.swallow();
      await page.locator(".live-word", { hasText: "offline" }).waitFor({ timeout: COMES_WITHIN_MS });
      await cable.cut();
      await page.getByRole("table", { name: "Monitors" }).getByRole("link", { name: "Door" }).click();
      await page.getByRole("alert").filter({ hasText: "cannot be reached" }).first().waitFor();
      await cable.mend();
      await says(page, "live");
      await page.getByRole("alert").filter({ hasText: "cannot be reached" }).waitFor({ state: "detached" });
      await page.getByRole("heading", { level: 1, name: "Door" }).waitFor();
      await page.context().close();
      await cable.cut();
    },
    PATIENCE_MS,
  );

  it(
    "is kept fresh where there is no stream left, as when 200 are open",
    async () => {
      const context = await browser.newContext(DESKTOP);
      const page = await context.newPage();
      const refused = { error: true, code: 503, message: "Too many streams are open." };
      await page.route("**/api/v1/live?**", (route) => route.fulfill({ status: 503, json: refused }));
      await page.goto(`${product.url}/`);
      await page.getByRole("textbox", { name: "Key" }).fill(product.key);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Monitors" }).click();
      await says(page, "every 10 s");
      await doorIs(page, "healthy");
      await door.close();
      await doorIs(page, "down");
      await door.reopen();
      await doorIs(page, "healthy");
      await context.close();
    },
    PATIENCE_MS,
  );

  it("says of a link that was used, or is wrong, that it signs no one in, and asks for a key", async () => {
    const invited = await product.api.post<{ link: string }>("/members", {
      ...{ email: "grace@test-site.org", name: "Grace", role: "viewer" },
    });
    const signIn = async (link: string): Promise<Page> => {
      const { page } = await openPage(browser, link, DESKTOP, [401]);
      await page.getByRole("button", { name: "Sign in" }).click();
      return page;
    };
    const first = await signIn(invited.body.link);
    await first.getByRole("navigation", { name: "Main" }).waitFor();
    for (const link of [invited.body.link, invited.body.link.replace(/code=.*/, "code=wrong")]) {
      const second = await signIn(link);
      await second
        .getByRole("alert")
        .filter({ hasText: /code|link/i })
        .waitFor();
      await second.getByRole("textbox", { name: "Key" }).waitFor();
      expect(second.url()).not.toContain("code=");
      await second.context().close();
    }
    await first.context().close();
  });

  it("says that open incidents share a host, and acknowledges them by one act", async () => {
    const ids = await Promise.all(
      ["Attic", "Cellar"].map(async (name) =>
        createMonitor(product.api, {
          ...{ type: "port", name, host: "127.0.0.1", port: await freePort(), interval: 1, maxretries: 1 },
        }),
      ),
    );
    await Promise.all(ids.map((id) => untilStatus(product.api, id, "down")));
    const page = await signedIn(product.url);
    await page.getByRole("link", { name: "Incidents" }).click();
    await page.getByText("2 open incidents share 127.0.0.1").waitFor({ timeout: COMES_WITHIN_MS });
    await page.getByRole("button", { name: "Acknowledge all 2" }).last().click();
    const dialog = page.getByRole("dialog", { name: "Acknowledge incidents" });
    await dialog.getByRole("button", { name: "Acknowledge" }).click();
    await page.getByText("2 incidents acknowledged.").waitFor();
    await page.getByRole("link", { name: "Cellar" }).first().click();
    await page.getByRole("heading", { level: 1, name: "Cellar is down" }).waitFor();
    await page.getByRole("link", { name: "Attic" }).waitFor();
    await page.context().close();
  });
});

interface Cable {
  readonly port: number;
  /** From now on it swallows everything, as a dead network does: nothing is refused, and nothing ends. */
  swallow(): void;
  /** Everything that goes through ends, and nothing is taken. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** Passes bytes on to the service. */
async function openCable(to: number): Promise<Cable> {
  const port = await freePort();
  const sockets = new Set<Socket>();
  let isDead = false;
  let server: Server | null = null;
  const mend = (): Promise<void> =>
    new Promise((settle, fail) => {
      server = createServer((near) => {
        const far = dial(to, "127.0.0.1");
        for (const socket of [near, far]) {
          sockets.add(socket);
          socket.on("error", () => socket.destroy());
          socket.on("close", () => {
            sockets.delete(socket);
            near.destroy();
            far.destroy();
          });
        }
        for (const [from, onto] of [
          [near, far],
          [far, near],
        ] as const)
          from.on("data", (bytes) => isDead || onto.write(bytes));
      });
      server.on("error", fail);
      server.listen(port, "127.0.0.1", settle);
    });
  await mend();
  return {
    port,
    mend: () => {
      isDead = false;
      return mend();
    },
    swallow: () => {
      isDead = true;
    },
    cut: () =>
      new Promise((settle) => {
        server?.close(() => settle());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
