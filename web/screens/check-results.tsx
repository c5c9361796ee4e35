/** What came of many checks: counted, chosen, in order, and to take away. Rows fill while the checks run. */
import { useSignal } from "@preact/signals";
import { client, data } from "../api/client.ts";
import { Exports as Files } from "../parts/exports.tsx";
import { Icon } from "../parts/icon.tsx";
import { AddButton } from "../parts/icon-button.tsx";
import { useMedia } from "../parts/media.ts";
import { WindowedBody } from "../parts/rows.tsx";
import { StatusMark } from "../parts/status.tsx";
import { categoryWord } from "../parts/why.tsx";
import { CHOICES, type Choice, chosen, type Head, type Order, ordered, type Row, sheetOf } from "../state/checked.ts";
import { copyText } from "../state/clipboard.ts";
import { handOver } from "../state/hand-over.ts";
import { attempt } from "../state/notices.ts";
import { go } from "../state/route.ts";
import { canEdit } from "../state/session.ts";
import { milliseconds } from "../words/times.ts";
import { type Key, t } from "../words/words.ts";

/** What is checked: one configuration by itself, or many. */
export interface Asked {
  /** A subscription's address; null: the text itself was sent. */
  readonly url: string | null;
  /** By the number of its line; empty where the page does not have the links. */
  readonly links: readonly string[];
}

export interface Progress {
  readonly asked: Asked;
  /** null before the first line of the answer. */
  readonly head: Head | null;
  readonly rows: readonly Row[];
  readonly state: "running" | "done" | "stopped" | "broken";
}

/** Height of a row, CSS px; web/look/screens.css has the same. */
const ROW_PX = { wide: 37, phone: 65 } as const;

interface Column {
  readonly name: string;
  readonly title: Key;
  readonly order?: Order;
  readonly cell: (row: Row) => unknown;
}

const COLUMNS: readonly Column[] = [
  {
    name: "status",
    title: "col.result",
    order: "works",
    cell: ({ works }) => (
      <span class={`status s-${works ? "healthy" : "down"}`}>
        <StatusMark status={works ? "healthy" : "down"} />
        <span>{t(works ? "check.works" : "check.fails")}</span>
      </span>
    ),
  },
  {
    name: "name",
    title: "col.name",
    order: "name",
    cell: ({ name, place }) => (
      <>
        <bdi class="cut" title={name}>
          {name}
        </bdi>
        {place !== "" && (
          <span class="faint cut" dir="ltr">
            {place}
          </span>
        )}
      </>
    ),
  },
  { name: "kind", title: "col.kind", order: "protocol", cell: ({ protocol }) => protocol },
  { name: "latency", title: "col.latency", order: "ms", cell: ({ ms }) => milliseconds(ms) },
  {
    name: "exit",
    title: "check.exit",
    order: "exit",
    cell: ({ exitIp, country }) => (
      <span dir="ltr" title={exitIp}>
        {country !== "" && <span class="tag quiet">{country}</span>} {exitIp === "" && country === "" ? "–" : exitIp}
      </span>
    ),
  },
  { name: "engine", title: "col.engine", order: "engine", cell: ({ engine }) => (engine === "" ? "–" : engine) },
  {
    name: "why",
    title: "why.title",
    cell: ({ works, category, error }) =>
      works ? "" : <span title={error}>{category === "" ? error : categoryWord(category)}</span>,
  },
];

const idOf = ({ line }: Row) => String(line);
const cellsOf = (row: Row) =>
  COLUMNS.map(({ name, cell }) => (
    <td key={name} class={`c-${name}`}>
      {cell(row) as never}
    </td>
  ));

export function CheckResults({ progress }: { progress: Progress }) {
  const { head, rows, state } = progress;
  const works = rows.filter((row) => row.works).length;
  return (
    <>
      <div class="progress-line">
        {/* Before the first line the bar has no value: how many there are is not known. */}
        <progress
          aria-label={t("check.progress")}
          {...(head !== null && { max: Math.max(head.total, 1), value: rows.length })}
        />
        <span role="status">
          {head === null ? t("check.reading") : t("check.done", { n: rows.length, total: head.total })}
          {state === "stopped" && ` · ${t("check.stopped")}`}
          {state === "broken" && ` · ${t("check.broken")}`}
        </span>
        <span class="s-healthy">{t("check.working", { n: works })}</span>
        <span class="s-down">{t("check.notWorking", { n: rows.length - works })}</span>
      </div>
      {head !== null && head.invalidCount > 0 && <Refused head={head} />}
      {rows.length > 0 && <Results progress={progress} />}
    </>
  );
}

function Refused({ head: { invalid, invalidCount } }: { head: Head }) {
  const untold = invalidCount - invalid.length;
  return (
    <details class="refused">
      <summary>{t("check.refused", { n: invalidCount })}</summary>
      <ul class="plain-list">
        {invalid.map(({ line, reason }) => (
          <li key={line}>
            <b>{t("check.line", { n: line })}</b> <span dir="auto">{reason}</span>
          </li>
        ))}
        {untold > 0 && <li class="faint">{t("import.more", { n: untold })}</li>}
      </ul>
    </details>
  );
}

