/** One subscription: its last sync, and every configuration that came from it, the working ones first. */

import { useComputed, useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Delete } from "../parts/delete.tsx";
import { Exports } from "../parts/exports.tsx";
import { CheckField } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { WindowedBody } from "../parts/rows.tsx";
import { Scroll } from "../parts/scroll.tsx";
import { Show, ShowOne } from "../parts/states.tsx";
import { StatusMark, statusWord } from "../parts/status.tsx";
import { useThingTitle } from "../parts/title.ts";
import { categoryWord } from "../parts/why.tsx";
import { copyText } from "../state/clipboard.ts";
import { attempt } from "../state/notices.ts";
import { loadOverview, serviceNow, shown } from "../state/project.ts";
import { go } from "../state/route.ts";
import { canEdit, isAdmin } from "../state/session.ts";
import type { Sheet } from "../state/sheet.ts";
import { duration, milliseconds, seconds, utc } from "../words/times.ts";
import { locale, t } from "../words/words.ts";
import type { ScreenProps } from "./screen.ts";
import { EditSubscription } from "./subscription-form.tsx";
import { type SubscriptionView, SyncState } from "./subscriptions.tsx";

interface ConfigRow {
  readonly key: string;
  readonly serverId: string;
  readonly config: Schemas["SubscriptionConfig"];
}

const RELOAD_MS = 15_000;
const PAGE = 1_000;
/** Pages that are read for the table. */
const MOST_PAGES = 10;
const ROW_PX = 37;

const LIST = { path: "/subscriptions", title: "nav.subscriptions" } as const;

export function Subscription({ params: { id = "" } }: ScreenProps) {
  const path = { id };
  const one = useResource(
    (signal) => data(client.GET("/subscriptions/{id}", { params: { path }, signal })),
    id,
    RELOAD_MS,
  );
  return (
    <div class="screen">
      <ShowOne resource={one} rows={8} list={LIST}>
        {(view) => (
          <>
            <Head view={view} changed={one.reload} />
            <Configurations key={view.lastSyncedAt ?? ""} id={view.id} />
          </>
        )}
      </ShowOne>
    </div>
  );
}

function Head({ view, changed }: { view: SubscriptionView; changed: () => void }) {
  const asking = useSignal<"edit" | "delete" | null>(null);
  const params = { path: { id: String(view.id) } };
  const name = view.name ?? t("subscription.unnamed", { n: view.id });
  useThingTitle(name);
  const sync = () => data(client.POST("/subscriptions/{id}/sync", { params }));
  return (
    <header class="monitor-head">
      <div>
        <h1 dir="auto">{name}</h1>
        <SyncState view={view} />
        <Ways view={view} />
      </div>
      {canEdit.value && (
        <div class="acts">
          <button
            type="button"
            class="button primary"
            onClick={() => void attempt(sync, t("subscription.syncing")).then(changed)}
          >
            <Icon name="refresh-cw" size={16} /> {t("subscription.sync")}
          </button>
          <button
            type="button"
            class="button"
            onClick={() =>
              void attempt(
                () => data(client.PUT("/subscriptions/{id}", { params, body: { enabled: !view.enabled } })),
                t("act.saved", { name }),
              ).then(changed)
            }
          >
            <Icon name={view.enabled ? "pause" : "play"} size={16} /> {t(view.enabled ? "act.pause" : "act.resume")}
          </button>
          <button type="button" class="button" aria-keyshortcuts="e" onClick={() => (asking.value = "edit")}>
            <Icon name="pencil" size={16} /> {t("act.edit")}
          </button>
          <button type="button" class="button" onClick={() => (asking.value = "delete")}>
            <Icon name="trash-2" size={16} /> {t("act.delete")}
          </button>
        </div>
      )}
      {asking.value === "edit" && (
        <EditSubscription view={view} close={() => (asking.value = null)} changed={changed} />
      )}
      {asking.value === "delete" && (
        <Delete
          what="subscription"
          name={name}
          close={() => (asking.value = null)}
          act={async () => {
            await data(client.DELETE("/subscriptions/{id}", { params: { path: { id: String(view.id) } } }));
            go("/subscriptions");
            void loadOverview();
          }}
        />
      )}
    </header>
  );
}

