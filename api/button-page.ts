/** Pages for links in messages: services look at such links to show previews, so GET changes nothing, and shows one button. Whole without script and style. */

import { z } from "zod";
import type { ApiResponse } from "./http.ts";
import { escaped } from "./pages/html.ts";

/** What both routes of such a page share. */
export const BUTTON_PAGE = {
  atRoot: true,
  group: "Alerts",
  scope: "public",
  hidden: true,
  params: { token: z.string() },
  responses: { 200: "text/html", 404: "text/html", 429: "text/html", 503: "text/html" },
} as const;

/** Without an address the button's request goes to where the page is, also below a proxy's path. */
export function buttonPage(title: string, text: string, button: string): ApiResponse {
  return page(
    200,
    title,
    `<p>${escaped(text)}</p><form method="post"><button type="submit">${escaped(button)}</button></form>`,
  );
}

export function textPage(status: number, title: string, text: string): ApiResponse {
  return page(status, title, `<p>${escaped(text)}</p>`);
}

function page(status: number, title: string, content: string): ApiResponse {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">`;
  const body = `<!doctype html><html lang="en"><head>${head}<title>${escaped(title)}</title></head><body><main><h1>${escaped(title)}</h1>${content}</main></body></html>`;
  return { status, headers: ["Content-Type", "text/html; charset=utf-8", "Cache-Control", "no-store"], body };
}
