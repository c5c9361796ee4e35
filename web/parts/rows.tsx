/**
 * The rows of a long table: only those near the view are in the document, each at its place in a body of the whole height. While the page is scrolled,
 * rows that leave the view show what comes into it, and while many pass, only what can be read then; when it rests, they follow each other in the document again, as a keyboard needs it.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { PassingRows } from "./passing-rows.ts";
import { RowSlots } from "./row-slots.ts";
import { type RowWindow, rowsAtOnce, rowsInView } from "./window.ts";

/** Without a change of the view for so long, scrolling has ended, ms. */
const REST_MS = 200;
/** Without a change for so long, rows that passed are drawn whole, ms: less than a person waits for, more than between two turns of a wheel. */
const SETTLE_MS = 80;
/** `aria-rowindex` counts from one, and the head is the first. */
const INDEX_OF_FIRST = 2;

interface WindowedBodyProps<T> {
  readonly items: readonly T[];
  readonly rowPx: number;
  readonly idOf: (item: T) => string;
  /** The same function each time, or all rows are drawn anew. */
  readonly cells: (item: T) => ComponentChildren;
  /** What a row shows while many pass: what was drawn before in it may be handed back, and is not to be seen. Where it is missing, always all. */
  readonly passing?: (item: T, drawn: ComponentChildren) => ComponentChildren;
  /** Told which are in the document, when scrolling rests. */
  readonly rest?: (items: readonly T[]) => void;
}

export function WindowedBody<T>({ items, rowPx, idOf, cells, passing, rest }: WindowedBodyProps<T>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const slots = useMemo(() => new RowSlots(), []);
  const ordered = useRef(0);
  const count = items.length;
  const { view, rests, passers } = useScrolledView(body, count, rowPx);
  const first = Math.min(view.value.first, count);
  const end = Math.min(view.value.end, count);
  const active = body.current?.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
  const focused = active === null ? null : Number(active.closest("tr")?.ariaRowIndex) - INDEX_OF_FIRST;
  const ids = items.slice(first, end).map(idOf);
  const rows = slots.place(first, ids, rowsAtOnce(rowPx, innerHeight), focused, ordered.current !== rests.value);
  ordered.current = rests.value;
  useEffect(() => rest?.(items.slice(first, end)), [items, rests.value, rest]);
  useLayoutEffect(() => {
    // A browser takes the focus from what is moved in the document.
    if (active?.isConnected && document.activeElement !== active) active.focus({ preventScroll: true });
  });
  return (
    <tbody ref={body} class="rows" style={{ height: `${count * rowPx}px` }}>
      {rows.map(({ index, key }) => {
        const item = items[index];
        const how = passers.has(index) ? passing : undefined;
        return item === undefined ? null : (
          <Row key={key} item={item} index={index} topPx={index * rowPx} cells={cells} passing={how} />
        );
      })}
    </tbody>
  );
}

/** @returns which rows are near the view, how often scrolling came to rest, and which rows pass */
function useScrolledView(body: RefObject<HTMLTableSectionElement>, count: number, rowPx: number) {
  const view = useSignal<RowWindow>({ first: 0, end: rowsAtOnce(rowPx, innerHeight) });
  const rests = useSignal(0);
  const passers = useMemo(() => new PassingRows(), []);
  useLayoutEffect(() => {
    let resting: ReturnType<typeof setTimeout> | undefined;
    let settling: ReturnType<typeof setTimeout> | undefined;
    let frame = 0;
    let bodyPx = 0;
    const settle = () => {
      if (passers.settle()) frame = requestAnimationFrame(settle);
      else body.current?.classList.remove("fast");
      view.value = { ...view.peek() };
    };
    const rested = () => {
      resting = undefined;
      rests.value++;
    };
    const update = () => {
      // While it is scrolled, nothing above it changes its height, and asking where it is would have the browser lay the page out once more.
      if (resting === undefined) bodyPx = scrollY + (body.current?.getBoundingClientRect().top ?? 0);
      const topPx = scrollY - bodyPx;
      const next = rowsInView(count, rowPx, topPx, innerHeight);
      const before = view.peek();
      if (next.first === before.first && next.end === before.end) return;
      clearTimeout(settling);
      cancelAnimationFrame(frame);
      if (passers.moved(before, next)) body.current?.classList.add("fast");
      view.value = next;
      settling = setTimeout(settle, SETTLE_MS);
      clearTimeout(resting);
      resting = setTimeout(rested, REST_MS);
    };
    if (!passers.isEmpty) settle();
    update();
    addEventListener("scroll", update, { passive: true });
    addEventListener("resize", update);
    return () => {
      clearTimeout(settling);
      clearTimeout(resting);
      cancelAnimationFrame(frame);
      removeEventListener("scroll", update);
      removeEventListener("resize", update);
    };
  }, [count, rowPx, view, rests, passers, body]);
  return { view, rests, passers };
}

interface RowProps<T> {
  readonly item: T;
  readonly index: number;
  readonly topPx: number;
  readonly cells: (item: T) => ComponentChildren;
  readonly passing: ((item: T, drawn: ComponentChildren) => ComponentChildren) | undefined;
}

function Row<T>({ item, index, topPx, cells, passing }: RowProps<T>) {
  const drawn = useRef<ComponentChildren>(null);
  const passes = passing !== undefined && drawn.current !== null;
  drawn.current = passes ? passing(item, drawn.current) : cells(item);
  return (
    <tr aria-rowindex={index + INDEX_OF_FIRST} class={passes ? "passing" : undefined} style={{ top: `${topPx}px` }}>
      {drawn.current}
    </tr>
  );
}
