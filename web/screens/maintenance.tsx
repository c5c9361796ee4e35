/** When monitors may fail without an alert: now, next, past. */

import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { AddButton } from "../parts/icon-button.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { Moment } from "../parts/time.tsx";
import { attempt } from "../state/notices.ts";
import { loadOverview } from "../state/project.ts";
import { replaceParameter, route } from "../state/route.ts";
import { canEdit } from "../state/session.ts";
import { t } from "../words/words.ts";
import { EditMaintenance } from "./maintenance-form.tsx";
import { type Schedule, Schedules } from "./maintenance-schedules.tsx";

type Row = Schemas["Maintenance"];
const MOST = 500;
const RELOAD_MS = 30_000;

export function Maintenance() {
  // A monitor's own screen leads here.
  const monitor = route.value.query.get("monitor");
  const editing = useSignal<Schedule | "new" | null>(monitor !== null && canEdit.peek() ? "new" : null);
  const list = useResource(
    (signal) => data(client.GET("/maintenances", { params: { query: { limit: MOST } }, signal })),
    "maintenances",
    RELOAD_MS,
  );
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>{t("nav.maintenance")}</h1>
        {canEdit.value && <AddButton label={t("maintenance.add")} act={() => (editing.value = "new")} />}
      </header>
      <Show resource={list} rows={6}>
        {({ maintenances, schedules }) =>
          maintenances.length + schedules.length === 0 ? (
            <Empty icon="calendar-clock" title={t("maintenance.empty")}>
              <p>{t("maintenance.emptyText")}</p>
            </Empty>
          ) : (
            <>
              {schedules.length > 0 && (
                <Schedules
                  schedules={schedules}
                  edit={(schedule) => (editing.value = schedule)}
                  changed={list.reload}
                />
              )}
              {maintenances.length > 0 && <List rows={maintenances} changed={list.reload} />}
            </>
          )
        }
      </Show>
      {editing.value !== null && (
        <EditMaintenance
          schedule={editing.value === "new" ? null : editing.value}
          line={monitor === null ? "" : `id:${monitor}`}
          close={() => {
            editing.value = null;
            replaceParameter("monitor", "");
          }}
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
      <Table
        label={t("nav.maintenance")}
        heads={[t("col.state"), t("col.monitor"), t("maintenance.starts"), t("maintenance.ends")]}
        hasActs
      >
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
      </Table>
    </div>
  );
}
