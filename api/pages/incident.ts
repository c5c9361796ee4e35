/** The page of one incident: what was written about it, and why it happened. Pure. */
import { type Addresses, footer, frame, icon } from "./frame.ts";
import { html } from "./html.ts";
import { noteList } from "./status.ts";
import { time } from "./times.ts";
import type { IncidentView, StatusView } from "./view.ts";
import { wordsIn } from "./words.ts";

export function incidentPage(view: StatusView, incident: IncidentView, place: Addresses): string {
  const { settings } = view;
  const words = wordsIn(settings.language);
  const { title, level, fromMs, toMs, notes, postmortem } = incident;
  const state = toMs === null ? level : "works";
  const end =
    toMs === null
      ? html`<dt>${words.ended}</dt><dd>${words.ongoing}</dd>`
      : html`<dt>${words.ended}</dt><dd>${time(toMs, "moment", settings)}</dd>`;
  const lasted = words.duration(((toMs ?? view.atMs) - fromMs) / 1_000);
  const why =
    postmortem === null
      ? null
      : html`<section aria-labelledby="h-why"><h2 id="h-why">${words.postmortem}</h2><div class="card words" dir="auto">${postmortem}</div></section>`;
  const said =
    notes.length === 0
      ? html`<p class="soft">${words.noNotes}</p>`
      : html`<div class="card">${noteList([...notes].reverse(), settings)}</div>`;
  const facts = html`<dl class="card"><dt>${words.began}</dt><dd>${time(fromMs, "moment", settings)}</dd>${end}<dt>${words.lasted}</dt><dd>${lasted}</dd></dl>`;
  const body = html`<header><h1><bdi>${title}</bdi></h1></header><p><a href="${place.page}${place.query}">${words.back}</a> · <bdi>${view.title}</bdi></p><main id="main"><p class="head ${state}">${icon(state)}<span>${toMs === null ? words.states[level] : words.resolved}</span></p>${facts}${why}<section aria-labelledby="h-said"><h2 id="h-said">${words.updates}</h2>${said}</section></main>${footer(place, settings, null)}`;
  return frame(
    {
      title: `${title} – ${view.title}`,
      language: settings.language,
      place,
      mayBeIndexed: settings.index,
      feeds: true,
    },
    body,
  );
}
