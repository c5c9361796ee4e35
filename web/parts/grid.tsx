/** All monitors as cells. The cells are a picture; for the keyboard and for screen readers the grid is a grid, and what is not well is a list. */
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Group, MonitorEntry } from "../state/monitors.ts";
import { theme } from "../state/prefs.ts";
import { revision, serviceNow } from "../state/project.ts";
import { go } from "../state/route.ts";
import { duration, milliseconds } from "../words/times.ts";
import { isRightToLeft, number, t } from "../words/words.ts";
import { canvasScale, cellAt, drawCells, type Layout, layoutOf, paletteOf } from "./cells.ts";
import { StatusMark, statusWord } from "./status.tsx";

/** Side of a cell, CSS px, while there are at most so many; a finger needs FINGER_PX. */
const CELLS = [
  { most: 300, px: 20 },
  { most: 3_000, px: 12 },
  { most: Number.POSITIVE_INFINITY, px: 8 },
] as const;
const FINGER_PX = 20;
/** The hidden lists of all groups are together about this long, and that of one group is at least LEAST_LISTED. */
const MOST_LISTED = 500;
const LEAST_LISTED = 10;
/** They follow the picture so much later, ms. */
const LISTED_LATER_MS = 2_500;
/** More groups than this are no overview. */
const MOST_GROUPS = 60;
const DARK = matchMedia("(prefers-color-scheme: dark)");

export interface Chosen {
  readonly group: number;
  readonly index: number;
}

export function Grid({ groups }: { groups: readonly Group[] }) {
  const chosen = useSignal<Chosen | null>(null);
  const total = groups.reduce((sum, { entries }) => sum + entries.length, 0);
  const fitting = CELLS.find(({ most }) => total <= most)?.px ?? FINGER_PX;
  const cell = matchMedia("(pointer: coarse)").matches ? FINGER_PX : fitting;
  const columns = useRef<number[]>([]);
  const drawn = groups.slice(0, MOST_GROUPS);
  const active = chosen.value === null ? undefined : drawn[chosen.value.group]?.entries[chosen.value.index];
  const move = (event: KeyboardEvent) => {
    const at = chosen.value ?? { group: 0, index: -1 };
    if (event.key === "Enter" && active !== undefined) go(`/monitors/${active.id}`);
    const next = neighbour(drawn, at, readingKey(event.key), columns.current[at.group] ?? 1);
    if (next === null) return;
    event.preventDefault();
    chosen.value = next;
  };
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a table of 10,000 cells is what this stands for */}
      <div
        role="grid"
        class="grid"
        aria-label={t("grid.label")}
        aria-describedby="grid-hint"
        tabIndex={0}
        {...(active !== undefined && { "aria-activedescendant": `cell-${active.id}` })}
        onKeyDown={move}
        onFocus={() => {
          chosen.value ??= { group: 0, index: 0 };
        }}
        onBlur={() => {
          chosen.value = null;
        }}
      >
        {drawn.map((group, index) => (
          <GroupRow
            key={group.name ?? ""}
            group={group}
            cell={cell}
            mostListed={Math.max(LEAST_LISTED, Math.floor(MOST_LISTED / drawn.length))}
            alone={groups.length === 1 && group.name === null}
            active={chosen.value?.group === index ? chosen.value.index : -1}
            choose={(at) => {
              chosen.value = at < 0 ? null : { group: index, index: at };
            }}
            laidOut={(count) => {
              columns.current[index] = count;
            }}
          />
        ))}
      </div>
      <p class="grid-line" id="grid-hint">
        {active === undefined ? t("grid.hint") : <CellWords entry={active} />}
      </p>
      {groups.length > MOST_GROUPS && <p class="hint">{t("grid.more", { n: groups.length - MOST_GROUPS })}</p>}
    </>
  );
}

/** Where text runs from right to left, so do the cells, and the arrow to the left leads on. */
function readingKey(key: string): string {
  if (!isRightToLeft()) return key;
  return key === "ArrowLeft" ? "ArrowRight" : key === "ArrowRight" ? "ArrowLeft" : key;
}

/** @returns where the key leads; null when it leads nowhere */
function neighbour(groups: readonly Group[], { group, index }: Chosen, key: string, columns: number): Chosen | null {
  const sizes = groups.map(({ entries }) => entries.length);
  const inGroup = (at: number): Chosen | null => (at >= 0 && at < (sizes[group] ?? 0) ? { group, index: at } : null);
  const before = group > 0 ? { group: group - 1, index: (sizes[group - 1] ?? 1) - 1 } : null;
  const after = group + 1 < groups.length ? { group: group + 1, index: 0 } : null;
  switch (key) {
    case "ArrowRight":
      return inGroup(index + 1) ?? after;
    case "ArrowLeft":
      return inGroup(index - 1) ?? before;
    case "ArrowDown":
      return inGroup(index + columns) ?? after;
    case "ArrowUp":
      return inGroup(index - columns) ?? before;
    case "Home":
      return inGroup(0);
    case "End":
      return inGroup((sizes[group] ?? 0) - 1);
    default:
      return null;
  }
}

