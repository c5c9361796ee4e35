/** A status page as HTML: a view in, markup out. No script: what opens is `details`. Pure. */
import { type Addresses, footer, frame, icon } from "./frame.ts";
import { Html, html } from "./html.ts";
import { time } from "./times.ts";
import type { DayView, GroupView, IncidentView, LineView, StatusView, UpdateView } from "./view.ts";
import { wordsIn } from "./words.ts";
import type { PageWords } from "./words-en.ts";

/** Notes of an open incident that are shown here; the incident's page has all. */
const NOTES_SHOWN = 3;
/** Between two times. A constant, because the bundler cannot escape it in a tagged template (scripts/bundle.mjs). */
const TO = "–";

/** @param ageMs how old the view is where the store is away; null: it is as new as it should be */
export function statusPage(view: StatusView, place: Addresses, badges: string, ageMs: number | null): string {
  const { settings } = view;
  const words = wordsIn(settings.language);
  const open = view.incidents.filter(({ toMs }) => toMs === null);
  const past = view.incidents.filter(({ toMs }) => toMs !== null);
  const body = html`${head(view, place)}<main id="main">${view.isDraft ? html`<p class="card old">${words.draft}</p>` : null}${old(ageMs, words)}${headline(view)}${current(view)}${openOnes(view, open, place)}${maintenance(view)}${systems(view)}${pastOnes(view, past, place)}</main>${footer(place, settings, `${badges}${view.badge}/status.svg`)}`;
  return frame(
    { title: view.title, language: settings.language, place, mayBeIndexed: settings.index, feeds: true },
    body,
  );
}

function head({ title, hasLogo, words: text }: StatusView, place: Addresses): Html {
  const logo = hasLogo ? html`<img src="${place.files}logo${place.query}" alt="">` : null;
  return html`<header>${logo}<h1><bdi>${title}</bdi></h1></header>${text === null ? null : html`<div class="words">${text}</div>`}`;
}

function old(ageMs: number | null, words: PageWords): Html | null {
  return ageMs === null
    ? null
    : html`<p class="card old" role="status">${words.old(words.duration(ageMs / 1_000))}</p>`;
}

function headline({ state, settings, atMs, groups }: StatusView): Html {
  const words = wordsIn(settings.language);
  const text = groups.length === 0 ? words.noSystems : words.headlines[state];
  return html`<p class="head ${state}">${icon(state)}<span>${text}</span>${time(atMs, "clock", settings)}</p>`;
}

function current({ updates, settings }: StatusView): Html | null {
  const shown = updates.filter(({ isCurrent }) => isCurrent);
  if (shown.length === 0) return null;
  const words = wordsIn(settings.language);
  const cards = shown.map(
    (one: UpdateView) =>
      html`<article class="card told" id="u-${one.name}"><h3><bdi>${one.title}</bdi></h3><p class="soft">${words.levels[one.level]} · ${time(one.atMs, "moment", settings)}${one.endsAtMs === null ? null : html` ${TO} ${time(one.endsAtMs, "moment", settings)}`}</p><div class="words" dir="auto">${one.words}</div></article>`,
  );
  return html`<section aria-labelledby="h-said"><h2 id="h-said">${words.announcements}</h2>${cards}</section>`;
}

function openOnes({ settings, atMs }: StatusView, open: readonly IncidentView[], place: Addresses): Html | null {
  if (open.length === 0) return null;
  const words = wordsIn(settings.language);
  const cards = open.map((one) => {
    const newest = one.notes.slice(-NOTES_SHOWN).reverse();
    const state = one.level === "down" ? "down" : "degraded";
    return html`<article class="card told"><h3 class="${state}">${icon(state)} <a href="${place.files}incidents/${one.name}${place.query}"><bdi>${one.title}</bdi></a></h3><p class="soft">${words.since} ${time(one.fromMs, "moment", settings)} · ${words.duration((atMs - one.fromMs) / 1_000)}</p>${noteList(newest, settings)}</article>`;
  });
  return html`<section aria-labelledby="h-open"><h2 id="h-open">${words.open}</h2>${cards}</section>`;
}

export function noteList(notes: IncidentView["notes"], settings: StatusView["settings"]): Html | null {
  if (notes.length === 0) return null;
  const words = wordsIn(settings.language);
  const items = notes.map(
    (note) =>
      html`<li><p class="soft">${note.phase === null ? null : html`<b>${words.phases[note.phase]}</b> · `}${time(note.atMs, "moment", settings)}</p><div class="words" dir="auto">${note.words}</div></li>`,
  );
  return html`<ol class="notes">${items}</ol>`;
}

function maintenance({ maintenance: planned, settings }: StatusView): Html | null {
  if (planned.length === 0) return null;
  const words = wordsIn(settings.language);
  const items = planned.map(
    ({ titles, words: text, fromMs, untilMs }) =>
      html`<li class="maintenance">${icon("maintenance")} <bdi>${someOf(titles, words)}</bdi> <span class="soft">${time(fromMs, "moment", settings)} ${TO} ${time(untilMs, "moment", settings)}</span>${text === null ? null : html`<div class="words" dir="auto">${text}</div>`}</li>`,
  );
  return html`<section aria-labelledby="h-care"><h2 id="h-care">${words.maintenance}</h2><ul class="card told">${items}</ul></section>`;
}

