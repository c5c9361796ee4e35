/** One monitor: why it is as it is, what its checks were, how it is set. */
import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { client, data, type Schemas } from "../api/client.ts";
import { watch } from "../api/live.ts";
import { useReloadOn, useResource } from "../api/resource.ts";
import { Card } from "../parts/card.tsx";
import { Delete } from "../parts/delete.tsx";
import { Icon } from "../parts/icon.tsx";
import { IncidentLine } from "../parts/incident-line.tsx";
import { later } from "../parts/later.tsx";
import { Show, ShowOne } from "../parts/states.tsx";
import { StatusWord } from "../parts/status.tsx";
import { Ago, Lasting } from "../parts/time.tsx";
import { useThingTitle } from "../parts/title.ts";
import { Why } from "../parts/why.tsx";
import { type Status, shownName } from "../state/monitors.ts";
import { attempt, say } from "../state/notices.ts";
import { incidentNews, loadOverview, revision, shown } from "../state/project.ts";
import { go } from "../state/route.ts";
import { canEdit } from "../state/session.ts";
import { milliseconds } from "../words/times.ts";
import { percent, t } from "../words/words.ts";
import { Days } from "./monitor-days.tsx";
import { LatencyOfRows, SummedLatency } from "./monitor-latency.tsx";
import { ChecksList, Configs, History, Locations, Settings } from "./monitor-parts.tsx";
import type { ScreenProps } from "./screen.ts";

const EditMonitor = later(async () => (await import("../parts/edit-monitor.tsx")).EditMonitor);

export type MonitorView = Schemas["Monitor"];
export type Results = Schemas["MonitorResults"];
/** Of the first two each check is drawn; of the others sums. */
const PERIODS = ["15m", "1h", "24h", "7d", "30d", "90d"] as const;
type Period = (typeof PERIODS)[number];
const isOfRows = (period: Period): period is "15m" | "1h" => period === "15m" || period === "1h";
/** Of the latest checks that are read; more would draw no finer line. */
const MOST_RESULTS = 500;
const RELOAD_MS = 15_000;

const LIST = { path: "/monitors", title: "nav.monitors" } as const;

export function Monitor({ params: { id = "" } }: ScreenProps) {
  const path = { id };
  useEffect(() => watch([id]), [id]);
  const live = useComputed(() => {
    revision.value;
    const entry = shown.value?.byId.get(id);
    return entry === undefined ? "" : `${entry.status} ${entry.checkedAtMs}`;
  });
  const monitor = useResource(
    (signal) => data(client.GET("/servers/{id}", { params: { path }, signal })),
    id,
    RELOAD_MS,
  );
  const { reload } = monitor;
  useEffect(() => {
    if (monitor.state.peek().value !== null) reload();
  }, [live.value, reload]);
  return (
    <div class="screen">
      <ShowOne resource={monitor} rows={10} list={LIST}>
        {(view) => (
          <>
            <Head view={view} changed={reload} />
            <Body view={view} news={live.value} changed={reload} />
          </>
        )}
      </ShowOne>
    </div>
  );
}

function statusOf(view: MonitorView): Status {
  const entry = shown.value?.byId.get(view.id);
  return entry?.status === "maintenance" ? "maintenance" : view.status;
}

/** What makes its outcome mean something else than usual, and its tags. */
function Marks({ view }: { view: MonitorView }) {
  return (
    <>
      {view.verify_certificate === false && <span class="tag quiet">{t("monitor.unverified")}</span>}
      {view.invert === true && <span class="tag quiet">{t("monitor.inverted")}</span>}
      {view.tags.map((tag) => (
        <a
          class="tag"
          title={tag}
          key={tag}
          href={`#/monitors?q=${encodeURIComponent(`tag:${/[\s,]/.test(tag) ? `"${tag}"` : tag}`)}`}
          dir="auto"
        >
          {tag}
        </a>
      ))}
    </>
  );
}

