/**
 * Answers that many callers get as they are. Head and body are kept as one piece of bytes, so that another caller costs one write to a socket:
 * putting them together would take longer than everything else that is done for such a request.
 */
import { answerHead, dateLine } from "./answer-head.ts";
import { type ApiResponse, isBodiless } from "./http.ts";

/** A longer body is written beside its head: it would be kept twice. */
const LONGEST_BODY_BYTES = 65_536;

/** @param response with all its headers, those of security too: nothing is added to them */
export function wholeAnswer(response: ApiResponse): ApiResponse {
  const { status, headers } = response;
  const body = isBodiless(status) ? Buffer.alloc(0) : Buffer.from(response.body);
  if (body.length > LONGEST_BODY_BYTES) return { ...response, security: [] };
  const length = isBodiless(status) ? "" : `Content-Length: ${body.length}\r\n`;
  let date = "";
  let bytes = body;
  return {
    ...response,
    security: [],
    whole: {
      // Never changed in place: what was written before may still wait for its caller.
      bytes() {
        const present = dateLine();
        if (present === date) return bytes;
        bytes = Buffer.concat([Buffer.from(answerHead(status, headers, length)), body]);
        date = present;
        return bytes;
      },
    },
  };
}