function someOf(titles: readonly string[], words: PageWords): string {
  const shown = titles.slice(0, 5).join(", ");
  return titles.length > 5 ? `${shown}, ${words.more(titles.length - 5)}` : shown;
}

function systems({ groups, settings }: StatusView): Html | null {
  if (groups.length === 0) return null;
  return html`<section aria-labelledby="h-all"><h2 id="h-all">${wordsIn(settings.language).systems}</h2>${groups.map((group) => groupOf(group, settings))}</section>`;
}

function groupOf({ title, state, uptime, isOpen, lines }: GroupView, settings: StatusView["settings"]): Html {
  const words = wordsIn(settings.language);
  const number = uptime === null ? null : html`<span class="num soft">${words.percent(uptime)}</span>`;
  return html`<details class="group"${isOpen ? new Html(" open") : null}><summary class="${state}"><h3><bdi>${title}</bdi></h3>${number}${icon(state)}<span class="state ${state}">${words.states[state]}</span></summary><ul class="lines">${lines.map((line) => lineOf(line, settings))}</ul></details>`;
}

function lineOf(line: LineView, { days, show, language }: StatusView["settings"]): Html {
  const words = wordsIn(language);
  const { title, text, state, share, uptime } = line;
  const facts = [
    ...(share === null ? [] : [html`${words.share(share.works, share.known)}`]),
    ...(text === "" ? [] : [html`<bdi>${text}</bdi>`]),
    ...(line.latencyMs === null ? [] : [html`<span class="num">${words.latency(line.latencyMs)}</span>`]),
    ...(line.certificateDays === null ? [] : [html`${words.certificate(line.certificateDays)}`]),
    ...(show.uptime && uptime !== null ? [html`<span class="num">${words.percent(uptime)}</span>`] : []),
  ].map((fact, at) => (at === 0 ? fact : html` · ${fact}`));
  return html`<li class="line"><span class="name"><bdi>${title}</bdi></span><span class="state ${state}">${icon(state)}${words.states[state]}</span>${bar(line.days, words)}<p class="about soft"><span>${words.daysAgo(days)}</span><span>${facts}</span><span>${words.today}</span></p></li>`;
}

/** Days that look the same and have no text are one stroke with gaps in it; each of the others is one with its own words. */
export function bar(days: readonly DayView[], words: PageWords): Html {
  const troubled = days.filter(({ downS }) => downS > 0);
  const downS = troubled.reduce((sum, day) => sum + day.downS, 0);
  const strokes: Html[] = [];
  for (let from = 0; from < days.length; ) {
    const day = days[from] as DayView;
    let until = from + 1;
    while (day.downS === 0 && days[until]?.look === day.look && days[until]?.downS === 0) until += 1;
    strokes.push(stroke(day, from, until, words));
    from = until;
  }
  const label = words.barLabel(days.length, troubled.length, downS);
  return html`<svg class="bar" role="img" aria-label="${label}" viewBox="0 0 ${days.length * 4 - 1} 26" preserveAspectRatio="none">${strokes}</svg>`;
}

function stroke({ look, date, downS }: DayView, from: number, until: number, words: PageWords): Html {
  const path = html`<path class="${look}" d="M${from * 4} 13h${(until - from) * 4 - 1}"`;
  if (downS === 0) return html`${path}/>`;
  return html`${path}><title>${date}: ${words.looks[look]} ${words.duration(downS)}</title></path>`;
}

function pastOnes({ settings, updates }: StatusView, past: readonly IncidentView[], place: Addresses): Html | null {
  const said = updates.filter(({ isCurrent }) => !isCurrent);
  const rows = [
    ...past.map((one) => ({ atMs: one.fromMs, row: incidentRow(one, settings, place) })),
    ...said.map((one) => ({ atMs: one.atMs, row: updateRow(one, settings) })),
  ].sort((one, other) => other.atMs - one.atMs);
  const { incidentsDays } = settings.show;
  const words = wordsIn(settings.language);
  if (rows.length === 0 && incidentsDays === 0) return null;
  const list =
    rows.length === 0
      ? html`<p class="soft">${words.noPast(incidentsDays)}</p>`
      : html`<ul class="past">${rows.map(({ row }) => row)}</ul>`;
  return html`<section aria-labelledby="h-past"><h2 id="h-past">${words.past}</h2>${list}</section>`;
}

function incidentRow(one: IncidentView, settings: StatusView["settings"], place: Addresses): Html {
  const words = wordsIn(settings.language);
  const lasted = words.duration(((one.toMs ?? one.fromMs) - one.fromMs) / 1_000);
  const why = one.postmortem === null ? null : html` · ${words.why}`;
  return html`<li>${time(one.fromMs, "day", settings)}<a href="${place.files}incidents/${one.name}${place.query}"><bdi>${one.title}</bdi></a><span class="more soft">${lasted} · ${words.resolved}${why}</span></li>`;
}

function updateRow(one: UpdateView, settings: StatusView["settings"]): Html {
  return html`<li id="u-${one.name}">${time(one.atMs, "day", settings)}<div class="told"><b><bdi>${one.title}</bdi></b><div class="words" dir="auto">${one.words}</div></div><span class="more soft">${wordsIn(settings.language).levels[one.level]}</span></li>`;
}
