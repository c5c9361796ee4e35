/** The latency of a monitor over a time of which single checks would be too many: the service sums them up. */
import { useMemo } from "preact/hooks";
import { client, data } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import type { Line } from "../parts/chart.ts";
import { LatencyFigure } from "../parts/latency.tsx";
import { Show } from "../parts/states.tsx";
import { serviceNow } from "../state/project.ts";
import { t } from "../words/words.ts";

const HOURS = { "24h": 24, "7d": 168, "30d": 720, "90d": 2_160 } as const;
const RELOAD_MS = 60_000;

export function SummedLatency({ id, period }: { id: string; period: keyof typeof HOURS }) {
  const latency = useResource(
    (signal) => {
      // The last day as the service counts it: a moment more would be of whole hours.
      const query = period === "24h" ? {} : { from: new Date(serviceNow() - HOURS[period] * 3_600_000).toISOString() };
      return data(client.GET("/servers/{id}/latency", { params: { path: { id }, query }, signal }));
    },
    `${id} ${period}`,
    RELOAD_MS,
  );
  return (
    <Show resource={latency} rows={5}>
      {({ t: times, avg, p95 }) => (
        <LatencyLines
          points={times.map((at) => Date.parse(at) / 1_000)}
          lines={[
            { label: t("latency.mean"), tone: "tone-accent", values: avg },
            { label: t("latency.p95"), tone: "tone-second", values: p95 },
          ]}
        />
      )}
    </Show>
  );
}

/** Drawn anew when the newest or the oldest point is another one, and not for nothing. */
export function LatencyLines({ points, lines }: { points: readonly number[]; lines: readonly Line[] }) {
  const newest = lines.map(({ values }) => values.at(-1)).join(" ");
  const key = `${points.length} ${points[0]} ${points.at(-1)} ${newest}`;
  const drawn = useMemo(() => ({ points, lines }), [key]);
  if (lines.every(({ values }) => values.every((value) => value === null)))
    return <p class="hint">{t("latency.none")}</p>;
  return <LatencyFigure points={drawn.points} lines={drawn.lines} />;
}
