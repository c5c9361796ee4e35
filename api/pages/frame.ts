/** What all pages for the public have around them. Pure. */
import type { PageSettings } from "../../model/status-page.ts";
import { Html, html } from "./html.ts";
import type { LineState } from "./view.ts";
import { wordsIn } from "./words.ts";

/** ISO 639 codes of languages that are written from right to left. */
const FROM_RIGHT = new Set(["ar", "ckb", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi"]);

/** Where the page's files are, relative to the address it is read at; all links of a page begin with it. */
export interface Addresses {
  /** The path to the page's own folder, with a slash at the end: `acme/` at `/status/acme`. */
  readonly files: string;
  /** To the page itself. */
  readonly page: string;
  /** Behind every address of the page: empty, or `?t=` and what lets its reader in. */
  readonly query: string;
}

interface FrameOptions {
  readonly title: string;
  readonly language: string;
  readonly place: Addresses;
  readonly mayBeIndexed: boolean;
  readonly feeds: boolean;
}

/** Shapes beside the colours and words of states: a tick, a cross, a sign, halves, a diamond. */
const SHAPES: Readonly<Record<LineState, string>> = {
  works:
    '<circle cx="10" cy="10" r="9"/><path d="m5.8 10.4 2.8 2.8 5.6-6" stroke="var(--card)" stroke-width="2" fill="none"/>',
  down: '<path d="M6.3 1h7.4L19 6.3v7.4L13.7 19H6.3L1 13.7V6.3z"/><path d="m6.8 6.8 6.4 6.4m0-6.4-6.4 6.4" stroke="var(--card)" stroke-width="2"/>',
  degraded: '<path d="M10 1.5 19.5 18.5H.5z"/><path d="M10 7.5v5m0 1.6v2" stroke="var(--card)" stroke-width="2"/>',
  partial:
    '<circle cx="10" cy="10" r="8" fill="none" stroke="currentColor" stroke-width="2"/><path d="M10 2a8 8 0 0 1 0 16z"/>',
  maintenance: '<path d="M10 1 19 10 10 19 1 10z"/>',
  unknown: '<circle cx="10" cy="10" r="8" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="3 2"/>',
  paused: '<path d="M5 3h3.5v14H5zm6.5 0H15v14h-3.5z"/>',
};

/** Defined once for each page. */
const SYMBOLS = new Html(
  `<svg class="defs" aria-hidden="true">${Object.entries(SHAPES)
    .map(([state, shape]) => `<symbol id="i-${state}" viewBox="0 0 20 20" fill="currentColor">${shape}</symbol>`)
    .join("")}</svg>`,
);

export function icon(state: LineState): Html {
  return html`<svg class="i" aria-hidden="true"><use href="#i-${state}"/></svg>`;
}

export function frame({ title, language, place, mayBeIndexed, feeds }: FrameOptions, body: Html): string {
  const direction = FROM_RIGHT.has(language.split("-")[0]?.toLowerCase() ?? "") ? "rtl" : "ltr";
  const words = wordsIn(language);
  const robots = mayBeIndexed ? null : html`<meta name="robots" content="noindex">`;
  const links = feeds
    ? html`<link rel="alternate" type="application/atom+xml" href="${place.files}feed.atom${place.query}"><link rel="alternate" type="application/rss+xml" href="${place.files}feed.rss${place.query}"><link rel="alternate" type="application/feed+json" href="${place.files}feed.json${place.query}">`
    : null;
  return html`<!doctype html><html lang="${language}" dir="${direction}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${title}</title>${robots}<link rel="icon" href="data:,"><link rel="stylesheet" href="${place.files}style.css${place.query}">${links}</head><body><a class="skip" href="#main">${words.skip}</a>${SYMBOLS}<div class="page">${body}</div></body></html>`
    .markup;
}

export function footer(
  place: Addresses,
  { links, language }: Pick<PageSettings, "links" | "language">,
  badge: string | null,
): Html {
  const words = wordsIn(language);
  const more = [
    ...(links.home === null ? [] : [html`<a href="${links.home}">${words.home}</a>`]),
    ...(links.contact === null ? [] : [html`<a href="${links.contact}">${words.contact}</a>`]),
  ];
  const image = badge === null ? null : html`<a href="${badge}">${words.badge}</a>`;
  return html`<footer><nav aria-label="${words.subscribe}"><a href="${place.files}feed.atom${place.query}">Atom</a><a href="${place.files}feed.rss${place.query}">RSS</a><a href="${place.files}feed.json${place.query}">JSON</a>${image}${more}</nav><span>${words.powered}</span></footer>`;
}
