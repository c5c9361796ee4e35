/** What is going on now first, then what was, by day. */
import { useComputed } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { IncidentLine } from "../parts/incident-line.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { counts, incidentNews } from "../state/project.ts";
import { day, timeOf } from "../words/times.ts";
import { t } from "../words/words.ts";

type Row = Schemas["IncidentRow"];
const MOST = 200;
/** Beside what the live stream says, ms. */
const RELOAD_MS = 30_000;

export function Incidents() {
  const list = useResource(
    (signal) => data(client.GET("/incidents", { params: { query: { limit: MOST } }, signal })),
    `incidents ${incidentNews.value} ${counts.value?.down}`,
    RELOAD_MS,
  );
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>{t("nav.incidents")}</h1>
      </header>
      <Show resource={list} rows={8}>
        {({ incidents }) => <List incidents={incidents} changed={list.reload} />}
      </Show>
    </div>
  );
}

function List({ incidents, changed }: { incidents: readonly Row[]; changed: () => void }) {
  const open = incidents.filter(({ status }) => status === "active");
  const days = useComputed(() => byDay(incidents.filter(({ status }) => status !== "active")));
  if (incidents.length === 0)
    return (
      <Empty icon="circle-check" title={t("incidents.empty")}>
        <p>{t("incidents.emptyText")}</p>
      </Empty>
    );
  return (
    <>
      <section class="card" aria-labelledby="open">
        <header class="card-head">
          <h2 id="open">{t("incidents.open", { n: open.length })}</h2>
        </header>
        {open.length === 0 ? (
          <p class="hint">{t("incidents.noneOpen")}</p>
        ) : (
          <ul class="incident-list">
            {open.map((incident) => (
              <IncidentLine key={incident.id} incident={incident} changed={changed} />
            ))}
          </ul>
        )}
      </section>
      {days.value.map(({ name, rows }) => (
        <section class="card" key={name} aria-label={name}>
          <header class="card-head">
            <h2>{name}</h2>
          </header>
          <ul class="incident-list">
            {rows.map((incident) => (
              <IncidentLine key={incident.id} incident={incident} changed={changed} />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function byDay(incidents: readonly Row[]): readonly { readonly name: string; readonly rows: readonly Row[] }[] {
  const days = new Map<string, Row[]>();
  for (const incident of incidents) {
    const name = day(timeOf(incident.started_at));
    days.set(name, [...(days.get(name) ?? []), incident]);
  }
  return [...days].map(([name, rows]) => ({ name, rows }));
}
