/** SSLRequest of PostgreSQL (its manual, "Message Formats" and "SSL Session Encryption"). Pure. */
import { AnswerFormatError } from "../answer.ts";
import type { Turn } from "./turn.ts";

/** Length 8 and the request's code 80877103, both of four bytes. */
const SSL_REQUEST = Uint8Array.of(0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f);
/** What the one byte of the answer means; E begins the error of a server before version 7.0, which knows no SSLRequest. */
const WORDS = new Map([
  ["S", "S"],
  ["N", "N: it offers no TLS"],
  ["E", "E: it does not know the request"],
]);

export const POSTGRES_TURNS: readonly Turn[] = [
  {
    command: SSL_REQUEST,
    read([first]) {
      if (first === undefined) return undefined;
      const letter = String.fromCharCode(first);
      const words = WORDS.get(letter);
      if (words === undefined) throw new AnswerFormatError("an answer other than S or N");
      return { answer: { agrees: letter === "S", words }, bytes: 1 };
    },
  },
];
