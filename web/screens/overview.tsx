/** Is anything down right now? The first line says it, the cells show where, the list beside them what to do. */
import { useComputed } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useReloadOn, useResource } from "../api/resource.ts";
import { Card } from "../parts/card.tsx";
import { FilterLine, StatusCounts } from "../parts/filter-line.tsx";
import { Grid } from "../parts/grid.tsx";
import { Icon } from "../parts/icon.tsx";
import { IncidentLine } from "../parts/incident-line.tsx";
import { SavedViews } from "../parts/saved-views.tsx";
import { SharedHosts } from "../parts/shared-hosts.tsx";
import { Empty, Failed, Skeleton } from "../parts/states.tsx";
import { StatusMark } from "../parts/status.tsx";
import { GROUPINGS, grouped, idText, slowest, wellWord } from "../state/monitors.ts";
import { grouping } from "../state/prefs.ts";
import {
  counts,
  filterLine,
  incidentState,
  loadOverview,
  overviewError,
  revision,
  selected,
  serviceNow,
  shown,
} from "../state/project.ts";
import { go } from "../state/route.ts";
import { canEdit } from "../state/session.ts";
import { days, milliseconds, timeOf, utc } from "../words/times.ts";
import { t } from "../words/words.ts";
import { LastHour } from "./last-hour.tsx";

/** Of the slowest. */
const MOST_SLOW = 5;
/** Of what expires; what comes later is on the monitors' own screens. */
const MOST_EXPIRING = 5;
/** Of the open incidents; the others are on their own screen. More are asked for, to tell what they share. */
const MOST_INCIDENTS = 8;
const MOST_ASKED = 100;

export function Overview() {
  const all = shown.value;
  return (
    <div class="screen">
      <h1 class="sr-only">{t("nav.overview")}</h1>
      {overviewError.value !== null && <Failed message={overviewError.value} again={() => void loadOverview()} />}
      {all === null ? (
        overviewError.value === null && <Skeleton rows={10} />
      ) : all.entries.length === 0 ? (
        <NoMonitors />
      ) : (
        <AtAGlance />
      )}
    </div>
  );
}

function NoMonitors() {
  return (
    <Empty icon="activity" title={t("overview.empty")}>
      <p>{t("overview.emptyText")}</p>
      {canEdit.value && (
        <>
          <a class="button primary" href="#/monitors/new">
            <Icon name="plus" size={16} /> {t("monitors.add")}
          </a>
          <a href="#/import">{t("overview.bring")}</a>
        </>
      )}
    </Empty>
  );
}

function AtAGlance() {
  const groups = useComputed(() => grouped(selected.value, grouping.value));
  return (
    <>
      <Verdict />
      <div class="overview">
        <div class="overview-main">
          <div class="bar">
            <FilterLine />
            <label class="group-by">
              <span>{t("overview.groupBy")}</span>
              <select
                value={grouping.value}
                onChange={(event) => (grouping.value = event.currentTarget.value as typeof grouping.value)}
              >
                {GROUPINGS.map((word) => (
                  <option key={word} value={word}>
                    {t(`group.${word}`)}
                  </option>
                ))}
              </select>
            </label>
            <button type="button" class="button" onClick={() => go(`/monitors${asQuery(filterLine.value)}`)}>
              <Icon name="list" size={16} /> {t("overview.asTable")}
            </button>
          </div>
          <SavedViews />
          <StatusCounts />
          {groups.value.length === 0 ? <p class="hint">{t("filter.none")}</p> : <Grid groups={groups.value} />}
          <LastHour />
        </div>
        <aside class="overview-side">
          <OpenIncidents />
          <Slowest />
          <Expiring />
        </aside>
      </div>
    </>
  );
}

const asQuery = (line: string) => (line === "" ? "" : `?q=${encodeURIComponent(line)}`);

