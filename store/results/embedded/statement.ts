import { withoutTrailing } from "../../../model/text.ts";
/**
 * One request of ClickHouse's HTTP interface, read as what the embedded engine must do. Pure.
 * Settings stick to an engine connection once they are SET, so a request's settings become its statement's own SETTINGS clause, which does not.
 */

/** Which of the engine's connections runs it: they are serial, so each kind has its own. */
export type StatementKind = "read" | "write" | "upkeep";

export interface Statement {
  readonly kind: StatementKind;
  readonly sql: string;
  /** Used where the SQL names no format. */
  readonly format: string;
  /** Present for a plain INSERT with rows in the body: they go to the engine as bytes. */
  readonly insert: InsertTarget | undefined;
  /** `param_*` of the URL. Bound parameters are serial across the engine: not for hot paths. */
  readonly params: Readonly<Record<string, string | null>>;
}

export interface InsertTarget {
  readonly table: string;
  readonly columns: readonly string[] | undefined;
  readonly format: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** A request that is refused before the engine sees it, with ClickHouse's own code and name for it. */
export class StatementError extends Error {
  override readonly name = "StatementError";
  readonly code: number;
  readonly type: string;

  constructor(code: number, type: string, message: string) {
    super(`Code: ${code}. DB::Exception: ${message}. (${type})`);
    this.code = code;
    this.type = type;
  }
}

/** Members of the URL that are not settings, or concern the HTTP answer alone, which is always whole here. */
const NOT_SETTINGS = new Set([
  "query",
  "query_id",
  "database",
  "default_format",
  "session_id",
  "session_timeout",
  "session_check",
  "quota_key",
  "user",
  "password",
  "enable_http_compression",
  "http_zlib_compression_level",
  "wait_end_of_query",
  "buffer_size",
  "compress",
  "decompress",
  "send_progress_in_http_headers",
  "http_headers_progress_interval_ms",
  "add_http_cors_header",
  "cancel_http_readonly_queries_on_client_close",
  // Fixed for each connection when it opens, because they must hold before the statement is parsed.
  "max_query_size",
]);

/** Formats whose rows the engine takes as bytes. */
const RAW_FORMATS = new Set(["JSONEachRow", "JSONCompactEachRow", "TabSeparated", "TSV", "CSV"]);
/** Most characters of the name of a setting, a parameter or a format. A parameter's name becomes part of an expression. */
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const INSERT =
  /^INSERT\s+INTO\s+([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?)\s*(?:\(([A-Za-z0-9_,\s]+)\)\s*)?FORMAT\s+([A-Za-z]+)$/i;
const FIRST_WORD = /^\s*(?:\(\s*)*([A-Za-z]+)/;
const READS = new Set(["SELECT", "WITH", "SHOW", "DESCRIBE", "DESC", "EXISTS", "EXPLAIN"]);
/** Statements that end in a SETTINGS clause of their own, also behind FORMAT. */
const TAKES_SETTINGS = new Set(["SELECT", "WITH"]);

export interface StatementRequest {
  readonly method: string;
  readonly search: URLSearchParams;
  readonly body: Buffer;
  /** The one database there is. */
  readonly database: string;
}

/** @throws StatementError when it is nothing that this engine can do */
export function readStatement({ method, search, body, database }: StatementRequest): Statement {
  const wanted = search.get("database");
  if (wanted !== null && wanted !== database && wanted !== "default")
    throw new StatementError(81, "UNKNOWN_DATABASE", `Database ${wanted} does not exist`);
  const inUrl = search.get("query");
  const sql = trimmed(inUrl ?? body.toString("utf8"));
  const word = FIRST_WORD.exec(sql)?.[1]?.toUpperCase();
  if (word === undefined) throw new StatementError(62, "SYNTAX_ERROR", "Empty query");
  const kind = word === "INSERT" ? "write" : READS.has(word) ? "read" : "upkeep";
  if (method === "GET" && kind !== "read")
    throw new StatementError(164, "READONLY", "Cannot execute query in readonly mode: use POST");

  const settings = settingsOf(search);
  const format = search.get("default_format") ?? "TabSeparated";
  if (!IDENTIFIER.test(format)) throw new StatementError(73, "UNKNOWN_FORMAT", "Unknown format");
  const params = paramsOf(search, sql);
  const data = inUrl === null ? undefined : body;
  if (kind === "write") return { kind, format, params, ...insertOf(sql, data, settings) };
  return { kind, format, params, insert: undefined, sql: withSettings(joined(sql, data), word, settings) };
}

function insertOf(
  sql: string,
  data: Buffer | undefined,
  settings: Readonly<Record<string, string>>,
): Pick<Statement, "sql" | "insert"> {
  const [, table, columns, format] = INSERT.exec(sql.trim()) ?? [];
  if (data !== undefined && table !== undefined && format !== undefined && RAW_FORMATS.has(format)) {
    const insert = { table, columns: columns?.split(",").map((name) => name.trim()), format, settings };
    return { sql, insert };
  }
  if (Object.keys(settings).length > 0) {
    throw new StatementError(
      452,
      "SETTING_CONSTRAINT_VIOLATION",
      "Settings of the URL need a plain INSERT INTO table (columns) FORMAT name",
    );
  }
  return { sql: joined(sql, data), insert: undefined };
}

function withSettings(sql: string, word: string, settings: Readonly<Record<string, string>>): string {
  const entries = Object.entries(settings);
  if (entries.length === 0) return sql;
  if (!TAKES_SETTINGS.has(word)) {
    throw new StatementError(
      452,
      "SETTING_CONSTRAINT_VIOLATION",
      `Settings of the URL do not reach ${word}: write them into the statement`,
    );
  }
  return `${sql}\nSETTINGS ${entries.map(([name, value]) => `${name} = ${quoted(value)}`).join(", ")}`;
}

function settingsOf(search: URLSearchParams): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [name, value] of search) {
    if (NOT_SETTINGS.has(name) || name.startsWith("param_")) continue;
    if (!IDENTIFIER.test(name))
      throw new StatementError(
        115,
        "UNKNOWN_SETTING",
        `Setting ${JSON.stringify(name)} is neither a builtin setting nor started with the prefix`,
      );
    settings[name] = value;
  }
  return settings;
}

function paramsOf(search: URLSearchParams, sql: string): Record<string, string | null> {
  const params: Record<string, string | null> = {};
  for (const [key, value] of search) {
    if (!key.startsWith("param_")) continue;
    const name = key.slice("param_".length);
    if (!IDENTIFIER.test(name))
      throw new StatementError(36, "BAD_ARGUMENTS", `Bad name of a query parameter: ${JSON.stringify(name)}`);
    const isNested = new RegExp(`\\{\\s*${name}\\s*:\\s*(Array|Tuple|Map)\\b`).test(sql);
    params[name] = unescaped(value, isNested);
  }
  return params;
}

const ESCAPES: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", b: "\b", f: "\f", "0": "\0" };

/** The URL's values are escaped as in TSV; chDB escapes again what it binds. Inside a nested value's quotes a quote is doubled instead. */
function unescaped(value: string, isNested: boolean): string | null {
  if (value === "\\N") return null;
  return value.replace(/\\(.)/gs, (_, letter: string) =>
    letter === "'" && isNested ? "''" : (ESCAPES[letter] ?? letter),
  );
}

function joined(sql: string, data: Buffer | undefined): string {
  return data === undefined || data.length === 0 ? sql : `${sql}\n${data.toString("utf8")}`;
}

function trimmed(sql: string): string {
  return withoutTrailing(sql, "; \t\r\n\v\f");
}

/** As a literal of SQL. */
export function quoted(value: string): string {
  return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
