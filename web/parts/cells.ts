/** Draws the cells of a group of monitors: a colour and a shape for each. */
import type { Run, Status } from "../state/monitors.ts";
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
  runs: readonly Run[],
  { cell, columns, height }: Layout,
  palette: Palette,
  active: number,
): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const [pitch, scale] = [cell + GAP, canvasScale()];
  canvas.width = columns * pitch * scale;
  canvas.height = Math.max(1, Math.round(height * scale));
  let from = 0;
  for (const { status, end } of runs) {
    context.fillStyle = tileOf(context, status, cell, scale, palette);
    for (const [x, y, width, high] of blocksOf(from, end, columns))
      context.fillRect(...([x, y, width, high].map((cells) => cells * pitch * scale) as Box));
    from = end;
  }
  if (active < 0) return;
  const [x, y] = [(active % columns) * pitch, Math.floor(active / columns) * pitch];
  context.scale(scale, scale);
  context.strokeStyle = palette.ring;
  context.lineWidth = 2;
  context.strokeRect(x - 0.5, y - 0.5, cell + 1, cell + 1);
}

type Box = [x: number, y: number, width: number, height: number];

/** @returns what a stretch of cells covers, in cells: the rest of its first row, the rows that it fills, and the start of its last one */
function blocksOf(from: number, end: number, columns: number): readonly Box[] {
  const [first, last] = [Math.floor(from / columns), Math.floor(end / columns)];
  const [start, stop] = [from % columns, end % columns];
  if (first === last) return [[start, first, stop - start, 1]];
  const whole = start === 0 ? first : first + 1;
  return [
    [start, first, columns - start, whole - first],
    [0, whole, columns, last - whole],
    [0, last, stop, 1],
  ];
}

/** Whole: each cell is then the same picture. */
export const canvasScale = (): number => (devicePixelRatio > 1 ? 2 : 1);

let tiles: { readonly key: string; readonly palette: Palette; readonly made: Map<Status, CanvasPattern> } | null = null;

/** One cell with the gap behind and below it, which fills a row of them at once: to draw thousands one by one takes longer than a frame. */
function tileOf(
  context: CanvasRenderingContext2D,
  status: Status,
  cell: number,
  scale: number,
  palette: Palette,
): CanvasPattern | string {
  const key = `${cell} ${scale}`;
  if (tiles?.key !== key || tiles.palette !== palette) tiles = { key, palette, made: new Map() };
  const known = tiles.made.get(status);
  if (known !== undefined) return known;
  const picture = document.createElement("canvas");
  picture.width = (cell + GAP) * scale;
  picture.height = picture.width;
  const inside = picture.getContext("2d");
  if (inside === null) return palette.fill[status];
  inside.scale(scale, scale);
  drawCell(inside, status, cell, palette);
  const tile = context.createPattern(picture, "repeat");
  if (tile === null) return palette.fill[status];
  tiles.made.set(status, tile);
  return tile;
}

function drawCell(context: CanvasRenderingContext2D, status: Status, cell: number, { fill, ink }: Palette): void {
  context.fillStyle = fill[status];
  context.fillRect(0, 0, cell, cell);
  context.strokeStyle = ink;
  context.fillStyle = ink;
  context.lineWidth = Math.max(1.2, cell / 8);
  if (status === "partial") context.fillRect(cell / 2, 0, cell / 2, cell);
  context.beginPath();
  for (const [fromX, fromY, toX, toY] of LINES[status] ?? []) {
    context.moveTo(fromX * cell, fromY * cell);
    context.lineTo(toX * cell, toY * cell);
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
