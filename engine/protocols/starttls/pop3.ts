/** STLS of POP3 servers (RFC 2595 section 4, RFC 1939 section 3). Pure. */
import { AnswerFormatError, readLines } from "../answer.ts";
import { mayBegin, type Turn } from "./turn.ts";

export const POP3_TURNS: readonly Turn[] = ["", "STLS\r\n"].map((command) => ({
  command,
  read: (bytes) =>
    readLines(bytes, (line, isWhole) => {
      const agrees = mayBegin(line, isWhole, "+OK");
      if (!agrees && !mayBegin(line, isWhole, "-ERR")) throw new AnswerFormatError("a line without +OK or -ERR");
      return isWhole ? { agrees, words: line } : undefined;
    }),
}));
