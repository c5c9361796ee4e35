/** STARTTLS of IMAP servers (RFC 2595 section 3.1, RFC 9051 sections 6.2.1 and 7.1). Pure. */
import { AnswerFormatError, readLines } from "../answer.ts";
import { mayBegin, type Turn } from "./turn.ts";

const TAG = "a1";

export const IMAP_TURNS: readonly Turn[] = [
  {
    command: "",
    read: (bytes) =>
      readLines(bytes, (line, isWhole) => {
        if (!mayBegin(line, isWhole, "* ")) throw new AnswerFormatError("a greeting without an asterisk");
        // PREAUTH is refused as well: STARTTLS is not allowed after a login.
        return isWhole ? { agrees: /^\* OK(?: |$)/i.test(line), words: line } : undefined;
      }),
  },
  {
    command: `${TAG} STARTTLS\r\n`,
    read: (bytes) =>
      readLines(bytes, (line, isWhole) => {
        // Untagged lines before the answer are notices.
        if (mayBegin(line, isWhole, "* ")) return undefined;
        if (!mayBegin(line, isWhole, `${TAG} `)) throw new AnswerFormatError("a line with another tag");
        return isWhole ? { agrees: /^\S+ OK(?: |$)/i.test(line), words: line } : undefined;
      }),
  },
];