function Verdict() {
  const now = counts.value;
  const columns = shown.value?.columns;
  if (now === null || columns === undefined) return null;
  const { down, degraded, partial } = now;
  const { unacknowledged } = columns.incidents;
  const isWell = down + degraded + partial === 0;
  const parts = [
    down > 0 ? t("verdict.down", { n: down }) : null,
    degraded > 0 ? t("verdict.degraded", { n: degraded }) : null,
    partial > 0 ? t("verdict.partial", { n: partial }) : null,
    unacknowledged > 0 ? t("verdict.unacknowledged", { n: unacknowledged }) : null,
  ].filter((text) => text !== null);
  const worst = down > 0 ? "down" : isWell ? "healthy" : degraded > 0 ? "degraded" : "partial";
  return (
    <div class={`verdict v-${worst}`}>
      <StatusMark status={worst} size={26} />
      <p class="verdict-words">{isWell ? t(wellWord(now)) : parts.join(" · ")}</p>
      <p class="verdict-service">
        {t("verdict.watched", { n: shown.value?.entries.length ?? 0 })}
        <ServiceWords service={columns.service} />
      </p>
    </div>
  );
}

function ServiceWords({ service }: { service: Schemas["ServiceAtAGlance"] }) {
  const { late_p99_ms: late, silent, spool_rows: spooled, condition } = service;
  return (
    <>
      {late !== null && ` · ${t("verdict.late", { late: milliseconds(late) })}`}
      {silent > 0 && ` · ${t("verdict.silent", { n: silent })}`}
      {condition !== null && ` · ${t("verdict.condition", { condition, n: spooled })}`}
    </>
  );
}

function OpenIncidents() {
  const open = useResource(
    (signal) => data(client.GET("/incidents", { params: { query: { status: "active", limit: MOST_ASKED } }, signal })),
    "open incidents",
  );
  useReloadOn(open, incidentState.value);
  const { value, error } = open.state.value;
  return (
    <Card
      id="open-incidents"
      title={t("overview.openIncidents")}
      beside={
        value !== null &&
        value.active > 0 && <a href="#/incidents">{t("overview.allIncidents", { n: value.active })}</a>
      }
    >
      {error !== null && <Failed message={error} again={open.reload} />}
      {value === null ? (
        <Skeleton rows={2} />
      ) : value.incidents.length === 0 ? (
        <p class="hint">{t(wellWordNow() === "verdict.well" ? "overview.noIncidents" : "verdict.wellSoFar")}</p>
      ) : (
        <>
          <SharedHosts incidents={value.incidents} only={null} changed={open.reload} />
          <ul class="incident-list">
            {value.incidents.slice(0, MOST_INCIDENTS).map((incident) => (
              <IncidentLine key={incident.id} incident={incident} changed={open.reload} />
            ))}
          </ul>
        </>
      )}
      {canEdit.value && <NoChannel />}
    </Card>
  );
}

/** What was not checked yet is not known to work. */
const wellWordNow = () => (counts.value === null ? null : wellWord(counts.value));

/** Said before the first failure: until then a missing channel is not noticed. */
function NoChannel() {
  const list = useResource((signal) => data(client.GET("/channels", { signal })), "channels of the project");
  const { value } = list.state.value;
  if (value === null || value.channels.some(({ active }) => active)) return null;
  return (
    <p class="hint no-channel">
      {t("overview.noChannel")} <a href="#/alerts">{t("overview.addChannel")}</a>
    </p>
  );
}

function Slowest() {
  revision.value;
  const slow = slowest(shown.value?.entries ?? [], MOST_SLOW);
  if (slow.length === 0) return null;
  return (
    <Card id="slowest" title={t("overview.slowest")}>
      <ul class="slow-list">
        {slow.map(({ id, name, status, latencyMs }) => (
          <li key={id}>
            <StatusMark status={status} />
            <a class="cut" href={`#/monitors/${id}`} dir="auto">
              {name}
            </a>
            <span class="number">{milliseconds(latencyMs)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Expiring() {
  const now = shown.value;
  if (now === null || now.columns.expiring.length === 0) return null;
  return (
    <Card id="expiring" title={t("overview.expiring")}>
      <ul class="slow-list">
        {now.columns.expiring.slice(0, MOST_EXPIRING).map(({ what, id, expires_at: at }) => {
          const [entry, atMs] = [now.byId.get(idText(id)), timeOf(at)];
          const isOver = atMs <= serviceNow();
          return (
            <li key={id}>
              <StatusMark status={isOver ? "down" : "degraded"} />
              <a class="cut" href={`#/monitors/${idText(id)}`} dir="auto">
                {entry?.name ?? idText(id)}
              </a>
              <span class="number" title={utc(atMs)}>
                <span class="sr-only">{t(`overview.${what}`)} </span>
                {isOver ? t("expiring.gone") : t("expiring.in", { duration: days(atMs - serviceNow()) })}
              </span>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
