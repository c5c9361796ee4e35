/** What happened on a page as Atom, RSS and JSON: incidents and announcements, the newest first. */
import { Feed } from "feed";
import { formatIso } from "../../model/time.ts";
import { escaped, plain } from "./html.ts";
import type { StatusView } from "./view.ts";
import { wordsIn } from "./words.ts";

export const FEEDS = {
  "feed.atom": "application/atom+xml; charset=utf-8",
  "feed.rss": "application/rss+xml; charset=utf-8",
  "feed.json": "application/feed+json; charset=utf-8",
} as const;

/** The library writes titles and contents as CDATA, and takes the first end within them alone apart: a second would let a name write elements. */
const CDATA_END = "]]>";

function withoutEnd(text: string): string {
  return text.replaceAll(CDATA_END, "]] >");
}

interface Entry {
  readonly name: string;
  readonly title: string;
  readonly link: string;
  readonly content: string;
  readonly atMs: number;
  readonly changedAtMs: number;
}

/** @param address of the page, without a slash at the end @param query behind every address of the page */
export function feedOf(
  view: StatusView,
  form: keyof typeof FEEDS,
  address: string,
  files: string,
  query: string,
): string {
  const entries = entriesOf(view, address, files, query);
  const feed = new Feed({
    id: address,
    title: view.title,
    link: `${address}${query}`,
    language: view.settings.language,
    updated: new Date(entries.reduce((latest, one) => Math.max(latest, one.changedAtMs), 0) || view.atMs),
    generator: "Sonde",
    // Atom has an author (RFC 4287 section 4.1.1), RSS a description.
    ...(form === "feed.rss" ? { description: view.title } : { author: { name: view.title } }),
    feedLinks: {
      atom: `${files}feed.atom${query}`,
      rss: `${files}feed.rss${query}`,
      json: `${files}feed.json${query}`,
    },
  });
  for (const { name, title, link, content, atMs, changedAtMs } of entries)
    feed.addItem({
      id: `${address}#${name}`,
      guid: `${address}#${name}`,
      // The library says of an Atom title that it is HTML (RFC 4287 section 3.1.1.2), so a text in it is written as HTML.
      title: form === "feed.atom" ? escaped(title) : form === "feed.rss" ? withoutEnd(title) : title,
      link,
      content: form === "feed.json" ? content : content.replaceAll(CDATA_END, "]]&gt;"),
      date: new Date(changedAtMs),
      published: new Date(atMs),
    });
  if (form === "feed.atom") return feed.atom1();
  return form === "feed.rss" ? feed.rss2() : feed.json1();
}

function entriesOf(view: StatusView, address: string, files: string, query: string): readonly Entry[] {
  const words = wordsIn(view.settings.language);
  const incidents = view.incidents.map((one): Entry => {
    const notes = one.notes.map((note) => {
      const phase = note.phase === null ? "" : `<b>${words.phases[note.phase]}</b> `;
      return `<p>${phase}${formatIso(note.atMs)}</p>${note.words.markup}`;
    });
    const state =
      one.toMs === null
        ? `<p>${words.since} ${formatIso(one.fromMs)}, ${words.ongoing}</p>`
        : `<p>${words.resolved}: ${formatIso(one.fromMs)} – ${formatIso(one.toMs)} (${words.duration((one.toMs - one.fromMs) / 1_000)})</p>`;
    const why = one.postmortem === null ? "" : `<h2>${words.postmortem}</h2>${one.postmortem.markup}`;
    return {
      name: one.name,
      title: one.title,
      link: `${files}incidents/${one.name}${query}`,
      content: state + notes.reverse().join("") + why,
      atMs: one.fromMs,
      changedAtMs: Math.max(one.fromMs, one.toMs ?? 0, ...one.notes.map(({ atMs }) => atMs)),
    };
  });
  const updates = view.updates.map(
    (one): Entry => ({
      name: one.name,
      title: `${words.levels[one.level]}: ${plain(one.title)}`,
      link: `${address}${query}#u-${one.name}`,
      content: one.words.markup,
      atMs: one.atMs,
      changedAtMs: one.atMs,
    }),
  );
  return [...incidents, ...updates].sort((one, other) => other.changedAtMs - one.changedAtMs);
}
