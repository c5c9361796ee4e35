/** Which rows of a long list are in view. Pure. */

/** Rows drawn above and below what is seen, so that scrolling meets no blank. */
const MORE_ROWS = 8;

export interface RowWindow {
  readonly first: number;
  /** One past the last. */
  readonly end: number;
}

/** @returns how many rows are in the document at a time, however far the list is scrolled */
export function rowsAtOnce(rowPx: number, viewPx: number): number {
  return Math.ceil(viewPx / rowPx) + 1 + 2 * MORE_ROWS;
}

/**
 * @param topPx of the list above the top of the view; negative while the list begins inside it
 * @returns as many rows as are drawn at once, or all where there are fewer
 */
export function rowsInView(count: number, rowPx: number, topPx: number, viewPx: number): RowWindow {
  const most = rowsAtOnce(rowPx, viewPx);
  const wanted = Math.floor(topPx / rowPx) - MORE_ROWS;
  const first = Math.max(0, Math.min(wanted, count - most));
  return { first, end: Math.min(count, first + most) };
}
