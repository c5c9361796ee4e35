/** Narrows the list of incidents. What is chosen stands in the address, so that it can be sent. */
import { Icon } from "../parts/icon.tsx";
import { useMedia } from "../parts/media.ts";
import { shown } from "../state/project.ts";
import { replaceParameter, route } from "../state/route.ts";
import { type Key, t } from "../words/words.ts";
import { dayOf } from "../words/zone.ts";

const SEVERITIES = ["", "critical", "warning"] as const;
const ACKNOWLEDGED = ["", "false", "true"] as const;
const WORDS: Readonly<Record<(typeof ACKNOWLEDGED)[number], Key>> = {
  "": "incidents.any",
  false: "incidents.unacknowledged",
  true: "incident.acknowledged",
};

export interface IncidentQuery {
  readonly tag?: string;
  readonly severity?: "critical" | "warning";
  readonly acknowledged?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly server_id?: string;
}

/** As the address has it; what is none of ours is left out. */
export function incidentQuery(query: URLSearchParams): IncidentQuery {
  const severity = SEVERITIES.find((word) => word !== "" && word === query.get("severity"));
  const acknowledged = ACKNOWLEDGED.find((word) => word !== "" && word === query.get("ack"));
  const tag = query.get("tag")?.trim() ?? "";
  const monitor = query.get("monitor") ?? "";
  const days = { from: dayOf(query.get("from") ?? ""), to: dayOf(query.get("to") ?? "") };
  const [from, to] = [isoOf(days.from?.fromMs), isoOf(days.to?.untilMs)];
  return {
    ...(tag !== "" && { tag }),
    ...(monitor !== "" && { server_id: monitor }),
    ...(severity !== undefined && severity !== "" && { severity }),
    ...(acknowledged !== undefined && { acknowledged: acknowledged === "true" }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}

const isoOf = (atMs: number | undefined) => (atMs === undefined ? undefined : new Date(atMs).toISOString());

/** A phone at night shows incidents first: what narrows them opens with a touch, and stays open where something is chosen. */
export function IncidentsFilter() {
  const isPhone = useMedia("(max-width: 700px)");
  if (!isPhone)
    return (
      <search class="bar incidents-filter">
        <Choices />
      </search>
    );
  return (
    <search class="incidents-filter">
      <details open={Object.keys(incidentQuery(route.value.query)).length > 0}>
        <summary>{t("incidents.narrow")}</summary>
        <div class="bar">
          <Choices />
        </div>
      </details>
    </search>
  );
}

function Choices() {
  const { query } = route.value;
  const value = (name: string) => query.get(name) ?? "";
  return (
    <>
      <select
        aria-label={t("incidents.severity")}
        value={value("severity")}
        onChange={(event) => replaceParameter("severity", event.currentTarget.value)}
      >
        {SEVERITIES.map((word) => (
          <option key={word} value={word}>
            {t(word === "" ? "incidents.anySeverity" : `severity.${word}`)}
          </option>
        ))}
      </select>
      <select
        aria-label={t("incident.acknowledged")}
        value={value("ack")}
        onChange={(event) => replaceParameter("ack", event.currentTarget.value)}
      >
        {ACKNOWLEDGED.map((word) => (
          <option key={word} value={word}>
            {t(WORDS[word])}
          </option>
        ))}
      </select>
      <input
        type="search"
        id="filter"
        dir="auto"
        aria-label={t("bulk.tag")}
        placeholder={t("bulk.tag")}
        value={value("tag")}
        onChange={(event) => replaceParameter("tag", event.currentTarget.value)}
      />
      {value("monitor") !== "" && (
        <button type="button" class="button" onClick={() => replaceParameter("monitor", "")}>
          <bdi class="cut">{shown.value?.byId.get(value("monitor"))?.name ?? value("monitor")}</bdi>
          <Icon name="x" size={14} />
        </button>
      )}
      {(["from", "to"] as const).map((name) => (
        <label key={name} class="group-by">
          <span>{t(`incidents.${name}`)}</span>
          <input
            type="date"
            value={value(name)}
            onChange={(event) => replaceParameter(name, event.currentTarget.value)}
          />
        </label>
      ))}
    </>
  );
}