function Head({ view, changed }: { view: MonitorView; changed: () => void }) {
  const asking = useSignal<"edit" | "delete" | null>(null);
  const name = shownName(view.name, view.id);
  useThingTitle(name);
  revision.value;
  const since = shown.value?.byId.get(view.id)?.sinceMs ?? null;
  const status = statusOf(view);
  const close = () => (asking.value = null);
  return (
    <header class="monitor-head">
      <div>
        <h1 dir="auto">{name}</h1>
        <p class="sub">
          <span role="status">
            <StatusWord status={status} class="strong" />
          </span>
          {since !== null && (
            <span>
              {t("since.word")} <Lasting from={since} />
            </span>
          )}
          <span>{view.protocol}</span>
          {view.latency_ms !== null && <span class="number">{milliseconds(view.latency_ms)}</span>}
          <span>
            {t("monitor.checked")} <Ago at={view.last_checked} />
          </span>
          <Marks view={view} />
        </p>
      </div>
      {canEdit.value && <Acts view={view} changed={changed} ask={(what) => (asking.value = what)} />}
      {asking.value === "edit" && <EditMonitor view={view} close={close} changed={changed} />}
      {asking.value === "delete" && (
        <Delete
          what="monitor"
          name={view.name}
          close={close}
          act={async () => {
            await data(client.DELETE("/servers/{id}", { params: { path: { id: view.id } } }));
            go("/monitors");
            void loadOverview();
          }}
        />
      )}
    </header>
  );
}

function Acts({
  view,
  changed,
  ask,
}: {
  view: MonitorView;
  changed: () => void;
  ask: (what: "edit" | "delete") => void;
}) {
  const busy = useSignal(false);
  const params = { path: { id: view.id } };
  const setActive = async (active: boolean) => {
    await attempt(
      () => data(client.PUT("/servers/{id}", { params, body: { active } })),
      t(active ? "monitor.resumed" : "monitor.paused", { name: view.name }),
    );
    changed();
    void loadOverview();
  };
  const check = async () => {
    if (busy.value) return;
    busy.value = true;
    await attempt(async () => {
      say(checkWords(await data(client.POST("/servers/{id}/check", { params, body: {} }))));
    });
    busy.value = false;
    changed();
  };
  return (
    <div class="acts">
      {view.type !== "push" && view.active && (
        <button
          type="button"
          class="button primary"
          aria-disabled={busy.value}
          aria-keyshortcuts="t"
          onClick={() => void check()}
        >
          <Icon name="zap" size={16} /> {t("monitor.checkNow")}
        </button>
      )}
      <button type="button" class="button" aria-keyshortcuts="p" onClick={() => void setActive(!view.active)}>
        <Icon name={view.active ? "pause" : "play"} size={16} /> {t(view.active ? "act.pause" : "act.resume")}
      </button>
      <button type="button" class="button" aria-keyshortcuts="e" onClick={() => ask("edit")}>
        <Icon name="pencil" size={16} /> {t("act.edit")}
      </button>
      {view.subscription === undefined && (
        <a class="button" href={`#/monitors/new?from=${view.id}`}>
          <Icon name="copy" size={16} /> {t("act.clone")}
        </a>
      )}
      <button type="button" class="button" onClick={() => ask("delete")}>
        <Icon name="trash-2" size={16} /> {t("act.delete")}
      </button>
    </div>
  );
}

function checkWords(answer: unknown): string {
  const { status, latency_ms: latency, error_message: message } = answer as Partial<Schemas["Test"]>;
  if (status === undefined || (status as string) === "pending") return t("monitor.checkPending");
  return status === "healthy" ? t("monitor.checkOk", { latency: milliseconds(latency) }) : (message ?? status);
}

function Body({ view, news, changed }: { view: MonitorView; news: string; changed: () => void }) {
  const period = useSignal<Period>("1h");
  const path = { id: view.id };
  const rowsPeriod = isOfRows(period.value) ? period.value : "24h";
  const results = useResource(
    (signal) =>
      data(
        client.GET("/results/server/{id}", {
          params: { path, query: { period: rowsPeriod, limit: MOST_RESULTS, explain: "1" } },
          signal,
        }),
      ),
    `${view.id} ${rowsPeriod}`,
    RELOAD_MS,
  );
  useEffect(() => {
    if (results.state.peek().value !== null) results.reload();
  }, [news]);
  return (
    <div class="monitor">
      <div class="monitor-main">
        <Show resource={results} rows={8}>
          {(value) => (
            <>
              <WhyCard view={view} results={value} />
              <LatencyCard view={view} results={value} period={period.value} choose={(word) => (period.value = word)} />
              <ChecksList results={value} />
            </>
          )}
        </Show>
        <Days id={view.id} />
        <Configs view={view} />
      </div>
      <div class="monitor-side">
        <Locations view={view} changed={changed} />
        <Incidents id={view.id} />
        <Settings view={view} />
        <History id={view.id} />
      </div>
    </div>
  );
}