function Results({ progress }: { progress: Progress }) {
  const choice = useSignal<Choice>("all");
  const [protocol, find] = [useSignal(""), useSignal("")];
  const order = useSignal<{ readonly by: Order; readonly descending: boolean }>({ by: "works", descending: false });
  const isPhone = useMedia("(max-width: 700px)");
  const { rows } = progress;
  const shown = ordered(chosen(rows, choice.value, protocol.value, find.value), order.value.by, order.value.descending);
  return (
    <>
      <div class="bar">
        <Choices value={choice.value} onValue={(word) => (choice.value = word)} />
        <Protocols rows={rows} value={protocol.value} onValue={(word) => (protocol.value = word)} />
        <input
          type="search"
          dir="auto"
          aria-label={t("check.find")}
          placeholder={t("check.find")}
          value={find.value}
          onInput={(event) => (find.value = event.currentTarget.value)}
        />
        <Exports progress={progress} shown={shown} />
      </div>
      <table class="table windowed monitors checked" aria-label={t("check.results")} aria-rowcount={shown.length + 1}>
        <thead>
          <tr>
            {COLUMNS.map((column) => (
              <Heading key={column.name} column={column} order={order.value} onOrder={(next) => (order.value = next)} />
            ))}
          </tr>
        </thead>
        <WindowedBody items={shown} rowPx={isPhone ? ROW_PX.phone : ROW_PX.wide} idOf={idOf} cells={cellsOf} />
      </table>
      {shown.length === 0 && <p class="hint">{t("check.none")}</p>}
    </>
  );
}

function Protocols({ rows, value, onValue }: { rows: readonly Row[]; value: string; onValue: (word: string) => void }) {
  const protocols = [...new Set(rows.map(({ protocol }) => protocol))].sort();
  return (
    <select aria-label={t("col.kind")} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
      <option value="">{t("check.anyProtocol")}</option>
      {protocols.map((word) => (
        <option key={word} value={word}>
          {word}
        </option>
      ))}
    </select>
  );
}

function Choices({ value, onValue }: { value: Choice; onValue: (word: Choice) => void }) {
  return (
    <select
      aria-label={t("col.result")}
      value={value}
      onChange={(event) => onValue(event.currentTarget.value as Choice)}
    >
      {CHOICES.map((word) => (
        <option key={word} value={word}>
          {t(`check.choice.${word}`)}
        </option>
      ))}
    </select>
  );
}

function Heading({
  column: { name, title, order: by },
  order,
  onOrder,
}: {
  column: Column;
  order: { readonly by: Order; readonly descending: boolean };
  onOrder: (order: { by: Order; descending: boolean }) => void;
}) {
  const isOn = by === order.by;
  return (
    <th scope="col" class={`c-${name}`} aria-sort={isOn ? (order.descending ? "descending" : "ascending") : undefined}>
      {by === undefined ? (
        t(title)
      ) : (
        <button
          type="button"
          class={isOn ? "sort on" : "sort"}
          onClick={() => onOrder({ by, descending: isOn && !order.descending })}
        >
          {t(title)}
          <span aria-hidden="true">{isOn ? (order.descending ? "↓" : "↑") : ""}</span>
        </button>
      )}
    </th>
  );
}

/** Links are never in the API's answer: those that work are known here only where they were pasted. */
function Exports({ progress: { asked, rows, state }, shown }: { progress: Progress; shown: readonly Row[] }) {
  const working = rows.filter((row) => row.works);
  const links = working.flatMap(({ line }) => asked.links[line - 1] ?? []).filter((link) => link.includes("://"));
  const copy = () => copyText(links.join("\n"), t("check.copied", { n: links.length }));
  return (
    <span class="exports">
      {links.length > 0 && (
        <button type="button" class="button small" onClick={() => void copy()}>
          <Icon name="copy" size={14} /> {t("check.copy", { n: links.length })}
        </button>
      )}
      {canEdit.value && state !== "running" && <Watch url={asked.url} links={links} />}
      <Files name="checked" sheet={() => sheetOf(shown)} />
    </span>
  );
}

/** From now on: an address as a subscription, links as monitors. */
function Watch({ url, links }: { url: string | null; links: readonly string[] }) {
  if (url === null) {
    if (links.length === 0) return null;
    const add = () => {
      handOver(links.join("\n"));
      go("/monitors/new");
    };
    return <AddButton small label={t("check.watch")} act={add} />;
  }
  const subscribe = () =>
    attempt(() => data(client.POST("/subscriptions", { body: { url } })), t("check.subscribed")).then(
      (done) => done && go("/subscriptions"),
    );
  return <AddButton small label={t("check.subscribe")} act={() => void subscribe()} />;
}
