/** AUTH TLS of FTP servers (RFC 4217 section 4; replies: RFC 959 section 4.2, whose inner lines need no code). Pure. */
import { AnswerFormatError, readLines, type WholeAnswer } from "../answer.ts";
import type { Said, Turn } from "./turn.ts";

/** RFC 959 section 5.4: "ready in nnn minutes", before a 220. */
const READY_LATER = "120";

export const FTP_TURNS: readonly Turn[] = [
  { command: "", read: (bytes) => readFtpReply(bytes, "220") },
  { command: "AUTH TLS\r\n", read: (bytes) => readFtpReply(bytes, "234") },
];

/** @param wanted code of the reply that agrees */
function readFtpReply(bytes: Uint8Array, wanted: string): WholeAnswer<Said> | undefined {
  const words: string[] = [];
  let code = "";
  return readLines(bytes, (line, isWhole) => {
    const isFirst = code === "";
    if (!isWhole) {
      if (isFirst && !/^(?:[1-5](?:\d(?:\d(?:\r|[- ].*)?)?)?)?$/s.test(line)) refuse();
      return undefined;
    }
    const [, digits = "", mark = ""] = /^([1-5]\d\d)([- ]|$)/.exec(line) ?? [];
    if (isFirst && digits === "") refuse();
    words.push(line);
    const isLast = mark !== "-" && (isFirst || digits === code);
    if (!isLast) {
      code = isFirst ? digits : code;
      return undefined;
    }
    code = "";
    if (digits === READY_LATER && wanted === "220") return undefined;
    return { agrees: digits === wanted, words: words.join(" ") };
  });
}

function refuse(): never {
  throw new AnswerFormatError("a line without a code of three digits");
}