/** Only while something is wrong, or when the latest failure is in the period that is shown. */
function WhyCard({ view, results }: { view: MonitorView; results: Results }) {
  const failure = results.results.find(({ status }) => status !== "healthy");
  if (failure === undefined) return null;
  const isNow = view.status !== "healthy" && view.status !== "paused";
  return (
    <Card
      id="why"
      title={t("why.title")}
      isBad={isNow}
      beside={
        <span class="faint">
          {!isNow && `${t("why.lastFailure")} `}
          <Ago at={failure.tested_at} />
        </span>
      }
    >
      <Why message={failure.error_message} explain={failure.explain} />
    </Card>
  );
}

function LatencyCard({
  view,
  results,
  period,
  choose,
}: {
  view: MonitorView;
  results: Results;
  period: Period;
  choose: (period: Period) => void;
}) {
  const place = useSignal("");
  const bySteps = useSignal(false);
  const lateness = useSignal(false);
  const places = Object.keys(view.regional_status);
  // Of older checks no steps are kept.
  const hasSteps = isOfRows(period) || period === "24h";
  const shows = { bySteps: bySteps.value && hasSteps, lateness: lateness.value, place: place.value };
  return (
    <section class="card" aria-label={t("latency.label")}>
      <fieldset class="periods" aria-label={t("latency.period")}>
        {PERIODS.map((word) => (
          <button type="button" key={word} aria-pressed={word === period} onClick={() => choose(word)}>
            {t(`period.${word}`)}
          </button>
        ))}
        {hasSteps && <Toggle word="latency.steps" isOn={bySteps} />}
        {isOfRows(period) && <Toggle word="latency.late" isOn={lateness} />}
        {places.length > 1 && (
          <select
            aria-label={t("locations.title")}
            value={place.value}
            onChange={(event) => (place.value = event.currentTarget.value)}
          >
            <option value="">{t("latency.allPlaces")}</option>
            {places.map((code) => (
              <option key={code} value={code}>
                {code}
              </option>
            ))}
          </select>
        )}
        <span class="grow" />
        {isOfRows(period) && results.uptime_percent !== null && (
          <span class="faint">{t("monitor.uptime", { percent: percent(results.uptime_percent) })}</span>
        )}
      </fieldset>
      {isOfRows(period) ? (
        <LatencyOfRows results={results} shows={shows} />
      ) : (
        <SummedLatency id={view.id} period={period} shows={shows} />
      )}
    </section>
  );
}

function Toggle({ word, isOn }: { word: "latency.steps" | "latency.late"; isOn: Signal<boolean> }) {
  return (
    <button type="button" aria-pressed={isOn.value} onClick={() => (isOn.value = !isOn.value)}>
      {t(word)}
    </button>
  );
}

const SHOWN_INCIDENTS = 5;

function Incidents({ id }: { id: string }) {
  const list = useResource(
    (signal) =>
      data(client.GET("/incidents", { params: { query: { server_id: id, limit: SHOWN_INCIDENTS } }, signal })),
    id,
    RELOAD_MS,
  );
  useReloadOn(list, `${incidentNews.value}`);
  return (
    <Card
      id="incidents-of"
      title={t("nav.incidents")}
      beside={
        (list.state.value.value?.total ?? 0) > SHOWN_INCIDENTS && (
          <a href={`#/incidents?monitor=${id}`}>
            {t("overview.allIncidents", { n: list.state.value.value?.total ?? 0 })}
          </a>
        )
      }
    >
      <Show resource={list} rows={2}>
        {({ incidents }) =>
          incidents.length === 0 ? (
            <p class="hint">{t("monitor.noIncidents")}</p>
          ) : (
            <ul class="incident-list">
              {incidents.map((incident) => (
                <IncidentLine key={incident.id} incident={incident} changed={list.reload} />
              ))}
            </ul>
          )
        }
      </Show>
      {canEdit.value && (
        <p class="sub">
          <a href={`#/alerts/rules?monitor=${id}`}>{t("monitor.whoHears")}</a>
          <a href={`#/maintenance?monitor=${id}`}>{t("maintenance.add")}</a>
        </p>
      )}
    </Card>
  );
}
