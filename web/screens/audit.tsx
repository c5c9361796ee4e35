/** What was changed in the workspace, and by whom. */
import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Exports } from "../parts/exports.tsx";
import { SelectField } from "../parts/field.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { Moment } from "../parts/time.tsx";
import type { Sheet } from "../state/sheet.ts";
import { type Key, number, t } from "../words/words.ts";
import { SettingsHead } from "./settings.tsx";

type Entry = Schemas["AuditEntry"];
const PAGE = 50;
/** Things whose changes are looked for most, by the API's words for them. */
const THINGS: readonly (readonly [string, Key])[] = [
  ["", "audit.all"],
  ["monitor", "nav.monitors"],
  ["subscription", "nav.subscriptions"],
  ["key", "nav.keys"],
  ["member", "members.title"],
  ["session", "sessions.title"],
  ["channel", "alerts.channels"],
  ["maintenance", "nav.maintenance"],
  ["status-page", "nav.statusPages"],
];

export function Audit() {
  const [offset, what] = [useSignal(0), useSignal("")];
  const list = useResource((signal) => {
    const query = { limit: PAGE, offset: offset.value, ...(what.value !== "" && { what: what.value }) };
    return data(client.GET("/audit", { params: { query }, signal }));
  }, `audit ${offset.value} ${what.value}`);
  return (
    <div class="screen">
      <SettingsHead title="nav.audit" />
      <div class="bar">
        <SelectField
          label={t("audit.what")}
          value={what.value}
          options={THINGS.map(([word, title]) => [word, t(title)] as const)}
          onValue={(word) => {
            offset.value = 0;
            what.value = word;
          }}
        />
        <Exports name="changes" sheet={() => sheetOf(list.state.peek().value?.entries ?? [])} />
      </div>
      <Show resource={list} rows={8}>
        {({ entries, total }) =>
          entries.length === 0 ? (
            <Empty icon="file-text" title={t("audit.empty")} />
          ) : (
            <>
              <Entries entries={entries} />
              <p class="pager">
                <button
                  type="button"
                  class="button small"
                  disabled={offset.value === 0}
                  onClick={() => (offset.value = Math.max(0, offset.value - PAGE))}
                >
                  {t("audit.newer")}
                </button>
                <span class="faint">
                  {`${number(offset.value + 1)}–${number(offset.value + entries.length)} / ${number(total)}`}
                </span>
                <button
                  type="button"
                  class="button small"
                  disabled={offset.value + entries.length >= total}
                  onClick={() => (offset.value += PAGE)}
                >
                  {t("audit.older")}
                </button>
              </p>
            </>
          )
        }
      </Show>
    </div>
  );
}

function Entries({ entries }: { entries: readonly Entry[] }) {
  return (
    <div class="card">
      <Table
        label={t("nav.audit")}
        heads={[
          t("col.time"),
          t("audit.actor"),
          t("audit.what"),
          t("audit.subject"),
          t("audit.detail"),
          t("audit.address"),
        ]}
        look="changes"
      >
        {entries.map(({ id, at, actor, what, subject, detail, address }) => (
          <tr key={id}>
            <td>
              <Moment at={at} />
            </td>
            <td dir="auto">{actor.name ?? "–"}</td>
            <td>
              <code>{what}</code>
            </td>
            <td dir="auto" class="cut-cell">
              {subject.name ?? subject.id ?? "–"}
            </td>
            <td class="cut-cell" title={detailText(detail)}>
              <code>{detailText(detail)}</code>
            </td>
            <td>
              <bdi>{address ?? "–"}</bdi>
            </td>
          </tr>
        ))}
      </Table>
    </div>
  );
}

function sheetOf(entries: readonly Entry[]): Sheet {
  return {
    heads: ["id", "at", "actor", "what", "subject_id", "subject_name", "detail", "address"],
    rows: entries.map(({ id, at, actor, what, subject, detail, address }) => [
      ...[id, at, actor.name, what, subject.id, subject.name, detailText(detail), address],
    ]),
  };
}

/** Names and counts, never values. */
function detailText(detail: Entry["detail"]): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(", ") : String(value)}`)
    .join("; ");
}
