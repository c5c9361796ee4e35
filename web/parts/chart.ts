/** The lazy part with uPlot in it. */
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { clock, dateTime, milliseconds, minute, shortDay } from "../words/times.ts";

export interface Line {
  readonly label: string;
  /** In files. */
  readonly name: string;
  /** CSS class whose colour the line has. */
  readonly tone: string;
  readonly values: readonly (number | null)[];
}

const HEIGHT = 220;
const FONT = "12px system-ui";
/** Right of the lines, CSS px: at least, and beside the half of a mark's text that stands there. */
const LEAST_RIGHT = 12;
const BESIDE_TEXT = 4;
/** Between two marks of times, CSS px. */
const LEAST_APART = 76;
const MINUTE_S = 60;
const DAY_S = 86_400;

/**
 * @param points Unix s, growing
 * @returns ends it
 */
export function drawChart(host: HTMLElement, points: readonly number[], lines: readonly Line[]): () => void {
  const colour = (tone: string) => {
    const probe = document.createElement("span");
    probe.className = tone;
    host.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
  const times = timeMarks();
  const make = () => {
    const grid = { stroke: colour("tone-line"), width: 1 };
    const axis = { stroke: colour("tone-text"), grid, ticks: grid, font: FONT };
    return new uPlot(
      {
        width: Math.max(host.clientWidth, 200),
        height: HEIGHT,
        padding: [12, times.room, 0, 0],
        cursor: { y: false },
        scales: { y: { range: (_, __, max) => [0, Math.max((max ?? 0) * 1.1, 1)] } },
        axes: [
          { ...axis, space: LEAST_APART, values: times.marks },
          { ...axis, size: 64, values: (_, splits) => splits.map((ms) => milliseconds(ms)) },
        ],
        series: [
          { label: "", value: (_, s) => (s === null ? "" : dateTime(s * 1_000)) },
          ...lines.map(({ label, tone }) => ({
            label,
            stroke: colour(tone),
            width: 1.5,
            points: { show: points.length < 60, size: 4 },
            spanGaps: false,
            value: (_: uPlot, ms: number | null) => milliseconds(ms),
          })),
        ],
      },
      [points as number[], ...lines.map(({ values }) => values as (number | null)[])],
      host,
    );
  };
  let plot = make();
  const observer = new ResizeObserver(() => plot.setSize({ width: Math.max(host.clientWidth, 200), height: HEIGHT }));
  observer.observe(host);
  const again = () => {
    plot.destroy();
    plot = make();
  };
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", again);
  return () => {
    observer.disconnect();
    scheme.removeEventListener("change", again);
    plot.destroy();
  };
}

/** @param stepS between two marks of the axis */
function tick(atMs: number, stepS: number): string {
  if (stepS >= DAY_S) return shortDay(atMs);
  return stepS >= MINUTE_S ? minute(atMs) : clock(atMs);
}

/** The marks of an axis of times, and the room at its end: the text of the last one is as wide as its language makes it. */
function timeMarks() {
  let last = "";
  return {
    marks(_: uPlot, splits: readonly number[], __: number, ___: number, stepS: number): string[] {
      const marks = splits.map((s) => tick(s * 1_000, stepS));
      last = marks.at(-1) ?? "";
      return marks;
    },
    room: () => Math.max(LEAST_RIGHT, widthOf(last) / 2 + BESIDE_TEXT),
  };
}

function widthOf(text: string): number {
  const context = document.createElement("canvas").getContext("2d");
  if (context === null) return 0;
  context.font = FONT;
  return context.measureText(text).width;
}