/** How it is read, and how its servers are tested. */
function Ways({ view }: { view: SubscriptionView }) {
  return (
    <p class="sub">
      <span>{t("subscription.every", { duration: seconds(view.syncIntervalSec) })}</span>
      <span>{t("subscription.timeout", { duration: seconds(view.timeoutSeconds) })}</span>
      <span>{t("subscription.atOnce", { n: view.maxWorkers })}</span>
      <span>{view.engine === "both" ? "xray, sing-box" : view.engine}</span>
    </p>
  );
}

/** Page by page, the fastest first. */
async function configsOf(id: number, signal: AbortSignal): Promise<readonly ConfigRow[]> {
  const rows: ConfigRow[] = [];
  for (let page = 0; page < MOST_PAGES; page++) {
    const params = { path: { id: String(id) }, query: { limit: PAGE, offset: page * PAGE } };
    const { configs, total } = await data(client.GET("/subscriptions/{id}/configs", { params, signal }));
    for (const config of configs) rows.push({ key: String(rows.length), serverId: config.server_id, config });
    if (rows.length >= total) break;
  }
  return rows;
}

interface Narrowed {
  readonly onlyWorking: boolean;
  readonly protocol: string;
  readonly country: string;
  readonly find: string;
}

function narrowed(
  rows: readonly ConfigRow[],
  { onlyWorking, protocol, country, find }: Narrowed,
): readonly ConfigRow[] {
  const text = find.trim().toLowerCase();
  return rows.filter(
    ({ config }) =>
      (config.success || !onlyWorking) &&
      (protocol === "" || config.type === protocol) &&
      (country === "" || config.country === country) &&
      (text === "" || `${config.tag} ${config.type} ${config.server} ${config.public_ip}`.toLowerCase().includes(text)),
  );
}

function Configurations({ id }: { id: number }) {
  const by = useSignal<Narrowed>({ onlyWorking: false, protocol: "", country: "", find: "" });
  const configs = useResource((signal) => configsOf(id, signal), `configs ${id}`, RELOAD_MS * 2);
  const rows = useComputed(() => narrowed(configs.state.value.value ?? [], by.value));
  return (
    <section class="card">
      <Show resource={configs} rows={8}>
        {(all) => (
          <>
            <div class="bar">
              <Narrow all={all} by={by.value} onBy={(next) => (by.value = next)} />
              <span class="faint self-center">
                {t("configs.healthy", { n: all.filter(({ config }) => config.success).length, total: all.length })}
              </span>
              <span class="exports">
                {isAdmin.value && <CopyLinks id={id} />}
                <Exports name="configurations" sheet={() => sheetOf(rows.peek())} />
              </span>
            </div>
            <Scroll label={t("configs.title")}>
              <ConfigTable rows={rows.value} />
            </Scroll>
            {rows.value.length === 0 && all.length > 0 && <p class="hint">{t("check.none")}</p>}
          </>
        )}
      </Show>
    </section>
  );
}

function Narrow({ all, by, onBy }: { all: readonly ConfigRow[]; by: Narrowed; onBy: (by: Narrowed) => void }) {
  const protocols = [...new Set(all.map(({ config }) => config.type))].sort();
  const countries = [...new Set(all.map(({ config }) => config.country))].filter((code) => code !== "").sort();
  return (
    <>
      <CheckField
        label={t("configs.onlyWorking")}
        checked={by.onlyWorking}
        onChecked={(checked) => onBy({ ...by, onlyWorking: checked })}
      />
      <select
        aria-label={t("field.protocol")}
        value={by.protocol}
        onChange={(event) => onBy({ ...by, protocol: event.currentTarget.value })}
      >
        <option value="">{t("check.anyProtocol")}</option>
        {protocols.map((word) => (
          <option key={word} value={word}>
            {word}
          </option>
        ))}
      </select>
      {countries.length > 0 && (
        <select
          aria-label={t("configs.country")}
          value={by.country}
          onChange={(event) => onBy({ ...by, country: event.currentTarget.value })}
        >
          <option value="">{t("configs.anyCountry")}</option>
          {countries.map((code) => (
            <option key={code} value={code}>
              {countryName(code)}
            </option>
          ))}
        </select>
      )}
      <input
        type="search"
        dir="auto"
        aria-label={t("configs.find")}
        placeholder={t("configs.find")}
        value={by.find}
        onInput={(event) => onBy({ ...by, find: event.currentTarget.value })}
      />
    </>
  );
}

