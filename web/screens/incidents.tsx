/** What is going on now first, then what was, by day. */
import { useSignal } from "@preact/signals";
import { useState } from "preact/hooks";
import { client, data, type Schemas } from "../api/client.ts";
import { useReloadOn, useResource } from "../api/resource.ts";
import { Confirm } from "../parts/dialog.tsx";
import { TextField } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { IncidentLine } from "../parts/incident-line.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { say } from "../state/notices.ts";
import { counts, incidentNews } from "../state/project.ts";
import { route } from "../state/route.ts";
import { canEdit } from "../state/session.ts";
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
  useReloadOn(list, `${incidentNews.value} ${counts.value?.down}`);
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>{t("nav.incidents")}</h1>
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
  const asking = useSignal(false);
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
      <section class="card" aria-labelledby="open">
        <header class="card-head">
          <h2 id="open">{t("incidents.open", { n: open.length })}</h2>
          {canEdit.value && fresh.length > 1 && (
            <button type="button" class="button small" onClick={() => (asking.value = true)}>
              <Icon name="check-check" size={14} /> {t("incidents.acknowledgeAll", { n: fresh.length })}
            </button>
          )}
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
      {asking.value && <AcknowledgeAll ids={fresh} close={() => (asking.value = false)} changed={changed} />}
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

/** @param ids as they were when the dialog was opened are those that it is about */
function AcknowledgeAll({ ids, close, changed }: { ids: readonly string[]; close: () => void; changed: () => void }) {
  const note = useSignal("");
  const [asked] = useState(ids);
  return (
    <Confirm
      title={t("incidents.acknowledgeMany")}
      close={close}
      confirm={t("incident.acknowledge")}
      act={async () => {
        const body = { ids: [...asked], note: note.value.trim() === "" ? null : note.value };
        const { acknowledged } = await data(client.POST("/incidents/acknowledge", { body }));
        say(t("incidents.acknowledged", { n: acknowledged }));
        changed();
      }}
    >
      <p>{t("incidents.acknowledgeText", { n: asked.length })}</p>
      <TextField
        label={t("incident.ackNote")}
        maxLength={500}
        value={note.value}
        onValue={(text) => (note.value = text)}
      />
    </Confirm>
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
