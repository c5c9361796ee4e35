/** How many answers may go on at one time: each holds a connection and costs a write for each change. */
import { errorResponse, RETRY_SOON, refusal } from "./errors.ts";
import type { ApiAnswer, StreamedResponse } from "./http.ts";

/** Of a process; SONDE_MAX_STREAMS says another number. */
export const DEFAULT_MAX_STREAMS = 200;

export interface Streams {
  /** @returns the same stream, counted until it ends, or the refusal of one too many */
  admit(response: StreamedResponse, method: string): ApiAnswer;
}

export function createStreams(most: number): Streams {
  let count = 0;
  return {
    admit(response, method) {
      // HEAD is told what GET would be answered, and opens nothing.
      if (method === "HEAD") return response;
      if (count >= most) return errorResponse(refusal("tooManyStreams", { headers: RETRY_SOON }));
      count += 1;
      return {
        ...response,
        open(sink) {
          const stop = response.open(sink);
          return () => {
            count -= 1;
            stop();
          };
        },
      };
    },
  };
}
