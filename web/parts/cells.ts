/** Draws the cells of a group of monitors: a colour and a shape for each. */
import type { MonitorEntry, Status } from "../state/monitors.ts";
import { STATUSES } from "../state/monitors.ts";

/** Between two cells, CSS px. */
const GAP = 2;

export interface Layout {
  /** Side of a cell, CSS px. */
  readonly cell: number;
  readonly columns: number;
  readonly height: number;
}

export interface Palette {
  readonly fill: Readonly<Record<Status, string>>;
  /** Of shapes inside cells, and of the ring around the chosen one. */
  readonly ink: string;
  readonly ring: string;
}

/** @param cell wanted side, CSS px */
export function layoutOf(count: number, width: number, cell: number): Layout {
  const columns = Math.max(1, Math.floor((width + GAP) / (cell + GAP)));
  return { cell, columns, height: Math.ceil(count / columns) * (cell + GAP) };
}

/** @returns which cell is there; -1 for none */
export function cellAt({ cell, columns }: Layout, count: number, x: number, y: number): number {
  const column = Math.floor(x / (cell + GAP));
  const index = Math.floor(y / (cell + GAP)) * columns + column;
  return column < 0 || column >= columns || index < 0 || index >= count ? -1 : index;
}

let known: { readonly key: string; readonly palette: Palette } | null = null;

/** Colours as the style sheet has them now. @param key what they depend on: asked once for each */
export function paletteOf(key: string): Palette {
  if (known?.key !== key) known = { key, palette: askedPalette() };
  return known.palette;
}

function askedPalette(): Palette {
  // Each colour by an element of its own: one that changes its colour may be on its way from the one before.
  const colour = (className: string) => {
    const probe = document.createElement("span");
    probe.className = className;
    document.body.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
  const fill = Object.fromEntries(STATUSES.map((status) => [status, colour(`cell-colour s-${status}`)]));
  return { fill: fill as Record<Status, string>, ink: colour("cell-ink"), ring: colour("cell-ring") };
}

export function drawCells(
  canvas: HTMLCanvasElement,
  entries: readonly MonitorEntry[],
  { cell, columns, height }: Layout,
  { fill, ink, ring }: Palette,
  active: number,
): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const scale = Math.min(devicePixelRatio || 1, 2);
  canvas.width = Math.round(columns * (cell + GAP) * scale);
  canvas.height = Math.max(1, Math.round(height * scale));
  context.scale(scale, scale);
  const place = (index: number): readonly [number, number] => [
    (index % columns) * (cell + GAP),
    Math.floor(index / columns) * (cell + GAP),
  ];
  let colour = "";
  for (const [index, { status }] of entries.entries()) {
    const [x, y] = place(index);
    if (fill[status] !== colour) {
      colour = fill[status];
      context.fillStyle = colour;
    }
    context.fillRect(x, y, cell, cell);
  }
  drawShapes(context, entries, place, cell, ink);
  if (active < 0) return;
  const [x, y] = place(active);
  context.strokeStyle = ring;
  context.lineWidth = 2;
  context.strokeRect(x - 0.5, y - 0.5, cell + 1, cell + 1);
}

/** All of them are one path, which is stroked once: thousands of strokes take longer than a frame. */
function drawShapes(
  context: CanvasRenderingContext2D,
  entries: readonly MonitorEntry[],
  place: (index: number) => readonly [number, number],
  cell: number,
  ink: string,
): void {
  context.strokeStyle = ink;
  context.fillStyle = ink;
  context.lineWidth = Math.max(1.2, cell / 8);
  context.beginPath();
  for (const [index, { status }] of entries.entries()) {
    if (status === "healthy") continue;
    const [x, y] = place(index);
    if (status === "partial") context.fillRect(x + cell / 2, y, cell / 2, cell);
    for (const [fromX, fromY, toX, toY] of LINES[status] ?? []) {
      context.moveTo(x + fromX * cell, y + fromY * cell);
      context.lineTo(x + toX * cell, y + toY * cell);
    }
  }
  context.stroke();
}

/** Of shapes inside a cell of side 1. */
const LINES: Readonly<Partial<Record<Status, readonly (readonly [number, number, number, number])[]>>> = {
  down: [
    [0.27, 0.27, 0.73, 0.73],
    [0.73, 0.27, 0.27, 0.73],
  ],
  degraded: [
    [0.5, 0.2, 0.5, 0.58],
    [0.5, 0.7, 0.5, 0.82],
  ],
  paused: [
    [0.38, 0.28, 0.38, 0.72],
    [0.62, 0.28, 0.62, 0.72],
  ],
  unknown: [
    [0, 0.6, 0.6, 0],
    [0.4, 1, 1, 0.4],
  ],
  maintenance: [
    [0.5, 0.2, 0.8, 0.5],
    [0.8, 0.5, 0.5, 0.8],
    [0.5, 0.8, 0.2, 0.5],
    [0.2, 0.5, 0.5, 0.2],
  ],
};
