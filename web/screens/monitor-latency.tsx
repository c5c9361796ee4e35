/** The latency of a monitor over a time of which single checks would be too many: the service sums them up. */
import { useMemo } from "preact/hooks";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import type { Line } from "../parts/chart.ts";
import { LatencyFigure, type Measured } from "../parts/latency.tsx";
import { Show } from "../parts/states.tsx";
import { PHASES } from "../parts/why.tsx";
import { stateOf, summedState } from "../state/point-state.ts";
import { serviceNow } from "../state/project.ts";
import { timeOf } from "../words/times.ts";
import { t } from "../words/words.ts";

const HOURS = { "24h": 24, "7d": 168, "30d": 720, "90d": 2_160 } as const;
const RELOAD_MS = 60_000;

export interface Shows {
  /** A line for each step of the checks, in place of one for all of it. */
  readonly bySteps: boolean;
  /** A line for how late each check began, beside the others. */
  readonly lateness: boolean;
  /** Only checks from there; "": from everywhere. */
  readonly place: string;
}

type Values = readonly (number | null)[];

/** @param valuesOf what each point has of a step */
function stepLines(valuesOf: (phase: (typeof PHASES)[number]) => Values): readonly Line[] {
  return PHASES.map((phase) => ({
    name: `${phase}_ms`,
    label: t(`phase.${phase}`),
    tone: `tone-${phase}`,
    values: valuesOf(phase),
  })).filter(({ values }) => values.some((value) => value !== null));
}

export function LatencyOfRows({ results, shows }: { results: Schemas["MonitorResults"]; shows: Shows }) {
  const rows = results.results
    .filter(({ explain }) => shows.place === "" || explain?.location === shows.place)
    .reverse();
  const lines = shows.bySteps
    ? stepLines((phase) => rows.map(({ explain }) => explain?.phases[phase] ?? null))
    : [
        {
          ...{ name: "latency_ms", label: t("latency.line"), tone: "tone-accent" },
          values: rows.map((row) => (stateOf(row) === "passed" ? row.latency_ms : null)),
        },
      ];
  const late = {
    ...{ name: "lateness_ms", label: t("latency.late"), tone: "tone-late" },
    values: rows.map(({ explain }) => explain?.lateness_ms ?? null),
  };
  return (
    <LatencyLines
      points={rows.map(({ tested_at }) => timeOf(tested_at) / 1_000)}
      lines={shows.lateness ? [...lines, late] : lines}
      states={rows.map(stateOf)}
    />
  );
}

export function SummedLatency({ id, period, shows }: { id: string; period: keyof typeof HOURS; shows: Shows }) {
  const latency = useResource(
    (signal) => {
      // The last day as the service counts it: a moment more would be of whole hours.
      const query = {
        ...(period !== "24h" && { from: new Date(serviceNow() - HOURS[period] * 3_600_000).toISOString() }),
        ...(shows.place !== "" && { location: shows.place }),
      };
      return data(client.GET("/servers/{id}/latency", { params: { path: { id }, query }, signal }));
    },
    `${id} ${period} ${shows.place}`,
    RELOAD_MS,
  );
  return (
    <Show resource={latency} rows={5}>
      {({ t: times, avg, p95, phases, checks, failed, ours }) => (
        <LatencyLines
          points={times.map((at) => Date.parse(at) / 1_000)}
          states={times.map((_, place) => summedState(checks[place] ?? 0, failed[place] ?? 0, ours[place] ?? 0))}
          lines={
            shows.bySteps
              ? stepLines((phase) => phases[phase] ?? [])
              : [
                  { name: "avg_ms", label: t("latency.mean"), tone: "tone-accent", values: avg },
                  { name: "p95_ms", label: t("latency.p95"), tone: "tone-second", values: p95 },
                ]
          }
        />
      )}
    </Show>
  );
}

/** Drawn anew when the newest or the oldest point is another one, and not for nothing. */
function LatencyLines({ points, lines, states }: Measured) {
  const newest = lines.map(({ name, values }) => `${name} ${values.at(-1)}`).join(" ");
  const key = `${points.length} ${points[0]} ${points.at(-1)} ${newest} ${states.at(-1)}`;
  const drawn = useMemo(() => ({ points, lines, states }), [key]);
  if (lines.every(({ values }) => values.every((value) => value === null)))
    return <p class="hint">{t("latency.none")}</p>;
  return <LatencyFigure {...drawn} />;
}
