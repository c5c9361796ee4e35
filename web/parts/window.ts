/** Which rows of a long list are in view. Pure. */

/** Rows that come and go together. */
export const BLOCK_ROWS = 8;
/** Rows drawn above and below what is seen, so that scrolling meets no blank: as many at least, and up to a block more. */
const MORE_ROWS = 8;

export interface RowWindow {
  readonly first: number;
  /** One past the last. */
  readonly end: number;
}

/**
 * @param topPx of the list above the top of the view; negative while the list begins inside it
 * @param viewPx height of the view
 */
export function rowsInView(count: number, rowPx: number, topPx: number, viewPx: number): RowWindow {
  const clamp = (row: number) => Math.min(Math.max(row, 0), count);
  const first = clamp((Math.floor(topPx / rowPx) - MORE_ROWS) & -BLOCK_ROWS);
  const end = clamp((Math.ceil((topPx + viewPx) / rowPx) + MORE_ROWS + BLOCK_ROWS - 1) & -BLOCK_ROWS);
  return { first, end: Math.max(first, end) };
}
