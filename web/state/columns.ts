/** Which columns the table of monitors has: as the address says, so that a saved view has its own, or as was last chosen on this device. Pure. */

export const COLUMN_NAMES = [
  "status",
  "name",
  "kind",
  "latency",
  "p95",
  "beats",
  "uptime",
  "interval",
  "since",
  "checked",
] as const;
export type ColumnName = (typeof COLUMN_NAMES)[number];
/** Without them a row says nothing. */
export const FIXED_COLUMNS: ReadonlySet<ColumnName> = new Set<ColumnName>(["status", "name"]);
/** Of a table by the room it has. */
const USUAL = {
  wide: COLUMN_NAMES,
  usual: ["status", "name", "kind", "latency", "beats", "since", "checked"],
  narrow: ["status", "name", "latency", "checked"],
} as const;
export type Room = keyof typeof USUAL;

/** @param text names between commas; "": as usual. What is no name is left out. */
export function columnsOf(text: string, room: Room): readonly ColumnName[] {
  if (text === "") return USUAL[room];
  const wanted = new Set(text.split(","));
  return COLUMN_NAMES.filter((name) => FIXED_COLUMNS.has(name) || wanted.has(name));
}

/** @returns the text of the columns with this one shown or not */
export function withColumn(columns: readonly ColumnName[], name: ColumnName, isShown: boolean): string {
  return COLUMN_NAMES.filter((one) => (one === name ? isShown : columns.includes(one))).join(",");
}
