/**
 * Columns, declared once each (tables.ts): name, type, what a value is in the row and in our records, whether it is sealed. The query
 * builder's types, the mapping of rows, bulk statements and the list of sealed columns follow from it.
 */
import type { Generated } from "kysely";
import type { SealedCell } from "../../sealed-cells.ts";
import { fromJson, listFromJson, storable, toJson } from "./text.ts";

/** PostgreSQL's names; SQLite has the same types under other names. */
export type SqlType = "bigint" | "int" | "text" | "float8";
export type SqlValue = string | number | null;

/**
 * record: a member of the record, under the column's name in camel case · derived: written from other members of the record ·
 * store: the store's own
 */
type Use = "record" | "derived" | "store";

/** How the cells of a sealed column are bound. */
export interface CellBinding {
  /** SQL expressions of what a row is known by; absent: its primary key. */
  readonly row?: readonly string[];
  cell(...row: readonly (string | number)[]): SealedCell;
}

export interface Column<
  Value,
  Row,
  Used extends Use = Use,
  Property extends string | null = string | null,
  HasDefault extends boolean = boolean,
> {
  readonly type: SqlType;
  readonly nullable: boolean;
  /** The database gives a value where an insert has none. */
  readonly hasDefault: HasDefault;
  readonly use: Used;
  /** Name of the record's member, where it differs from the column's name. */
  readonly property: Property;
  readonly sealed: CellBinding | null;
  encode(value: Value): Row;
  decode(row: Row): Value;
  /** Only for derived columns. */
  from?(record: unknown): Value;
}

type Plain<Value, Row> = Column<Value, Row, "record", null, false>;
type AnyColumn = Column<unknown, unknown>;
export type Columns = Readonly<Record<string, AnyColumn>>;

export interface Table<Name extends string = string, Of extends Columns = Columns> {
  readonly name: Name;
  /** The first is the primary key where that is one number. */
  readonly columns: Of;
}

function same<Value>(value: Value): Value {
  return value;
}

function column<Value, Row>(
  type: SqlType,
  encode: (value: Value) => Row,
  decode: (row: Row) => Value,
): Plain<Value, Row> {
  return { type, nullable: false, hasDefault: false, use: "record", property: null, sealed: null, encode, decode };
}

const plain = <Value extends SqlValue>(type: SqlType): Plain<Value, Value> => column<Value, Value>(type, same, same);

export const bigint = (): Plain<number, number> => plain<number>("bigint");
export const int = (): Plain<number, number> => plain<number>("int");
export const float = (): Plain<number, number> => plain<number>("float8");
/** Text of ours: names of a closed list, hashes, sealed texts. */
export const text = <Word extends string = string>(): Plain<Word, Word> => plain<Word>("text");
/** Text from outside, made storable. */
export const prose = (): Plain<string, string> => column("text", storable, same);
export const flag = (): Plain<boolean, 0 | 1> =>
  column<boolean, 0 | 1>(
    "int",
    (value) => (value ? 1 : 0),
    (row) => row === 1,
  );
export const json = <Value>(): Plain<Value, string> => column<Value, string>("text", toJson, fromJson);
/** Words of ours or of users, in their order. */
export const list = <Word extends string = string>(): Plain<readonly Word[], string> =>
  column<readonly Word[], string>("text", toJson, (row) => listFromJson<Word>(row));
/** A point in time, Unix ms: PostgreSQL takes whole numbers only. */
export const time = (): Plain<number, number> => column("bigint", Math.round, same);
/** A row's own number, given by the database. */
export const id = () => ({ ...bigint(), hasDefault: true as const });

export function nullable<Value, Row, Used extends Use, Property extends string | null, Given extends boolean>(
  inner: Column<Value, Row, Used, Property, Given>,
): Column<Value | null, Row | null, Used, Property, Given> {
  const { encode, decode } = inner;
  return {
    ...(inner as Omit<typeof inner, "encode" | "decode" | "from">),
    nullable: true,
    encode: (value) => (value === null ? null : encode(value)),
    decode: (row) => (row === null ? null : decode(row)),
  };
}

/** The store's own: in no record. */
export function storeOnly<Value, Row, Given extends boolean>(inner: Column<Value, Row, "record", null, Given>) {
  return { ...inner, use: "store" as const };
}

export function named<Value, Row, Name extends string>(property: Name, inner: Plain<Value, Row>) {
  return { ...inner, property };
}

export function derived<Value, Row, Source>(inner: Plain<Value, Row>, from: (record: Source) => Value) {
  return { ...inner, use: "derived" as const, from: from as (record: unknown) => Value };
}

export function sealed<Of extends AnyColumn>(cell: CellBinding["cell"], inner: Of, row?: readonly string[]) {
  return { ...inner, sealed: { cell, ...(row !== undefined && { row }) } };
}

