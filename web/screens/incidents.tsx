/** What is going on now first, then what was, by day. */
import { client, data, type Schemas } from "../api/client.ts";
import { useReloadOn, useResource } from "../api/resource.ts";
import { AcknowledgeAll } from "../parts/acknowledge-all.tsx";
import { Card } from "../parts/card.tsx";
import { Exports } from "../parts/exports.tsx";
import { IncidentLine } from "../parts/incident-line.tsx";
import { SharedHosts } from "../parts/shared-hosts.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { incidentState } from "../state/project.ts";
import { route } from "../state/route.ts";
import { canEdit } from "../state/session.ts";
import type { Sheet } from "../state/sheet.ts";
import { day, timeOf } from "../words/times.ts";
import { t } from "../words/words.ts";
import { IncidentsFilter, incidentQuery } from "./incidents-filter.tsx";

type Row = Schemas["IncidentRow"];
const MOST = 200;
/** Beside what the live stream says, ms. */
const RELOAD_MS = 30_000;

export function Incidents() {
  const query = incidentQuery(route.value.query);
  const isNarrowed = Object.keys(query).length > 0;
  const list = useResource(
    (signal) => data(client.GET("/incidents", { params: { query: { limit: MOST, ...query } }, signal })),
    `incidents ${JSON.stringify(query)}`,
    RELOAD_MS,
  );
  useReloadOn(list, incidentState.value);
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>{t("nav.incidents")}</h1>
        {(list.state.value.value?.incidents.length ?? 0) > 0 && (
          <Exports name="incidents" sheet={() => sheetOf(list.state.peek().value?.incidents ?? [])} />
        )}
      </header>
      <IncidentsFilter />
      <Show resource={list} rows={8}>
        {({ incidents }) => <List incidents={incidents} isNarrowed={isNarrowed} changed={list.reload} />}
      </Show>
    </div>
  );
}

function List({
  incidents,
  isNarrowed,
  changed,
}: {
  incidents: readonly Row[];
  isNarrowed: boolean;
  changed: () => void;
}) {
  const open = incidents.filter(({ status }) => status === "active");
  const fresh = open.filter(({ acknowledged }) => !acknowledged).map(({ id }) => id);
  const days = byDay(incidents.filter(({ status }) => status !== "active"));
  if (incidents.length === 0)
    return isNarrowed ? (
      <p class="hint">{t("incidents.noneFound")}</p>
    ) : (
      <Empty icon="circle-check" title={t("incidents.empty")}>
        <p>{t("incidents.emptyText")}</p>
      </Empty>
    );
  return (
    <>
      <Card
        id="open"
        title={t("incidents.open", { n: open.length })}
        beside={canEdit.value && <AcknowledgeAll ids={fresh} changed={changed} />}
      >
        <SharedHosts incidents={open} only={null} changed={changed} />
        {open.length === 0 ? (
          <p class="hint">{t("incidents.noneOpen")}</p>
        ) : (
          <ul class="incident-list">
            {open.map((incident) => (
              <IncidentLine key={incident.id} incident={incident} changed={changed} />
            ))}
          </ul>
        )}
      </Card>
      {days.map(({ name, rows }) => (
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

const FIELDS = [
  ...(["id", "server_id", "server_name", "severity", "status", "error_type", "error_message"] as const),
  ...(["started_at", "ended_at", "acknowledged"] as const),
];

function sheetOf(incidents: readonly Row[]): Sheet {
  return { heads: FIELDS, rows: incidents.map((row) => FIELDS.map((name) => row[name])) };
}

function byDay(incidents: readonly Row[]): readonly { readonly name: string; readonly rows: readonly Row[] }[] {
  const days = new Map<string, Row[]>();
  for (const incident of incidents) {
    const name = day(timeOf(incident.started_at));
    days.set(name, [...(days.get(name) ?? []), incident]);
  }
  return [...days].map(([name, rows]) => ({ name, rows }));
}
