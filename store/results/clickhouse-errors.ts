/** Errors of the client or the server → the errors that callers of the store get. */

import { coded, StoreError } from "../errors.ts";

/**
 * Codes by which ClickHouse says that the rows themselves are wrong (src/Common/ErrorCodes.cpp). Anything else may pass later.
 */
const ROWS_REFUSED = new Set([
  "6", // CANNOT_PARSE_TEXT
  "25", // CANNOT_PARSE_ESCAPE_SEQUENCE
  "26", // CANNOT_PARSE_QUOTED_STRING
  "27", // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  "33", // CANNOT_READ_ALL_DATA
  "38", // CANNOT_PARSE_DATE
  "41", // CANNOT_PARSE_DATETIME
  "53", // TYPE_MISMATCH
  "69", // ARGUMENT_OUT_OF_BOUND
  "70", // CANNOT_CONVERT_TYPE
  "72", // CANNOT_PARSE_NUMBER
  "108", // NO_DATA_TO_INSERT
  "117", // INCORRECT_DATA
  "131", // TOO_LARGE_STRING_SIZE
  "158", // TOO_MANY_ROWS
  "306", // TOO_DEEP_RECURSION
  "321", // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
  "349", // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
  "407", // DECIMAL_OVERFLOW
]);
/** A parser's message on one row, with any code; and rows of more days than one insert may have (252 otherwise means slow merges). */
const ROWS_BLAMED = /\(at row \d+\)|Too many partitions for single INSERT block/;
/** UNKNOWN_TABLE, UNKNOWN_DATABASE, NO_SUCH_COLUMN_IN_TABLE: the schema is gone, as with a new disk. */
const SCHEMA_GONE = new Set(["60", "81", "16"]);
/** SYNTAX_ERROR, ILLEGAL_TYPE_OF_ARGUMENT, UNKNOWN_IDENTIFIER: our own fault; repeating does not help. */
const QUERY_REFUSED = new Set(["62", "43", "47"]);

/** `instanceof ClickHouseError` is not reliable across the client's packages: code and type are. */
function codeOf(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && /^\d+$/.test(code)) return code;
  return /^Code: (\d+)\./.exec(messageOf(error))?.[1];
}

function messageOf(error: unknown): string {
  return coded(error).message;
}

export function readError(error: unknown, onSchemaGone: () => void): StoreError {
  if (error instanceof StoreError) return error;
  const code = codeOf(error);
  if (code !== undefined && SCHEMA_GONE.has(code)) onSchemaGone();
  return new StoreError(`ClickHouse: ${messageOf(error)}`, {
    cause: error,
    store: "results",
    kind: code !== undefined && QUERY_REFUSED.has(code) ? "refused" : "unavailable",
  });
}

export function writeError(error: unknown, onSchemaGone: () => void): StoreError {
  const code = codeOf(error);
  const isRefused = code !== undefined && (ROWS_REFUSED.has(code) || ROWS_BLAMED.test(messageOf(error)));
  if (!isRefused) return readError(error, onSchemaGone);
  return new StoreError(`ClickHouse refused the rows: ${messageOf(error)}`, {
    cause: error,
    store: "results",
    kind: "refused",
  });
}
