/** All monitors in one dense table: 10,000 rows, of which those in view are in the document. */
import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { BulkBar } from "../parts/bulk.tsx";
import { Exports } from "../parts/exports.tsx";
import { CheckField } from "../parts/field.tsx";
import { FilterLine, StatusCounts } from "../parts/filter-line.tsx";
import { Icon } from "../parts/icon.tsx";
import { useMedia } from "../parts/media.ts";
import { MiniBeats } from "../parts/mini-beats.tsx";
import { WindowedBody } from "../parts/rows.tsx";
import { SavedViews } from "../parts/saved-views.tsx";
import { Empty, Failed, Skeleton } from "../parts/states.tsx";
import { StatusWord } from "../parts/status.tsx";
import { type ColumnName, columnsOf, FIXED_COLUMNS, type Room, withColumn } from "../state/columns.ts";
import { withValue } from "../state/filter.ts";
import { type MonitorEntry, SORTS, type Sort, sorted } from "../state/monitors.ts";
import { chosenColumns } from "../state/prefs.ts";
import { filterLine, loadOverview, overviewError, revision, selected, serviceNow, shown } from "../state/project.ts";
import { recentOf, uptimeOf, wantRecent } from "../state/recent.ts";
import { replaceParameter, route } from "../state/route.ts";
import { areAllChosen, choose, chooseAll, chosenIds } from "../state/selection.ts";
import { canEdit, project } from "../state/session.ts";
import type { Sheet } from "../state/sheet.ts";
import { ago, duration, milliseconds, seconds, utc } from "../words/times.ts";
import { type Key, number, percent, t } from "../words/words.ts";

/** Height of a row, CSS px; web/look/screens.css has the same. */
const ROW_PX = { wide: 37, phone: 65 } as const;

export function Monitors() {
  const all = shown.value;
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>{t("nav.monitors")}</h1>
        {canEdit.value && (
          <a class="button primary" href="#/monitors/new">
            <Icon name="plus" size={16} /> {t("monitors.add")}
          </a>
        )}
      </header>
      {overviewError.value !== null && <Failed message={overviewError.value} again={() => void loadOverview()} />}
      {all === null ? (
        overviewError.value === null && <Skeleton rows={12} />
      ) : all.entries.length === 0 ? (
        <Empty icon="activity" title={t("overview.empty")}>
          <p>{t("overview.emptyText")}</p>
        </Empty>
      ) : (
        <Table />
      )}
    </div>
  );
}

interface Column {
  readonly name: ColumnName | "check";
  readonly title: Key;
  /** What is told more when the pointer rests on it. */
  readonly more?: (entry: MonitorEntry) => string;
  /** Of the grid that each row is. */
  readonly width: string;
  readonly sort?: Sort;
  readonly cell: (entry: MonitorEntry) => unknown;
}

const CHECK: Column = {
  name: "check",
  title: "bulk.all",
  width: "44px",
  cell: ({ id, name }) => (
    <input
      type="checkbox"
      aria-label={t("bulk.one", { name })}
      checked={chosenIds.value.has(id)}
      onChange={(event) => choose(id, event.currentTarget.checked)}
    />
  ),
};

const COLUMNS: readonly Column[] = [
  {
    name: "status",
    title: "col.status",
    width: "136px",
    sort: "status",
    cell: ({ status }) => <StatusWord status={status} />,
  },
  {
    name: "name",
    more: ({ name }) => name,
    title: "col.name",
    width: "minmax(min(240px, 22vw), 1fr)",
    sort: "name",
    cell: ({ id, name, tags }) => (
      <>
        <a class="cut" href={`#/monitors/${id}`}>
          {name}
        </a>
        <Tags tags={tags} />
      </>
    ),
  },
  { name: "kind", title: "col.kind", width: "minmax(0, 116px)", sort: "kind", cell: ({ kind }) => kind },
  {
    name: "latency",
    title: "col.latency",
    width: "minmax(0, 96px)",
    sort: "latency",
    cell: ({ latencyMs }) => milliseconds(latencyMs),
  },
  {
    name: "p95",
    title: "col.p95",
    width: "minmax(0, 84px)",
    more: () => t("latency.p95"),
    cell: ({ id }) => milliseconds(recentOf(id)?.p95Ms ?? null),
  },
  { name: "beats", title: "col.beats", width: "minmax(0, 160px)", cell: ({ id }) => <MiniBeats id={id} /> },
  {
    name: "uptime",
    title: "col.uptime",
    width: "minmax(0, 112px)",
    cell: ({ id }) => {
      const uptime = uptimeOf(id);
      return typeof uptime === "number" ? percent(uptime) : "–";
    },
  },
  {
    name: "interval",
    title: "col.interval",
    width: "minmax(0, 92px)",
    cell: ({ intervalS }) => (intervalS === null ? "–" : seconds(intervalS)),
  },
  {
    name: "since",
    title: "col.since",
    width: "minmax(0, 124px)",
    more: ({ sinceMs }) => (sinceMs === null ? "" : utc(sinceMs)),
    cell: ({ sinceMs }) => (sinceMs === null ? "–" : duration(serviceNow() - sinceMs)),
  },
  {
    name: "checked",
    title: "col.checked",
    width: "minmax(0, 120px)",
    sort: "checked",
    more: ({ checkedAtMs }) => (checkedAtMs === null ? "" : utc(checkedAtMs)),
    cell: ({ checkedAtMs }) => (checkedAtMs === null ? "–" : ago(checkedAtMs, serviceNow())),
  },
];
/** With more columns, what does not fit its own is cut. */
const MOST_ROOMY = 7;
/** Between two readings of what is in view, ms. */
const RECENT_MS = 15_000;
/** In a row; the others are on the monitor's screen. */
const MOST_TAGS = 2;

