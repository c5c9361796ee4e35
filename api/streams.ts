/**
 * How many answers may go on at one time, and that each ends with the rights of its reader. Where all places are taken, the workspace with the most of them gives its
 * latest to one with fewer: a key opens as many streams as it likes.
 */
import { errorResponse, RETRY_SOON, refusal } from "./errors.ts";
import type { ApiAnswer, StreamedResponse, StreamSink } from "./http.ts";

/** Of a process; SONDE_MAX_STREAMS says another number. */
export const DEFAULT_MAX_STREAMS = 200;
/** Of one session: as many connections as a browser opens to one host over HTTP/1.1. */
const MAX_OF_SESSION = 6;
/** A session or key that was ended stops its streams in this time and that of a read of the store, ms. */
const LOOK_EVERY_MS = 5_000;

/** Whose it is. */
export interface StreamReader {
  readonly method: string;
  /** null: of no workspace. */
  readonly workspaceId: number | null;
  /** null: a key's. */
  readonly sessionId: number | null;
  /** Whether the reader would be let in again. Rejects when that cannot be decided now. */
  mayStill(): Promise<boolean>;
}

export interface Streams {
  /** @returns the same stream, counted until it ends, or the refusal of one too many */
  admit(response: StreamedResponse, reader: StreamReader): ApiAnswer;
  /** Ends streams whose readers may not any more. */
  look(): Promise<void>;
  /** Looks from time to time, until it is stopped. */
  watch(): () => void;
}

export function createStreams(most: number): Streams {
  let count = 0;
  const ofSession = new Map<number, number>();
  const open = new Map<StreamSink, StreamReader>();
  /** Those that have given their place away, and have not ended yet. */
  const leaving = new Set<StreamSink>();

  const change = (by: 1 | -1, { sessionId }: StreamReader): void => {
    count += by;
    if (sessionId === null) return;
    const now = (ofSession.get(sessionId) ?? 0) + by;
    if (now === 0) ofSession.delete(sessionId);
    else ofSession.set(sessionId, now);
  };
  const isFull = (reader: StreamReader): boolean =>
    (reader.sessionId !== null && (ofSession.get(reader.sessionId) ?? 0) >= MAX_OF_SESSION) ||
    (count >= most && !makeRoom(reader));
  /** @returns whether a place will be free: a stream ends once its reader has taken what it was sent */
  const makeRoom = ({ workspaceId }: StreamReader): boolean => {
    const sink = latestOfMost(
      [...open].filter(([one]) => !leaving.has(one)),
      workspaceId,
    );
    if (sink !== undefined) leaving.add(sink);
    sink?.end();
    return sink !== undefined;
  };
  const look = async (): Promise<void> => {
    for (const [sink, reader] of [...open]) {
      // What cannot be decided now is asked again.
      if (!(await reader.mayStill().catch(() => true))) sink.end();
    }
  };

  return {
    look,
    admit(response, reader) {
      // HEAD gets the status and headers of GET, and opens nothing.
      if (reader.method === "HEAD") return response;
      if (isFull(reader)) return errorResponse(refusal("tooManyStreams", { headers: RETRY_SOON }));
      change(1, reader);
      return {
        ...response,
        open(sink) {
          open.set(sink, reader);
          const stop = response.open(sink);
          return () => {
            open.delete(sink);
            leaving.delete(sink);
            change(-1, reader);
            stop();
          };
        },
      };
    },
    watch: () => repeat(look),
  };
}

/** Not while the one before goes on. @returns what stops it */
function repeat(look: () => Promise<void>): () => void {
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void look().finally(() => {
      isLooking = false;
    });
  }, LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}

/** The latest of the workspace with the most; undefined where this one would have no fewer then. */
function latestOfMost(
  open: readonly (readonly [StreamSink, StreamReader])[],
  workspaceId: number | null,
): StreamSink | undefined {
  const latest = new Map<number | null, { readonly count: number; readonly sink: StreamSink }>();
  for (const [sink, reader] of open) {
    latest.set(reader.workspaceId, { count: (latest.get(reader.workspaceId)?.count ?? 0) + 1, sink });
  }
  const own = latest.get(workspaceId)?.count ?? 0;
  const [first] = [...latest.values()].sort((one, other) => other.count - one.count);
  return first !== undefined && first.count > own + 1 ? first.sink : undefined;
}
