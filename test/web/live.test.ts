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
});

interface Cable {
  readonly port: number;
  /** Everything that goes through ends, and nothing is taken. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** Passes bytes on to the service. */
async function openCable(to: number): Promise<Cable> {
  const port = await freePort();
  const sockets = new Set<Socket>();
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
        near.pipe(far).pipe(near);
      });
      server.on("error", fail);
      server.listen(port, "127.0.0.1", settle);
    });
  await mend();
  return {
    port,
    mend,
    cut: () =>
      new Promise((settle) => {
        server?.close(() => settle());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
