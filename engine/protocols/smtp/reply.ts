/** Replies of SMTP servers (RFC 5321 section 4.2): a code of three digits on each of one line or more. Pure. */
import { AnswerFormatError, readLines, type WholeAnswer } from "../answer.ts";

export interface SmtpReply {
  readonly code: number;
  /** Texts of its lines, without the code. */
  readonly lines: readonly string[];
}

/** As ReadAnswer. */
export function readReply(bytes: Uint8Array): WholeAnswer<SmtpReply> | undefined {
  const lines: string[] = [];
  let code = 0;
  return readLines(bytes, (line, isWhole) => {
    if (!isWhole) {
      if (!/^(?:[2-5](?:\d(?:\d(?:\r|[- ].*)?)?)?)?$/s.test(line)) throw noCode();
      return undefined;
    }
    // `250-text`, `250 text`, or `250` alone.
    const [, digits, separator = "", text = ""] = /^([2-5]\d\d)(?:([- ])(.*))?$/s.exec(line) ?? [];
    if (digits === undefined) throw noCode();
    if (lines.length > 0 && Number(digits) !== code)
      throw new AnswerFormatError("lines of one reply with several codes");
    code = Number(digits);
    lines.push(text);
    return separator === "-" ? undefined : { code, lines };
  });
}

function noCode(): AnswerFormatError {
  return new AnswerFormatError("a line without a code of three digits");
}

/** Whether an EHLO answer names an extension (RFC 5321 section 4.1.1.1): its keyword is the first word of a line after the first. */
export function offers({ lines }: SmtpReply, keyword: string): boolean {
  return lines.slice(1).some((line) => (line.split(" ", 1)[0] ?? "").toUpperCase() === keyword);
}
