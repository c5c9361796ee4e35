/** What went down and came back in the last hour, and when. */
import { useMemo } from "preact/hooks";
import { client, data, type Schemas } from "../api/client.ts";
import { useReloadOn, useResource } from "../api/resource.ts";
import { Card } from "../parts/card.tsx";
import { Failed } from "../parts/states.tsx";
import { incidentState, serviceNow } from "../state/project.ts";
import { timeOf } from "../words/times.ts";
import { t } from "../words/words.ts";

type Incident = Schemas["IncidentList"]["incidents"][number];

const HOUR_MS = 3_600_000;
const RELOAD_MS = 60_000;
/** Of an hour in bars of a minute; its answer is of a thousand incidents at most. */
const REST_MS = 10_000;
/** More in one hour are a storm, whose number stands in the first line. */
const MOST = 1_000;
/** Of a minute each. */
const BARS = 60;
/** The picture is as wide as its place: only its proportions count. */
const BAR_PX = { wide: 8, step: 10, high: 36, least: 4 } as const;

export function LastHour() {
  const hour = useResource(
    (signal) => {
      const from = new Date(serviceNow() - HOUR_MS).toISOString();
      return data(client.GET("/incidents", { params: { query: { from, limit: MOST } }, signal }));
    },
    "last hour",
    RELOAD_MS,
  );
  useReloadOn(hour, incidentState.value, REST_MS);
  const { value, error } = hour.state.value;
  if (value === null) return error === null ? null : <Failed message={error} again={hour.reload} />;
  return <Told incidents={value.incidents} />;
}

function Told({ incidents }: { incidents: readonly Incident[] }) {
  const { wentDown, cameBack, bars } = useMemo(() => inHour(incidents, serviceNow()), [incidents]);
  return (
    <Card id="last-hour" title={t("overview.lastHour")}>
      {wentDown + cameBack === 0 ? (
        <p class="hint">{t("overview.calmHour")}</p>
      ) : (
        <>
          <p>
            {t("overview.wentDown", { n: wentDown })} · {t("overview.cameBack", { n: cameBack })}
          </p>
          <Bars bars={bars} />
        </>
      )}
    </Card>
  );
}

function Bars({ bars }: { bars: readonly number[] }) {
  const most = Math.max(...bars, 1);
  return (
    <svg
      class="hour-bars s-down"
      viewBox={`0 0 ${BARS * BAR_PX.step} ${BAR_PX.high}`}
      preserveAspectRatio="none"
      height={BAR_PX.high}
      aria-hidden="true"
    >
      {bars.map((count, place) => {
        const high = count === 0 ? 1 : Math.max(BAR_PX.least, (count / most) * BAR_PX.high);
        return (
          <rect
            key={place}
            class={count === 0 ? "none" : "beat"}
            x={place * BAR_PX.step}
            y={BAR_PX.high - high}
            width={BAR_PX.wide}
            height={high}
          />
        );
      })}
    </svg>
  );
}

/** @param nowMs by the service's clock; what went down in each part of the hour before it, the oldest first */
function inHour(incidents: readonly Incident[], nowMs: number) {
  const fromMs = nowMs - HOUR_MS;
  const bars = new Array<number>(BARS).fill(0);
  let cameBack = 0;
  for (const { started_at: start, ended_at: end } of incidents) {
    if (end !== null && timeOf(end) >= fromMs) cameBack++;
    const place = Math.floor(((timeOf(start) - fromMs) / HOUR_MS) * BARS);
    if (place >= 0) bars[Math.min(place, BARS - 1)] = (bars[Math.min(place, BARS - 1)] ?? 0) + 1;
  }
  return { wentDown: bars.reduce((sum, count) => sum + count, 0), cameBack, bars };
}