function Tags({ tags }: { tags: readonly string[] }) {
  return (
    <>
      {tags.slice(0, MOST_TAGS).map((tag, place) => (
        // By place: a row that shows another monitor keeps its elements.
        <button
          key={place}
          type="button"
          class="tag"
          title={tag}
          onClick={() => replaceParameter("q", withValue(filterLine.value, "tag", tag))}
        >
          {tag}
        </button>
      ))}
      {tags.length > MOST_TAGS && (
        <bdi class="faint" dir="ltr">
          {`+${number(tags.length - MOST_TAGS)}`}
        </bdi>
      )}
    </>
  );
}

/** What the address says of the order: `name`, or `-latency` for the other direction. */
function orderOf(text: string | null): { readonly sort: Sort; readonly descending: boolean } {
  const descending = text?.startsWith("-") ?? false;
  const word = descending ? text?.slice(1) : text;
  return { sort: SORTS.find((sort) => sort === word) ?? "status", descending };
}

const idOf = ({ id }: MonitorEntry) => id;

/** Of one row, which is drawn again when something has changed in its entry. */
function cellsOf(columns: readonly Column[], entry: MonitorEntry) {
  revision.value;
  return columns.map((column) => cellOf(column, entry));
}

function cellOf({ name, cell }: Column, entry: MonitorEntry) {
  return (
    <td key={name} class={`c-${name}`}>
      {cell(entry) as never}
    </td>
  );
}

/** What can be read of a row that passes. */
const READ_IN_PASSING: ReadonlySet<string> = new Set(["status", "name"]);

/** The other cells stay as they were drawn, for another monitor, and are hidden. */
function passingCells(columns: readonly Column[], entry: MonitorEntry, drawn: ComponentChildren) {
  revision.value;
  const before = Array.isArray(drawn) ? drawn : [];
  return columns.map((column, place) =>
    READ_IN_PASSING.has(column.name) ? cellOf(column, entry) : (before[place] ?? cellOf(column, entry)),
  );
}

function Table() {
  const order = useComputed(() => orderOf(route.value.query.get("sort")));
  const rows = useComputed(() => sorted(selected.value, order.value.sort, order.value.descending));
  const isPhone = useMedia("(max-width: 700px)");
  const room = useRoom();
  const names = columnsOf(route.value.query.get("columns") ?? chosenColumns.value, room);
  const columns = useMemo(() => {
    const shownColumns = COLUMNS.filter(({ name }) => name !== "check" && names.includes(name));
    return canEdit.value ? [CHECK, ...shownColumns] : shownColumns;
  }, [names.join(), canEdit.value]);
  const rest = useRecent(isPhone ? [] : names);
  // Set when it is wanted: rows that are scrolled change often.
  const tellMore = ({ target }: PointerEvent) => {
    const cell = (target as Element).closest?.("td");
    const entry = rows.value[Number(cell?.closest("tr")?.ariaRowIndex) - 2];
    if (cell && entry !== undefined) cell.title = columns[cell.cellIndex]?.more?.(entry) ?? "";
  };
  const cells = useCallback((entry: MonitorEntry) => cellsOf(columns, entry), [columns]);
  const passing = useCallback(
    (entry: MonitorEntry, drawn: ComponentChildren) => passingCells(columns, entry, drawn),
    [columns],
  );
  return (
    <>
      <div class="bar">
        <FilterLine />
        {!isPhone && <Chooser names={names} />}
        <Exports name="monitors" sheet={() => sheetOf(rows.peek())} />
      </div>
      <SavedViews />
      <StatusCounts />
      <BulkBar />
      <table
        class={names.length > MOST_ROOMY ? "table windowed monitors dense" : "table windowed monitors"}
        style={{ "--columns": columns.map(({ width }) => width).join(" ") }}
        aria-label={t("nav.monitors")}
        aria-rowcount={rows.value.length + 1}
        onPointerOver={tellMore}
      >
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.name} column={column} order={order.value} />
            ))}
          </tr>
        </thead>
        <WindowedBody
          items={rows.value}
          rowPx={isPhone ? ROW_PX.phone : ROW_PX.wide}
          idOf={idOf}
          cells={cells}
          passing={passing}
          rest={rest}
        />
      </table>
      {rows.value.length === 0 && <p class="hint">{t("filter.none")}</p>}
    </>
  );
}

