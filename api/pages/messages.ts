/** Pages of one message, and the list of pages. Their style sheet has a separate address. Pure. */
import { NEW_PAGE } from "../../model/status-page.ts";
import { frame } from "./frame.ts";
import { type Html, html } from "./html.ts";
import { styleOf } from "./look.ts";
import { wordsIn } from "./words.ts";

/** A reader that may not see the page gets nothing of it, not its style either: these pages have one that is no page's. */
export const PLAIN_STYLE = styleOf(NEW_PAGE.settings, null);

function simplePage(title: string, style: string, body: Html, language: string): string {
  const place = { files: style, page: "", query: "" };
  const all = html`<header><h1><bdi>${title}</bdi></h1></header><main id="main">${body}</main>`;
  return frame({ title, language, place, mayBeIndexed: false, feeds: false }, all);
}

/** What a page that is closed leads to, relative to the address that was asked. */
export interface Around {
  /** The folder of the plain style. */
  readonly style: string;
  readonly page: string;
  /** Our own page; null: it is not served here. */
  readonly root: string | null;
}

export function missingPage({ style }: Pick<Around, "style">, language: string): string {
  const { notFound, notFoundText } = wordsIn(language);
  return simplePage(notFound, style, html`<p class="card">${notFoundText}</p>`, language);
}

/** What a page that is closed says of itself. */
interface Closed {
  readonly title: string;
  /** Of the page that it stands before. */
  readonly language: string;
}

export function passwordPage({ title, language }: Closed, around: Around, isWrong: boolean): string {
  const words = wordsIn(language);
  const wrong = isWrong ? html`<p class="wrong" id="wrong" role="alert">${words.wrongPassword}</p>` : null;
  const invalid = isWrong ? html` aria-invalid="true" aria-describedby="wrong"` : null;
  const form = html`<form class="card" method="post" action="${around.page}"><p>${words.passwordTitle}</p>${wrong}<label for="password">${words.password}</label><input id="password" name="password" type="password" autocomplete="current-password" required${invalid}><button>${words.enter}</button></form>`;
  return simplePage(title, around.style, form, language);
}

export function signInPage({ title, language }: Closed, { style, root }: Around): string {
  const words = wordsIn(language);
  const link = root === null ? null : html`<p><a href="${root}">${words.signInLink}</a></p>`;
  return simplePage(title, style, html`<div class="card"><p>${words.signIn}</p>${link}</div>`, language);
}

/** @param language what its reader understands: the pages may have several */
export function indexPage(
  pages: readonly { readonly slug: string; readonly title: string }[],
  language: string,
): string {
  const words = wordsIn(language);
  const items = pages.map(
    ({ slug, title }) => html`<li class="card"><a href="status/${slug}"><bdi>${title}</bdi></a></li>`,
  );
  const body = pages.length === 0 ? html`<p class="card">${words.noPages}</p>` : html`<ul>${items}</ul>`;
  return simplePage(words.index, "status/-/", body, language);
}
