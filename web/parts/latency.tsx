/** Latency over time: a chart that is loaded when it is first needed, and the same as a table. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { theme } from "../state/prefs.ts";
import type { Sheet } from "../state/sheet.ts";
import { dateTime, milliseconds } from "../words/times.ts";
import { t } from "../words/words.ts";
import type { Line } from "./chart.ts";
import { Exports } from "./exports.tsx";
import { Skeleton } from "./states.tsx";

/** The table has at most this many rows; the newest are in it. */
const MOST_ROWS = 100;

export function LatencyFigure({ points, lines }: { points: readonly number[]; lines: readonly Line[] }) {
  const asTable = useSignal(false);
  return (
    <figure class="latency" aria-label={t("latency.label")}>
      <div class="figure-head">
        <figcaption>{t("latency.label")}</figcaption>
        <Exports name="latency" sheet={() => sheetOf(points, lines)} />
        <button
          type="button"
          class="button small"
          aria-pressed={asTable.value}
          onClick={() => {
            asTable.value = !asTable.value;
          }}
        >
          {t("latency.table")}
        </button>
      </div>
      {asTable.value ? <LatencyTable points={points} lines={lines} /> : <Chart points={points} lines={lines} />}
    </figure>
  );
}

function sheetOf(points: readonly number[], lines: readonly Line[]): Sheet {
  return {
    heads: ["time", ...lines.map(({ name }) => name)],
    rows: points.map((atS, place) => [
      new Date(atS * 1_000).toISOString(),
      ...lines.map(({ values }) => values[place] ?? null),
    ]),
  };
}

function Chart({ points, lines }: { points: readonly number[]; lines: readonly Line[] }) {
  const host = useRef<HTMLDivElement>(null);
  const failed = useSignal(false);
  const ready = useSignal(false);
  useEffect(() => {
    let end = () => {};
    let left = false;
    import("./chart.ts").then(
      ({ drawChart }) => {
        if (left || host.current === null) return;
        ready.value = true;
        end = drawChart(host.current, points, lines);
      },
      () => {
        failed.value = true;
      },
    );
    return () => {
      left = true;
      end();
    };
  }, [points, lines, failed, ready, theme.value]);
  if (failed.value) return <p class="hint">{t("latency.failed")}</p>;
  return (
    <div class="chart" ref={host}>
      {!ready.value && <Skeleton rows={5} />}
    </div>
  );
}

function LatencyTable({ points, lines }: { points: readonly number[]; lines: readonly Line[] }) {
  const rows = points
    .map((_, index) => index)
    .slice(-MOST_ROWS)
    .reverse();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label={t("latency.tableLabel")}>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{t("col.time")}</th>
            {lines.map(({ label }) => (
              <th scope="col" key={label}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((index) => (
            <tr key={index}>
              <td>{dateTime((points[index] ?? 0) * 1_000)}</td>
              {lines.map(({ label, values }) => (
                <td key={label}>{milliseconds(values[index])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
