/** The lazy part with uPlot in it. */
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { PointState } from "../state/point-state.ts";
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
/** Half the width of a failed check's cross, and the least half of a shade, CSS px. */
const CROSS = 3;
/** With more points than this, lines show them without dots. */
const MOST_DOTTED = 60;
const MINUTE_S = 60;
const DAY_S = 86_400;

/**
 * @param points Unix s, growing
 * @returns ends it
 */
export function drawChart(
  host: HTMLElement,
  points: readonly number[],
  lines: readonly Line[],
  states: readonly PointState[],
): () => void {
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
        hooks: {
          drawClear: [
            (plot: uPlot) => drawStates(plot, states, { ours: colour("tone-ours"), failed: colour("s-down") }),
          ],
        },
        cursor: { y: false },
        scales: { y: { range: (_, __, max) => [0, Math.max((max ?? 0) * 1.1, 1)] } },
        axes: [
          { ...axis, space: LEAST_APART, values: times.marks },
          { ...axis, size: 64, values: (_, splits) => splits.map((ms) => milliseconds(ms)) },
        ],
        series: [
          { label: "", value: (_, s) => (s === null ? "" : dateTime(s * 1_000)) },
          ...lines.map(({ label, tone }) => seriesOf(label, colour(tone), points.length < MOST_DOTTED)),
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

/** Below the lines: shaded where nothing was measured, a cross at the foot where a check failed. */
function drawStates(
  plot: uPlot,
  states: readonly PointState[],
  tones: { readonly ours: string; readonly failed: string },
): void {
  const { ctx, bbox } = plot;
  const [times] = plot.data;
  const placeOf = (index: number): number => {
    const at = times[Math.min(Math.max(index, 0), times.length - 1)] ?? 0;
    return plot.valToPos(at, "x", true);
  };
  // From half way to the point before until half way to the next.
  const edge = (index: number): number => (placeOf(index - 1) + placeOf(index)) / 2;
  const size = CROSS * devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = tones.ours;
  ctx.strokeStyle = tones.failed;
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.beginPath();
  for (const [index, state] of states.entries()) {
    if (state === "ours") {
      const from = Math.min(edge(index), placeOf(index) - size);
      const width = Math.max(edge(index + 1), placeOf(index) + size) - from;
      ctx.fillRect(from, bbox.top, width, bbox.height);
    }
    if (state !== "failed") continue;
    const [x, y] = [placeOf(index), bbox.top + bbox.height - 2 * size];
    ctx.moveTo(x - size, y - size);
    ctx.lineTo(x + size, y + size);
    ctx.moveTo(x + size, y - size);
    ctx.lineTo(x - size, y + size);
  }
  ctx.stroke();
  ctx.restore();
}

function seriesOf(label: string, stroke: string, isDotted: boolean): uPlot.Series {
  return {
    label,
    stroke,
    width: 1.5,
    points: { show: isDotted, size: 4 },
    spanGaps: false,
    value: (_, ms) => milliseconds(ms),
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
