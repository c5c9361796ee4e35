/** When monitors may fail without an alert: now, next, past. */

import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Confirm } from "../parts/dialog.tsx";
import { TextField } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { Scroll } from "../parts/scroll.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { Moment } from "../parts/time.tsx";
import { attempt, say } from "../state/notices.ts";
import { loadOverview, serviceNow, shown } from "../state/project.ts";
import { canEdit } from "../state/session.ts";
import { t } from "../words/words.ts";

type Row = Schemas["Maintenance"];
const MOST = 500;
const RELOAD_MS = 30_000;
const HOUR_MS = 3_600_000;

export function Maintenance() {
  const adding = useSignal(false);
  const list = useResource(
    (signal) => data(client.GET("/maintenances", { params: { query: { limit: MOST } }, signal })),
    "maintenances",
    RELOAD_MS,
  );
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>{t("nav.maintenance")}</h1>
        {canEdit.value && (
          <button type="button" class="button primary" onClick={() => (adding.value = true)}>
            <Icon name="plus" size={16} /> {t("maintenance.add")}
          </button>
        )}
      </header>
      <Show resource={list} rows={6}>
        {({ maintenances }) =>
          maintenances.length === 0 ? (
            <Empty icon="calendar-clock" title={t("maintenance.empty")}>
              <p>{t("maintenance.emptyText")}</p>
            </Empty>
          ) : (
            <List rows={maintenances} changed={list.reload} />
          )
        }
      </Show>
      {adding.value && (
        <Add
          close={() => (adding.value = false)}
          changed={() => {
            list.reload();
            void loadOverview();
          }}
        />
      )}
    </div>
  );
}

function List({ rows, changed }: { rows: readonly Row[]; changed: () => void }) {
  const end = (row: Row) =>
    void attempt(
      () => data(client.POST("/maintenances/{id}/end", { params: { path: { id: row.id } } })),
      t("maintenance.ended", { name: row.server_name }),
    ).then((done) => done && changed());
  return (
    <div class="card">
      <Scroll label={t("nav.maintenance")}>
        <table class="table" aria-label={t("nav.maintenance")}>
          <thead>
            <tr>
              <th scope="col">{t("col.state")}</th>
              <th scope="col">{t("col.monitor")}</th>
              <th scope="col">{t("maintenance.starts")}</th>
              <th scope="col">{t("maintenance.ends")}</th>
              <th scope="col">
                <span class="sr-only">{t("col.acts")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                <td>
                  <span class={`tag state-${row.state}`}>{t(`maintenance.state.${row.state}`)}</span>
                </td>
                <td>
                  <a href={`#/monitors/${row.server_id}`} dir="auto">
                    {row.server_name}
                  </a>
                </td>
                <td>
                  <Moment at={row.starts_at} />
                </td>
                <td>
                  <Moment at={row.ends_at} />
                </td>
                <td class="end">
                  {row.state !== "ended" && canEdit.value && (
                    <button
                      type="button"
                      class="button small"
                      aria-label={t("maintenance.endOf", { name: row.server_name })}
                      onClick={() => end(row)}
                    >
                      {t("maintenance.end")}
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </div>
  );
}

/** As `<input type=datetime-local>` has it: the reader's own zone, without seconds. */
function localText(atMs: number): string {
  const at = new Date(atMs);
  return new Date(atMs - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function Add({ close, changed }: { close: () => void; changed: () => void }) {
  const starts = useSignal(localText(serviceNow()));
  const ends = useSignal(localText(serviceNow() + HOUR_MS));
  const tag = useSignal("");
  const act = async () => {
    const wanted = tag.value.trim().toLowerCase();
    if (wanted === "") throw new Error(t("maintenance.needsTag"));
    const body = {
      tag: wanted,
      starts_at: new Date(starts.value).toISOString(),
      ends_at: new Date(ends.value).toISOString(),
    };
    const made = await data(client.POST("/maintenances", { body }));
    say(t("maintenance.added", { n: "total" in made ? made.total : 0 }));
    changed();
  };
  return (
    <Confirm title={t("maintenance.add")} close={close} confirm={t("act.save")} act={act}>
      <TextField
        label={t("maintenance.tag")}
        hint={t("maintenance.tagHint")}
        value={tag.value}
        onValue={(text) => (tag.value = text)}
        list="tags"
      />
      <datalist id="tags">
        {(shown.value?.columns.tags ?? []).map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <div class="pair">
        <TextField
          label={t("maintenance.starts")}
          type="datetime-local"
          required
          value={starts.value}
          onValue={(text) => (starts.value = text)}
        />
        <TextField
          label={t("maintenance.ends")}
          type="datetime-local"
          required
          value={ends.value}
          onValue={(text) => (ends.value = text)}
        />
      </div>
    </Confirm>
  );
}