const HEADS = "id name kind status latency_ms interval_s since last_checked tags subscription".split(" ");

function sheetOf(entries: readonly MonitorEntry[]): Sheet {
  const time = (atMs: number | null) => (atMs === null ? null : new Date(atMs).toISOString());
  return {
    heads: HEADS,
    rows: entries.map(({ id, name, kind, status, latencyMs, intervalS, sinceMs, checkedAtMs, tags, subscription }) => [
      ...[id, name, kind, status, latencyMs, intervalS, time(sinceMs), time(checkedAtMs)],
      ...[tags.join(", "), subscription],
    ]),
  };
}

/** @returns what asks for the columns that are not known of all monitors, of those that are in view */
function useRecent(names: readonly ColumnName[]): (entries: readonly MonitorEntry[]) => void {
  const inView = useRef<readonly MonitorEntry[]>([]);
  const ask = useCallback(() => {
    const [ids, id] = [inView.current.map(idOf), project.peek()?.id ?? ""];
    if (names.includes("beats") || names.includes("p95")) void wantRecent("checks", id, ids, performance.now());
    if (names.includes("uptime")) void wantRecent("uptime", id, ids, performance.now());
  }, [names.join()]);
  useEffect(() => {
    ask();
    const timer = setInterval(() => document.hidden || ask(), RECENT_MS);
    return () => clearInterval(timer);
  }, [ask]);
  return useCallback(
    (entries) => {
      inView.current = entries;
      ask();
    },
    [ask],
  );
}

function useRoom(): Room {
  const isWide = useMedia("(min-width: 1700px)");
  const isNarrow = useMedia("(max-width: 1200px)");
  return isWide ? "wide" : isNarrow ? "narrow" : "usual";
}

function Chooser({ names }: { names: readonly ColumnName[] }) {
  const toggle = (name: ColumnName, isShown: boolean) => {
    const text = withColumn(names, name, isShown);
    chosenColumns.value = text;
    replaceParameter("columns", text);
  };
  const close = (event: FocusEvent & { currentTarget: HTMLDetailsElement }) => {
    if (!event.currentTarget.contains(event.relatedTarget as Node | null)) event.currentTarget.open = false;
  };
  return (
    <details class="chooser" onFocusOut={close}>
      <summary class="button">
        <Icon name="list" size={16} /> {t("columns.title")}
      </summary>
      <fieldset class="chooser-panel" aria-label={t("columns.title")} tabIndex={-1}>
        {COLUMNS.map(({ name, title }) => (
          <CheckField
            key={name}
            label={t(title)}
            checked={name !== "check" && names.includes(name)}
            disabled={name !== "check" && FIXED_COLUMNS.has(name)}
            onChecked={(checked) => name !== "check" && toggle(name, checked)}
          />
        ))}
      </fieldset>
    </details>
  );
}

function Heading({
  column: { name, title, sort },
  order,
}: {
  column: Column;
  order: { readonly sort: Sort; readonly descending: boolean };
}) {
  const isOn = sort !== undefined && order.sort === sort;
  return (
    <th scope="col" class={`c-${name}`} aria-sort={isOn ? (order.descending ? "descending" : "ascending") : undefined}>
      {name === "check" ? (
        <input
          type="checkbox"
          aria-label={t(title)}
          checked={areAllChosen.value}
          onChange={(event) => chooseAll(event.currentTarget.checked)}
        />
      ) : sort === undefined ? (
        t(title)
      ) : (
        <button
          type="button"
          class={isOn ? "sort on" : "sort"}
          onClick={() => replaceParameter("sort", isOn && !order.descending ? `-${sort}` : sort)}
        >
          {t(title)}
          <span aria-hidden="true">{isOn ? (order.descending ? "↓" : "↑") : ""}</span>
        </button>
      )}
    </th>
  );
}
