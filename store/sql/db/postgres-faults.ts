/** Errors of PostgreSQL, as one line that says what to do. No address carries credentials. */
import { coded, StoreError } from "../../errors.ts";

/** Conditions: https://www.postgresql.org/docs/15/errcodes-appendix.html; the others are Node's. */
const POSTGRES_ADVICE: Readonly<Record<string, string>> = {
  "28P01": "refuses the user or password of SONDE_DATABASE_URL",
  "28000": "refuses the user of SONDE_DATABASE_URL",
  "3D000": "has no such database: create it first",
  "42501": "denies permission: the user of SONDE_DATABASE_URL must own the database's schema",
  // PgBouncer before 1.21 gives a statement's name to a server that does not know it, or knows another client's.
  "26000":
    "has lost a named statement: a pooler in between must keep them (PgBouncer 1.21 or later, or pool_mode = session)",
  "42P05":
    "knows a named statement of another client: a pooler in between must keep them (PgBouncer 1.21 or later, or pool_mode = session)",
  "25006": "is read-only: is this a standby?",
  "53100": "has a full disk",
  "53300": "has no free connection: raise max_connections",
  "57014": "did not finish in time",
  "57P01": "is shutting down",
  "57P02": "crashed",
  "57P03": "is starting up",
  ECONNREFUSED: "does not answer (connection refused)",
  ENOTFOUND: "has no address: check the name in SONDE_DATABASE_URL",
  EAI_AGAIN: "has no address right now: check the name in SONDE_DATABASE_URL and the resolver",
  ENOENT: "has no such socket: check SONDE_DATABASE_URL",
  ETIMEDOUT: "does not answer (timeout)",
  EHOSTUNREACH: "cannot be reached",
  ECONNRESET: "closed the connection",
  EPIPE: "closed the connection",
};

/**
 * What is wrong is what was to be written: classes 22 (data exception) and 23 (integrity constraint violation), and 21000, 54000 (a statement
 * meets a row twice, a value exceeds what an index holds). https://www.postgresql.org/docs/15/errcodes-appendix.html
 */
const POSTGRES_REFUSES = /^(22|23)[0-9A-Z]{3}$|^(21000|54000)$/;

/** Deadlock and serialization failure: the transaction was undone and may run again. */
const RETRY_CODES = new Set(["40P01", "40001"]);

export function postgresFault(error: unknown, server: string): StoreError {
  if (error instanceof StoreError) return error;
  const { code, message } = coded(error);
  if (POSTGRES_REFUSES.test(code)) {
    return new StoreError(`PostgreSQL at ${server} refuses a value: ${message} (${code})`, {
      kind: "refused",
      cause: error,
    });
  }
  const advice = POSTGRES_ADVICE[code] ?? poolerAdvice(message);
  const words = advice ?? (message === "" ? "failed" : `failed: ${message}`);
  return new StoreError(`PostgreSQL at ${server} ${words}${code === "" ? "" : ` (${code})`}`, { cause: error });
}

/** PgBouncer refuses what it does not know, with the code of a broken protocol; TLS has codes of many names. */
function poolerAdvice(message: string): string | undefined {
  const unknown = /unsupported startup parameter(?: in options)?: (\w+)/.exec(message)?.[1];
  if (unknown !== undefined)
    return `does not let Sonde set its own limits of time (${unknown}): it is a PgBouncer, which needs ignore_startup_parameters = extra_float_digits,statement_timeout,lock_timeout,idle_in_transaction_session_timeout`;
  if (/certificate/.test(message))
    return `shows a certificate that is not trusted (${message}): name its authority in NODE_EXTRA_CA_CERTS`;
  return undefined;
}

export function mayRunAgain(error: unknown): boolean {
  return error instanceof StoreError && RETRY_CODES.has(coded(error.cause).code);
}