/** Secrets that nothing else returns: the service says no where its operator has not allowed it. */
function CopyLinks({ id }: { id: number }) {
  const copy = () =>
    attempt(async () => {
      const params = { path: { id: String(id) } };
      const text = await data(client.POST("/subscriptions/{id}/links", { params, body: {}, parseAs: "text" }));
      const lines = String(text).split("\n");
      await copyText(String(text), t("check.copied", { n: lines.filter((line) => line !== "").length }));
    });
  return (
    <button type="button" class="button small" onClick={() => void copy()}>
      <Icon name="copy" size={14} /> {t("subscription.copyLinks")}
    </button>
  );
}

const FIELDS = [
  ...([
    "server_id",
    "tag",
    "type",
    "server",
    "port",
    "success",
    "total_ms",
    "public_ip",
    "country",
    "engine_used",
  ] as const),
  ...(["error_category", "error", "checked_at"] as const),
];

function sheetOf(rows: readonly ConfigRow[]): Sheet {
  return {
    heads: [...FIELDS, "locations"],
    rows: rows.map(({ config }) => [
      ...FIELDS.map((name) => config[name]),
      Object.entries(config.locations)
        .map(([code, passed]) => `${code} ${passed ? "yes" : "no"}`)
        .join(", "),
    ]),
  };
}

const HEADS = [
  ...(["col.latency", "col.name", "col.kind", "col.server", "col.exit", "col.engine"] as const),
  ...(["locations.title", "col.since", "col.result"] as const),
];

const idOf = ({ key }: ConfigRow) => key;

/** Since when its server is so; null where that is not known, or where other configurations of the server do better or worse. */
function sinceOf(serverId: string, success: boolean): number | null {
  const server = shown.value?.byId.get(serverId);
  return server?.status === (success ? "healthy" : "down") ? server.sinceMs : null;
}

/** In the reader's language; the code where a browser knows no name. */
function countryName(code: string): string {
  try {
    return new Intl.DisplayNames(locale(), { type: "region" }).of(code) ?? code;
  } catch {
    return code;
  }
}

function cellsOf({ serverId, config }: ConfigRow) {
  const { tag, type, server, port, success, total_ms: ms, error, error_category: category } = config;
  const { public_ip: exit, country, engine_used: engine, locations } = config;
  const since = sinceOf(serverId, success);
  return (
    <>
      <td class="number">{success ? milliseconds(ms) : "–"}</td>
      <td>
        <a class="cut" href={`#/monitors/${serverId}`} dir="auto">
          {tag}
        </a>
      </td>
      <td>{type}</td>
      <td dir="ltr">{`${server}:${port}`}</td>
      <td dir="ltr" title={exit}>
        {country !== "" && <span class="tag quiet">{country}</span>} {exit === "" && country === "" ? "–" : exit}
      </td>
      <td>{engine === "" ? "–" : engine}</td>
      <td>
        <Places places={locations} />
      </td>
      <td title={since === null ? "" : utc(since)}>{since === null ? "–" : duration(serviceNow() - since)}</td>
      <td title={error}>
        <StatusMark status={success ? "healthy" : "down"} />{" "}
        {success ? statusWord("healthy") : category === "" ? statusWord("down") : categoryWord(category)}
      </td>
    </>
  );
}

/** What each location last found. Where there is one, its result is that of the row. */
function Places({ places }: { places: Readonly<Record<string, boolean>> }) {
  const codes = Object.keys(places);
  if (codes.length < 2) return <>–</>;
  return (
    <>
      {codes.map((code) => (
        <span key={code} class="place-state">
          <StatusMark status={places[code] ? "healthy" : "down"} /> {code}
          <span class="sr-only"> {statusWord(places[code] ? "healthy" : "down")}</span>{" "}
        </span>
      ))}
    </>
  );
}

function ConfigTable({ rows }: { rows: readonly ConfigRow[] }) {
  return (
    <table class="table windowed configs" aria-label={t("configs.title")}>
      <thead>
        <tr>
          {HEADS.map((head) => (
            <th scope="col" key={head}>
              {t(head)}
            </th>
          ))}
        </tr>
      </thead>
      <WindowedBody items={rows} rowPx={ROW_PX} idOf={idOf} cells={cellsOf} />
    </table>
  );
}
