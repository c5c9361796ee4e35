/**
 * Cuts of texts that others wrote, each in one pass. Expressions such as `/#.*$/` or `/\/+$/` begin anew at every place of the text
 * where they could match, so that a long run of one character costs the square of its length.
 */

/** What stands before the first of the marks; all of it when there is none. @param marks single characters */
export function before(text: string, marks: string): string {
  const at = firstOf(text, marks);
  return at < 0 ? text : text.slice(0, at);
}

/** Where the first of the marks stands; -1 when there is none. @param marks single characters */
function firstOf(text: string, marks: string): number {
  if (marks.length === 1) return text.indexOf(marks);
  for (let at = 0; at < text.length; at++) if (marks.includes(text.charAt(at))) return at;
  return -1;
}

/** @param characters each of them, as often as it stands at the end */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Without blanks and tabs around it: what HTTP calls optional whitespace (RFC 9110 section 5.6.3). */
export function withoutBlanks(text: string): string {
  let start = 0;
  while (start < text.length && isBlank(text, start)) start++;
  let end = text.length;
  while (end > start && isBlank(text, end - 1)) end--;
  return text.slice(start, end);
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x20 || code === 0x09;
}

/** Lines of a file, whatever ends them. */
export function linesOf(text: string): readonly string[] {
  return text.split(/\r\n|\n|\r/);
}

/** What PEM has between its boundary lines: base64, and blanks (RFC 7468 section 3). */
const PEM_BODY = /^[A-Za-z0-9+/=\s]*$/;

/** PEM blocks of one label, each with its two boundary lines. One with anything else than base64 in it is passed over. */
export function pemBlocks(text: string, label: string): readonly string[] {
  const begin = `-----BEGIN ${label}-----`;
  const end = `-----END ${label}-----`;
  const blocks: string[] = [];
  for (let from = 0; ; ) {
    const closing = text.indexOf(end, from);
    if (closing < 0) return blocks;
    const piece = text.slice(from, closing);
    // Of several that are begun the last one is closed.
    const opening = piece.lastIndexOf(begin);
    const body = piece.slice(opening + begin.length);
    if (opening >= 0 && PEM_BODY.test(body)) blocks.push(begin + body + end);
    from = closing + end.length;
  }
}
