/**
 * The rows of a long table: only those near the view are in the document, each at its place in a body of the whole height. While the page is scrolled,
 * rows that leave the view show what comes into it; when it rests, they follow each other in the document again, as a keyboard needs it.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { RowSlots } from "./row-slots.ts";
import { rowsAtOnce, rowsInView } from "./window.ts";

/** Without a change of the view for so long, scrolling has ended, ms. */
const REST_MS = 200;
/** `aria-rowindex` counts from one, and the head is the first. */
const INDEX_OF_FIRST = 2;

interface WindowedBodyProps<T> {
  readonly items: readonly T[];
  readonly rowPx: number;
  readonly idOf: (item: T) => string;
  /** The same function each time, or all rows are drawn anew. */
  readonly cells: (item: T) => ComponentChildren;
  /** Told which are in the document, when scrolling rests. */
  readonly rest?: (items: readonly T[]) => void;
}

export function WindowedBody<T>({ items, rowPx, idOf, cells, rest }: WindowedBodyProps<T>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const slots = useMemo(() => new RowSlots(), []);
  const view = useSignal({ first: 0, end: rowsAtOnce(rowPx, innerHeight) });
  const rests = useSignal(0);
  const ordered = useRef(0);
  const count = items.length;
  useLayoutEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const update = () => {
      const topPx = -(body.current?.getBoundingClientRect().top ?? 0);
      const next = rowsInView(count, rowPx, topPx, innerHeight);
      const { first, end } = view.peek();
      if (next.first === first && next.end === end) return;
      view.value = next;
      clearTimeout(timer);
      timer = setTimeout(() => rests.value++, REST_MS);
    };
    update();
    addEventListener("scroll", update, { passive: true });
    addEventListener("resize", update);
    return () => {
      clearTimeout(timer);
      removeEventListener("scroll", update);
      removeEventListener("resize", update);
    };
  }, [count, rowPx, view, rests]);
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
        return item === undefined ? null : (
          <Row key={key} item={item} index={index} topPx={index * rowPx} cells={cells} />
        );
      })}
    </tbody>
  );
}

interface RowProps<T> {
  readonly item: T;
  readonly index: number;
  readonly topPx: number;
  readonly cells: (item: T) => ComponentChildren;
}

function Row<T>({ item, index, topPx, cells }: RowProps<T>) {
  return (
    <tr aria-rowindex={index + INDEX_OF_FIRST} style={{ top: `${topPx}px` }}>
      {cells(item)}
    </tr>
  );
}
