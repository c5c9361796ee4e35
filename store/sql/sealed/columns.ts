/** Sealed columns, of the tables' declarations: what a rotation of the sealing key seals anew. */
import type { SealedCell } from "../../sealed-cells.ts";
import type { Columns } from "../schema/column.ts";
import { TABLES } from "../schema/tables.ts";

export interface SealedColumn {
  readonly table: string;
  /** The table's primary key, one number. */
  readonly key: string;
  readonly column: string;
  /** SQL expressions of what a row is known by, as the code that seals a cell knows it. */
  readonly row: readonly string[];
  readonly cell: (...row: readonly (string | number)[]) => SealedCell;
}

export const SEALED_COLUMNS: readonly SealedColumn[] = Object.values(TABLES).flatMap(({ name, columns }) => {
  const [key = ""] = Object.keys(columns);
  return Object.entries(columns as Columns).flatMap(([column, { sealed }]) =>
    sealed === null ? [] : [{ table: name, key, column, row: sealed.row ?? [key], cell: sealed.cell }],
  );
});
