/** Signing in as a team in a real browser: passkeys of a virtual device, and a certified provider of identities. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CLIENT_ID, CLIENT_SECRET, type RealProvider, startProvider } from "../../testkit/api/real-provider.suite.ts";
import { freePort } from "../../testkit/free-port.ts";
import { describeWith } from "../prerequisites.ts";
import { type Product, startProduct } from "../product.ts";
import { cleanUp } from "../service.ts";
import { accessFaults, DESKTOP, launchBrowser, openPage, PHONE, type WatchedPage } from "./browser.ts";

const EMAIL = "eve@test-site.org";

describeWith(["chromium"], "signing in as a team", () => {
  let product: Product;
  let browser: Browser;
  let provider: RealProvider;
  let base = "";

  beforeAll(async () => {
    const port = await freePort();
    // Browsers give pages without TLS passkeys at this name alone.
    base = `http://localhost:${port}`;
    provider = await startProvider(`${base}/api/v1/session/oidc`);
    provider.people.set("eve", { email: EMAIL, email_verified: true, name: "Eve" });
    const env = {
      SONDE_BASE_URL: base,
      SONDE_OIDC_ISSUER: provider.issuer,
      SONDE_OIDC_CLIENT_ID: CLIENT_ID,
      SONDE_OIDC_CLIENT_SECRET: CLIENT_SECRET,
    };
    [product, browser] = await Promise.all([startProduct({ port, env }), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await provider?.close();
    await cleanUp();
  });

  const overview = (page: Page) =>
    page.getByRole("heading", { level: 1, name: "Overview" }).waitFor({ state: "attached" });
  const account = async (page: Page): Promise<void> => {
    await page.evaluate("location.hash = '/account'");
    await page.getByRole("heading", { level: 2, name: "Passkeys" }).waitFor();
  };
  const signOut = async (page: Page): Promise<void> => {
    await page.getByRole("button", { name: "Account" }).press("Enter");
    await page.getByRole("menuitem", { name: "Sign out" }).press("Enter");
    await page.getByRole("button", { name: "Sign in with a passkey" }).waitFor();
  };
  const withDevice = async (watched: WatchedPage): Promise<void> => {
    const devtools = await watched.page.context().newCDPSession(watched.page);
    await devtools.send("WebAuthn.enable");
    await devtools.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        ...{ protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true },
        ...{ isUserVerified: true, automaticPresenceSimulation: true },
      },
    });
  };

  it("adds a passkey, signs in with it, names and removes it", async () => {
    const invited = await product.api.post<{ link: string }>("/members", { email: EMAIL, name: "Eve", role: "viewer" });
    const watched = await openPage(browser, invited.body.link, DESKTOP, [401]);
    const { page, faults } = watched;
    await withDevice(watched);
    await page.getByRole("button", { name: "Sign in" }).click();
    await overview(page);
    await account(page);
    await page.getByRole("button", { name: "Add a passkey" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a passkey" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("Laptop");
    expect(await accessFaults(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Add a passkey" }).click();
    const passkeys = page.getByRole("list", { name: "Passkeys" });
    await passkeys.getByText("Laptop").waitFor();
    await signOut(page);
    expect(await accessFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    // Where the person was before.
    await page.getByRole("heading", { level: 1, name: "Account" }).waitFor();
    await page.getByText("with a passkey").waitFor();
    await page.getByRole("button", { name: "Rename the passkey Laptop" }).click();
    const rename = page.getByRole("dialog", { name: "Rename" });
    await rename.getByRole("textbox", { name: "Name" }).fill("Old laptop");
    await rename.getByRole("button", { name: "Rename" }).click();
    await passkeys.getByText("Old laptop").waitFor();
    expect(await accessFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Remove the passkey Old laptop" }).click();
    await page.getByRole("dialog", { name: "Remove passkey" }).getByRole("button", { name: "Remove" }).click();
    await page.getByText("A passkey signs you in").waitFor();
    await signOut(page);
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.getByRole("alert").filter({ hasText: "signs no one in" }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("goes to the provider and comes back signed in, or with words that help", async () => {
    const { page, faults } = await openPage(browser, `${base}/`, { ...PHONE, colorScheme: "dark" }, [401]);
    const button = page.getByRole("button", { name: `Sign in with ${new URL(provider.issuer).host}` });
    await button.waitFor();
    expect(await accessFaults(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= screen.width")).toBe(true);
    expect(faults).toEqual([]);
    const atProvider = async (login: string): Promise<void> => {
      await button.click();
      await page.locator("input[name=login]").fill(login);
      await page.locator("input[name=password]").fill("x");
      await page.locator("button[type=submit]").click();
      await page.locator("input[name=prompt][value=consent]").waitFor({ state: "attached" });
      await page.locator("button[type=submit]").click();
    };
    await atProvider("outsider");
    await page.getByRole("alert").filter({ hasText: "does not confirm your e-mail address" }).waitFor();
    expect(await accessFaults(page)).toEqual([]);
    await page.context().clearCookies();
    await page.goto(`${base}/`);
    await atProvider("eve");
    await overview(page);
    expect(new URL(page.url()).origin).toBe(base);
    await page.context().close();
  });
});
