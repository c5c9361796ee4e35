/**
 * The rows of a long table: only those near the view are in the document, and the others are empty space of their height. They come and go in blocks,
 * each a body of its own that is painted by itself: a block that stays costs nothing while the page is scrolled.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { BLOCK_ROWS, rowsInView } from "./window.ts";

/** @param columns how many the table has, for the row of empty space */
export function WindowedBody<T>({
  items,
  rowPx,
  columns,
  row,
}: {
  items: readonly T[];
  rowPx: number;
  columns: number;
  row: (item: T, index: number) => ComponentChildren;
}) {
  const top = useRef<HTMLTableSectionElement>(null);
  const view = useSignal({ first: 0, end: 5 * BLOCK_ROWS });
  const count = items.length;
  useLayoutEffect(() => {
    const update = () => {
      const topPx = -(top.current?.getBoundingClientRect().top ?? 0);
      const next = rowsInView(count, rowPx, topPx, innerHeight);
      const { first, end } = view.peek();
      if (next.first !== first || next.end !== end) view.value = next;
    };
    update();
    addEventListener("scroll", update, { passive: true });
    addEventListener("resize", update);
    return () => {
      removeEventListener("scroll", update);
      removeEventListener("resize", update);
    };
  }, [count, rowPx, view]);
  const first = Math.min(view.value.first, count);
  const end = Math.min(view.value.end, count);
  const blocks: ComponentChildren[] = [];
  for (let from = first; from < end; from += BLOCK_ROWS) {
    const rows = items.slice(from, Math.min(from + BLOCK_ROWS, end));
    blocks.push(
      <tbody key={from} class="block">
        {rows.map((item, index) => row(item, from + index))}
      </tbody>,
    );
  }
  return (
    <>
      <tbody key="before" ref={top} aria-hidden="true" class="space">
        <Space px={first * rowPx} columns={columns} />
      </tbody>
      {blocks}
      <tbody key="after" aria-hidden="true" class="space">
        <Space px={(count - end) * rowPx} columns={columns} />
      </tbody>
    </>
  );
}

function Space({ px, columns }: { px: number; columns: number }) {
  return px === 0 ? null : (
    <tr class="space">
      <td colSpan={columns} style={{ height: `${px}px` }} />
    </tr>
  );
}
