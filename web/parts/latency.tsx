/** Latency over time: a chart that is loaded when it is first needed, and the same as a table. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { PointState } from "../state/point-state.ts";
import { theme } from "../state/prefs.ts";
import type { Sheet } from "../state/sheet.ts";
import { dateTime, milliseconds } from "../words/times.ts";
import { t } from "../words/words.ts";
import type { Line } from "./chart.ts";
import { Exports } from "./exports.tsx";
import { Skeleton } from "./states.tsx";

/** The table has at most this many rows; the newest are in it. */
const MOST_ROWS = 100;

export interface Measured {
  /** Unix s, growing. */
  readonly points: readonly number[];
  readonly lines: readonly Line[];
  /** Of each point. */
  readonly states: readonly PointState[];
}

export function LatencyFigure(measured: Measured) {
  const asTable = useSignal(false);
  return (
    <figure class="latency" aria-label={t("latency.label")}>
      <div class="figure-head">
        <figcaption>{t("latency.label")}</figcaption>
        <Exports name="latency" sheet={() => sheetOf(measured)} />
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
      {asTable.value ? <LatencyTable {...measured} /> : <Chart {...measured} />}
      {!asTable.value && <Meanings states={measured.states} />}
    </figure>
  );
}

/** What the marks mean, of those that are drawn. */
function Meanings({ states }: Pick<Measured, "states">) {
  const marks = (["failed", "ours"] as const).filter((state) => states.includes(state));
  if (marks.length === 0) return null;
  return (
    <p class="hint marks-meant">
      {marks.map((state) => (
        <span key={state}>
          <span class={`mark-${state}`} aria-hidden="true" /> {t(`latency.mark.${state}`)}
        </span>
      ))}
    </p>
  );
}

function sheetOf({ points, lines, states }: Measured): Sheet {
  return {
    heads: ["time", ...lines.map(({ name }) => name), "result"],
    rows: points.map((atS, place) => [
      new Date(atS * 1_000).toISOString(),
      ...lines.map(({ values }) => values[place] ?? null),
      states[place] ?? "",
    ]),
  };
}

function Chart({ points, lines, states }: Measured) {
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
        end = drawChart(host.current, points, lines, states);
      },
      () => {
        failed.value = true;
      },
    );
    return () => {
      left = true;
      end();
    };
  }, [points, lines, states, failed, ready, theme.value]);
  if (failed.value) return <p class="hint">{t("latency.failed")}</p>;
  return (
    <div class="chart" ref={host}>
      {!ready.value && <Skeleton rows={5} />}
    </div>
  );
}

function LatencyTable({ points, lines, states }: Measured) {
  const hasStates = states.some((state) => state !== "passed");
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
            {hasStates && <th scope="col">{t("col.result")}</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((index) => (
            <tr key={index}>
              <td>{dateTime((points[index] ?? 0) * 1_000)}</td>
              {lines.map(({ label, values }) => (
                <td key={label}>{milliseconds(values[index])}</td>
              ))}
              {hasStates && <td>{stateWord(states[index])}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function stateWord(state: PointState | undefined): string {
  return state === "failed" || state === "ours" ? t(`latency.mark.${state}`) : "";
}
