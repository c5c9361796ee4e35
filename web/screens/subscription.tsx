/** One subscription: its last sync, and every configuration that came from it, the working ones first. */

import { useComputed, useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Confirm } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { WindowedBody } from "../parts/rows.tsx";
import { Scroll } from "../parts/scroll.tsx";
import { Show, ShowOne } from "../parts/states.tsx";
import { StatusMark, statusWord } from "../parts/status.tsx";
import { useThingTitle } from "../parts/title.ts";
import { categoryWord } from "../parts/why.tsx";
import { attempt, say } from "../state/notices.ts";
import { loadOverview } from "../state/project.ts";
import { go } from "../state/route.ts";
import { isAdmin } from "../state/session.ts";
import { milliseconds } from "../words/times.ts";
import { t } from "../words/words.ts";
import type { ScreenProps } from "./screen.ts";
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
  const deleting = useSignal(false);
  const params = { path: { id: String(view.id) } };
  const name = view.name ?? t("subscription.unnamed", { n: view.id });
  useThingTitle(name);
  const sync = () => data(client.POST("/subscriptions/{id}/sync", { params }));
  return (
    <header class="monitor-head">
      <div>
        <h1 dir="auto">{name}</h1>
        <SyncState view={view} />
      </div>
      {isAdmin.value && (
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
                t("monitor.saved", { name }),
              ).then(changed)
            }
          >
            <Icon name={view.enabled ? "pause" : "play"} size={16} /> {t(view.enabled ? "act.pause" : "act.resume")}
          </button>
          <button type="button" class="button" onClick={() => (deleting.value = true)}>
            <Icon name="trash-2" size={16} /> {t("act.delete")}
          </button>
        </div>
      )}
      {deleting.value && (
        <Confirm
          title={t("subscription.deleteTitle")}
          close={() => (deleting.value = false)}
          confirm={t("act.delete")}
          danger
          act={async () => {
            await data(client.DELETE("/subscriptions/{id}", { params }));
            say(t("monitor.deleted", { name }));
            go("/subscriptions");
            void loadOverview();
          }}
        >
          <p>{t("subscription.deleteText", { name })}</p>
        </Confirm>
      )}
    </header>
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

function Configurations({ id }: { id: number }) {
  const onlyWorking = useSignal(false);
  const find = useSignal("");
  const configs = useResource((signal) => configsOf(id, signal), `configs ${id}`, RELOAD_MS * 2);
  const rows = useComputed(() => {
    const text = find.value.trim().toLowerCase();
    return (configs.state.value.value ?? []).filter(
      ({ config: { success, tag, type, server } }) =>
        (success || !onlyWorking.value) && (text === "" || `${tag} ${type} ${server}`.toLowerCase().includes(text)),
    );
  });
  return (
    <section class="card">
      <Show resource={configs} rows={8}>
        {(all) => (
          <>
            <div class="bar">
              <label class="check">
                <input
                  type="checkbox"
                  checked={onlyWorking.value}
                  onChange={(event) => (onlyWorking.value = event.currentTarget.checked)}
                />
                {t("configs.onlyWorking")}
              </label>
              <input
                type="search"
                aria-label={t("configs.find")}
                placeholder={t("configs.find")}
                value={find.value}
                onInput={(event) => (find.value = event.currentTarget.value)}
              />
              <span class="faint self-center">
                {t("configs.healthy", { n: all.filter(({ config }) => config.success).length, total: all.length })}
              </span>
            </div>
            <Scroll label={t("configs.title")}>
              <ConfigTable rows={rows.value} />
            </Scroll>
          </>
        )}
      </Show>
    </section>
  );
}

const HEADS = ["col.latency", "col.name", "col.kind", "col.server", "col.exit", "col.engine", "col.result"] as const;

const idOf = ({ key }: ConfigRow) => key;

function cellsOf({ serverId, config }: ConfigRow) {
  const { tag, type, server, port, success, total_ms: ms, error, error_category: category } = config;
  const { public_ip: exit, engine_used: engine } = config;
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
      <td>{exit === "" ? "–" : exit}</td>
      <td>{engine === "" ? "–" : engine}</td>
      <td title={error}>
        <StatusMark status={success ? "healthy" : "down"} />{" "}
        {success ? statusWord("healthy") : category === "" ? statusWord("down") : categoryWord(category)}
      </td>
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