function CellWords({ entry }: { entry: MonitorEntry }) {
  return (
    <>
      <StatusMark status={entry.status} /> {wordsOf(entry)}
    </>
  );
}

function wordsOf({ name, kind, status, sinceMs, latencyMs }: MonitorEntry): string {
  const since = sinceMs === null ? "" : ` ${t("since.for", { duration: duration(serviceNow() - sinceMs) })}`;
  const latency = latencyMs === null ? "" : ` · ${milliseconds(latencyMs)}`;
  return `${name} · ${kind} · ${statusWord(status)}${since}${latency}`;
}

interface GroupRowProps {
  readonly group: Group;
  readonly cell: number;
  readonly mostListed: number;
  /** There is no other: it needs no name. */
  readonly alone: boolean;
  readonly active: number;
  readonly choose: (index: number) => void;
  readonly laidOut: (columns: number) => void;
}

function GroupRow({ group: { name, entries, runs }, cell, mostListed, alone, active, choose, laidOut }: GroupRowProps) {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useSignal(0);
  const dark = useColourScheme();
  const layout = useRef<Layout>(layoutOf(0, 1, cell));
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      width.value = Math.floor(entry?.contentRect.width ?? 0);
    });
    if (host.current !== null) observer.observe(host.current);
    return () => observer.disconnect();
  }, [width]);
  useLayoutEffect(() => {
    if (canvas.current === null || host.current === null || width.value === 0) return;
    layout.current = layoutOf(entries.length, width.value, cell);
    laidOut(layout.current.columns);
    drawCells(canvas.current, runs, layout.current, paletteOf(`${theme.value} ${dark}`), active);
    canvas.current.style.width = `${canvas.current.width / canvasScale()}px`;
    // Worst come first: where the stretches of a status end is all that the picture shows.
  }, [runs.map(({ status, end }) => `${status}${end}`).join(), width.value, cell, active, dark, theme.value]);
  const hit = (event: MouseEvent) => cellAt(layout.current, entries.length, event.offsetX, event.offsetY);
  const current = entries[active];
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of the grid
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    <div role="row" class="group">
      {/* biome-ignore lint/a11y/useSemanticElements: heads of the grid's rows */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus */}
      <div role="rowheader" class={alone ? "sr-only" : "group-name"}>
        <span class="group-label">{name ?? t("grid.noGroup")}</span> <span class="faint">{number(entries.length)}</span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: the picture of a row's cells */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus */}
      <div role="gridcell" class="cells" ref={host}>
        {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: it takes no focus; the list below says the same */}
        <canvas
          ref={canvas}
          aria-hidden="true"
          onPointerMove={(event) => choose(hit(event))}
          onPointerLeave={() => choose(-1)}
          onClick={(event) => {
            const entry = entries[hit(event)];
            if (entry !== undefined) go(`/monitors/${entry.id}`);
          }}
        />
        <Unwell entries={entries} most={mostListed} />
      </div>
      {current !== undefined && (
        // biome-ignore lint/a11y/useSemanticElements: the cell that has the focus
        // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
        <span role="gridcell" class="sr-only" id={`cell-${current.id}`} key={current.id}>
          {wordsOf(current)}
        </span>
      )}
    </div>
  );
}

/**
 * What the picture shows of those that are not well, in words. It follows the picture a little later: in a storm each batch would have the browser lay
 * hundreds of lines out, which change faster than they can be read.
 */
function Unwell({ entries, most }: { entries: readonly MonitorEntry[]; most: number }) {
  const turn = useSignal(0);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const drawn = useRef(revision.value);
  useEffect(() => {
    if (drawn.current === revision.value || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      drawn.current = revision.peek();
      turn.value += 1;
    }, LISTED_LATER_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  return useMemo(
    () => (
      <ul class="sr-only">
        {unwellOf(entries, most).map(({ name, status }, place) => (
          <li key={place}>{`${name}: ${statusWord(status)}`}</li>
        ))}
      </ul>
    ),
    [entries.length, most, turn.value],
  );
}

function unwellOf(entries: readonly MonitorEntry[], most: number): readonly MonitorEntry[] {
  const unwell: MonitorEntry[] = [];
  for (const entry of entries) {
    if (entry.status === "healthy" || entry.status === "paused") continue;
    if (unwell.push(entry) === most) break;
  }
  return unwell;
}

/** Draws again when the system's own scheme changes. */
function useColourScheme(): boolean {
  const dark = useSignal(DARK.matches);
  useEffect(() => {
    const update = () => {
      dark.value = DARK.matches;
    };
    DARK.addEventListener("change", update);
    return () => DARK.removeEventListener("change", update);
  }, [dark]);
  return dark.value;
}
