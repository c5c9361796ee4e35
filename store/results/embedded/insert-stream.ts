/**
 * Inserts of rows as bytes, through the engine's own streams (`chdb_stream_insert` of chDB's chdb.h). The package's insert makes one text of the statement and its
 * rows; the engine copies that text twice, and takes all of it apart into words, to look for hints of its own tests. A stream takes the rows in
 * pieces, and only the format's parser reads them: a fifth less processor time of an insert, and no copy of a body of megabytes.
 */
import { readFileSync } from "node:fs";
import koffi from "koffi";
import { type InsertTarget, quoted } from "./statement.ts";

/** The engine copies one piece after the other, and holds up to sixteen. */
const PIECE_BYTES = 512 * 1024;
/** chdb_state of chdb.h. */
const SUCCESS = 0;

/** A pointer of the engine; null is none. */
type Pointer = unknown;
type Call = (...args: readonly unknown[]) => Promise<Pointer>;

/** Functions of chdb.h. What may wait for the engine runs in a thread of libuv's pool. */
interface Calls {
  readonly connect: (count: number, args: readonly string[]) => Pointer;
  readonly begin: Call;
  readonly append: Call;
  readonly done: Call;
  readonly streamError: (stream: Pointer) => string | null;
  readonly destroyStream: (stream: Pointer) => void;
  readonly resultError: (result: Pointer) => string | null;
  readonly rowsWritten: (result: Pointer) => number;
  readonly destroyResult: (result: Pointer) => void;
}

export interface InsertStreamOptions {
  /** The engine's folder, which another connection has opened. */
  readonly path: string;
  /** As of that connection. */
  readonly args: readonly string[];
}

/** One connection, for one insert at a time. */
export class InsertStream {
  readonly #calls: Calls;
  readonly #connection: Pointer;

  constructor({ path, args }: InsertStreamOptions) {
    this.#calls = callsOf(loadedEngine());
    const all = ["clickhouse", `--path=${path}`, ...args];
    const handle = this.#calls.connect(all.length, all);
    if (handle === null) throw new Error("the engine refuses a connection for inserts");
    // chdb_connection*: where the connection stands.
    this.#connection = koffi.decode(handle, "void *");
  }

  /**
   * @returns rows written, those of views included
   * @throws Error with the engine's own message
   */
  async insert(target: InsertTarget, body: Buffer): Promise<number> {
    const { begin, append, done, streamError, destroyStream } = this.#calls;
    const { format } = target;
    const sql = statementOf(target);
    const stream = await begin(this.#connection, sql, Buffer.byteLength(sql), format, format.length);
    try {
      const refusal = streamError(stream);
      if (refusal !== null) throw new Error(refusal);
      for (let at = 0; at < body.length; at += PIECE_BYTES) {
        const piece = body.subarray(at, at + PIECE_BYTES);
        // Why it takes no more is reported at the end.
        if ((await append(stream, piece, piece.length)) !== SUCCESS) break;
      }
      return this.#outcomeOf(await done(stream));
    } finally {
      destroyStream(stream);
    }
  }

  #outcomeOf(result: Pointer): number {
    const { resultError, rowsWritten, destroyResult } = this.#calls;
    try {
      const error = resultError(result);
      if (error !== null && error !== "") throw new Error(error);
      return Number(rowsWritten(result));
    } finally {
      destroyResult(result);
    }
  }
}

function statementOf({ table, columns, settings }: InsertTarget): string {
  const list = columns === undefined ? "" : ` (${columns.join(", ")})`;
  const entries = Object.entries(settings).map(([name, value]) => `${name} = ${quoted(value)}`);
  return `INSERT INTO ${table}${list}${entries.length === 0 ? "" : ` SETTINGS ${entries.join(", ")}`}`;
}

function callsOf(file: string): Calls {
  const library = koffi.load(file);
  const waiting = (declaration: string): Call => {
    const call = library.func(declaration);
    return (...args) =>
      new Promise((resolve, reject) => {
        call.async(...args, (error: unknown, answer: Pointer) => (error ? reject(error) : resolve(answer)));
      });
  };
  return {
    connect: library.func("void *chdb_connect(int, const char **)"),
    begin: waiting("void *chdb_stream_insert_n(void *, const char *, size_t, const char *, size_t)"),
    append: waiting("int chdb_stream_append(void *, const uint8_t *, size_t)"),
    done: waiting("void *chdb_stream_done(void *)"),
    streamError: library.func("const char *chdb_stream_insert_error(void *)"),
    destroyStream: library.func("void chdb_destroy_insert_stream(void *)"),
    resultError: library.func("const char *chdb_result_error(void *)"),
    rowsWritten: library.func("uint64_t chdb_result_rows_written(void *)"),
    destroyResult: library.func("void chdb_destroy_query_result(void *)"),
  };
}

/** The library that the package has loaded, whichever platform's it is: a second copy of it would have an engine of its own. */
function loadedEngine(): string {
  const file = /\s(\/\S+\/libchdb\.so)$/m.exec(readFileSync("/proc/self/maps", "utf8"))?.[1];
  if (file === undefined) throw new Error("the engine's library is not loaded");
  return file;
}
