/** Answers of servers that are spoken to by command and answer: where one ends, and what is none. Pure. */

/** Bytes of a line. RFC 5321 section 4.5.3.1.5 has 512; extensions and real servers send more, so this is four times that. */
const LINE_BYTES = 2_048;
/** Bytes of a whole answer; our choice: an EHLO answer with every extension in IANA's registry has about 2 KiB. */
const ANSWER_BYTES = 16_384;
const NEWLINE = 10;
const RETURN = 13;

export interface WholeAnswer<Answer> {
  readonly answer: Answer;
  /** Bytes that belong to it; the next answer begins behind them. */
  readonly bytes: number;
}

/**
 * Reads one answer from the start of the bytes; its cost grows with their number.
 * @returns undefined while the answer is not whole
 * @throws AnswerFormatError
 */
export type ReadAnswer<Answer> = (bytes: Uint8Array) => WholeAnswer<Answer> | undefined;

/** The bytes are no answer of the protocol, or one beyond the bounds. */
export class AnswerFormatError extends Error {
  override readonly name = "AnswerFormatError";
}

/**
 * Reads lines from the start of the bytes until one is the last of the answer. Bytes that are no UTF-8 are replaced.
 * @param judge of one line, and of the first bytes of an incomplete one (`isWhole` false): what cannot become an answer throws at once, so that a
 * server of another protocol is not waited for. Returns undefined where more lines belong to the answer.
 */
export function readLines<Answer>(
  bytes: Uint8Array,
  judge: (line: string, isWhole: boolean) => Answer | undefined,
): WholeAnswer<Answer> | undefined {
  let start = 0;
  for (;;) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? bytes.length : newline;
    if (end - start > LINE_BYTES) throw new AnswerFormatError(`a line of more than ${LINE_BYTES} bytes`);
    if (end > ANSWER_BYTES) throw new AnswerFormatError(`an answer of more than ${ANSWER_BYTES} bytes`);
    if (newline < 0) {
      if (end > start) judge(textOf(bytes.subarray(start, end)), false);
      return undefined;
    }
    const answer = judge(textOf(bytes.subarray(start, bytes[end - 1] === RETURN && end > start ? end - 1 : end)), true);
    start = newline + 1;
    if (answer !== undefined) return { answer, bytes: start };
  }
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
