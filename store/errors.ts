/** The errors that stores reject with. */

/**
 * unavailable: the store is away, full or damaged, or a file of it cannot be used; the same call may succeed later.
 * refused: the store works, and refuses a value or a question for its content: the same call would be refused again.
 */
export type StoreErrorKind = "unavailable" | "refused";
/** Which store it is about: SQL and files of the data folder, ClickHouse, Redis. */
export type StoreName = "database" | "results" | "redis";

/** A fault of ours or of the operator, never of the caller. The message is one line that says what to do. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly kind: StoreErrorKind;
  readonly store: StoreName;

  constructor(
    message: string,
    {
      kind = "unavailable",
      store = "database",
      ...options
    }: ErrorOptions & { readonly kind?: StoreErrorKind; readonly store?: StoreName } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.store = store;
  }
}

/** What a transaction throws for an invalid value (a date that is none, a type that no column takes). */
export function isAboutValues(error: unknown): boolean {
  return (
    (error instanceof StoreError && error.kind === "refused") ||
    error instanceof RangeError ||
    error instanceof TypeError
  );
}

interface CodedError {
  readonly code?: unknown;
  readonly message?: unknown;
}

/** What a client of a store threw: its code, empty when it has none, and its message. */
export function coded(error: unknown): { readonly code: string; readonly message: string } {
  // A dual-stack connect fails with an AggregateError whose first error has the words.
  const source: unknown = error instanceof AggregateError && error.message === "" ? error.errors[0] : error;
  const { code, message } = (source ?? {}) as CodedError;
  return {
    code: typeof code === "string" ? code : "",
    message: typeof message === "string" ? message : String(source),
  };
}