export function table<Name extends string, Of extends Columns>(name: Name, columns: Of): Table<Name, Of> {
  return { name, columns };
}

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;
type ValueOf<Of extends AnyColumn> = ReturnType<Of["decode"]>;
type RowOf<Of extends AnyColumn> = ReturnType<Of["encode"]>;
type PropertyOf<Of extends AnyColumn, Name extends string> = Of["property"] extends string
  ? Of["property"]
  : CamelCase<Name>;

/** A table as the query builder sees it. */
export type KyselyTable<Of extends Columns> = {
  [Name in keyof Of]: Of[Name]["hasDefault"] extends true ? Generated<RowOf<Of[Name]>> : RowOf<Of[Name]>;
};
/** What readers of the store get of a row. */
export type RecordOf<Of extends Columns> = {
  readonly [Name in keyof Of & string as Of[Name]["use"] extends "record"
    ? PropertyOf<Of[Name], Name>
    : never]: ValueOf<Of[Name]>;
};
type RecordRow<Of extends Columns> = {
  readonly [Name in keyof Of as Of[Name]["use"] extends "record" ? Name : never]: RowOf<Of[Name]>;
};
/** What is written of a record. */
type WrittenRow<Of extends Columns> = {
  [Name in keyof Of as Of[Name]["use"] extends "store"
    ? never
    : Of[Name]["hasDefault"] extends true
      ? never
      : Name]: RowOf<Of[Name]>;
};
type WrittenRecord<Of extends Columns> = {
  readonly [Name in keyof Of & string as Of[Name]["use"] extends "record"
    ? Of[Name]["hasDefault"] extends true
      ? never
      : PropertyOf<Of[Name], Name>
    : never]: ValueOf<Of[Name]>;
};

function propertyOf(name: string, { property }: AnyColumn): string {
  return property ?? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Names of the columns that make the record, in the table's order. */
export function recordColumns<Of extends Columns>({
  columns,
}: Table<string, Of>): readonly (keyof RecordRow<Of> & string)[] {
  const names = Object.keys(columns).filter((name) => columns[name]?.use === "record");
  return names as (keyof RecordRow<Of> & string)[];
}

type InsertName<Of extends Columns> = {
  [Name in keyof Of & string]: Of[Name]["hasDefault"] extends true ? never : Name;
}[keyof Of & string];

/** Names of the columns whose values an insert brings. */
export function insertColumns<Of extends Columns>({ columns }: Table<string, Of>): readonly InsertName<Of>[] {
  return Object.keys(columns).filter((name) => columns[name]?.hasDefault === false) as InsertName<Of>[];
}

/**
 * @param more members that the caller fills in, with what they are until then
 * @returns what makes a record of a row; columns that are not the record's are passed over
 */
export function decoder<Of extends Columns, More extends object = object>(
  of: Table<string, Of>,
  more?: More,
): (row: RecordRow<Of>) => RecordOf<Of> & More {
  const steps = recordColumns(of).map((name) => {
    const found = of.columns[name] as AnyColumn;
    return { name, property: propertyOf(name, found), decode: found.decode === same ? null : found.decode };
  });
  // A copy of one object has all its members at once. An object that grows member by member is several times as slow (measured).
  const empty: Readonly<Record<string, unknown>> = {
    ...Object.fromEntries(steps.map(({ property }) => [property, null])),
    ...more,
  };
  return (row) => {
    const record = { ...empty };
    for (const { name, property, decode } of steps) {
      const value = row[name as keyof typeof row];
      record[property] = decode === null ? value : decode(value);
    }
    return record as RecordOf<Of> & More;
  };
}

interface Step {
  readonly name: string;
  valueIn(record: unknown): SqlValue;
}

function stepOf(name: string, found: AnyColumn): Step {
  const { encode, from } = found;
  const property = propertyOf(name, found);
  const read = from ?? ((record: unknown) => (record as Record<string, unknown>)[property]);
  return { name, valueIn: (record) => encode(read(record)) as SqlValue };
}

function writtenSteps({ columns }: Table): readonly Step[] {
  return Object.entries(columns).flatMap(([name, found]) =>
    found.use === "store" || found.hasDefault ? [] : [stepOf(name, found)],
  );
}

/** @returns what makes the row of a record, but for the store's own columns */
export function encoder<Source, Of extends Columns>(
  of: Table<string, Of>,
): (record: Source & WrittenRecord<Of>) => WrittenRow<Of> {
  const steps = writtenSteps(of);
  const empty: Readonly<Record<string, SqlValue>> = Object.fromEntries(steps.map(({ name }) => [name, null]));
  return (record) => {
    const row = { ...empty };
    for (const { name, valueIn } of steps) row[name] = valueIn(record);
    return row as WrittenRow<Of>;
  };
}

/** @returns what makes the values of these columns from a record, in this order */
export function valuesOf<Source, Of extends Columns>(
  of: Table<string, Of>,
  names: readonly (keyof Of & string)[],
): (record: Source) => readonly SqlValue[] {
  const steps = names.map((name) => stepOf(name, of.columns[name] as AnyColumn));
  return (record) => {
    const values: SqlValue[] = [];
    for (const { valueIn } of steps) values.push(valueIn(record));
    return values;
  };
}
