/** The rows of a long table: only those in view are in the document, and the others are empty space of their height. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { rowsInView } from "./window.ts";

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
  const body = useRef<HTMLTableSectionElement>(null);
  const view = useSignal({ first: 0, end: 40 });
  const count = items.length;
  useLayoutEffect(() => {
    const update = () => {
      const top = -(body.current?.getBoundingClientRect().top ?? 0);
      const next = rowsInView(count, rowPx, top, innerHeight);
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
  return (
    <tbody ref={body}>
      <Space px={first * rowPx} columns={columns} />
      {items.slice(first, end).map((item, index) => row(item, first + index))}
      <Space px={(count - end) * rowPx} columns={columns} />
    </tbody>
  );
}

function Space({ px, columns }: { px: number; columns: number }) {
  return px === 0 ? null : (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: empty space takes no focus
    <tr aria-hidden="true" class="space">
      <td colSpan={columns} style={{ height: `${px}px` }} />
    </tr>
  );
}
