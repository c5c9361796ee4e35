/** Lists in base64, as panels write them and as they arrive: either alphabet, in lines, padded too much or not at all, with stray bytes between. */
import { decodeText, NO_TEXT, withoutStray } from "../../model/decode-text.ts";
import { decoded } from "../protocols/share-link/link.ts";

const LETTERS = /^[A-Za-z0-9+/_=-]+$/;
/** Blanks and quotes around and between the letters, and what is no text. */
const BETWEEN = /[\s"'`,\ufffd]+/g;
/** Pieces with padding of their own, one behind the other; our choice. */
const MAX_PIECES = 10_000;

/** Of what is decoded, characters that are no text: more stand in what is no text at all. */
const MOST_STRAY = 0.05;

/** @returns undefined when it is not base64 of a text */
export function decodeBase64List(text: string): string | undefined {
  // What stands for no character of ASCII is no letter of base64, decoded or not.
  if (/%(?![0-7][0-9a-f])/i.test(text)) return undefined;
  const letters = decoded(text).replace(/^#.*$/gm, "").replace(BETWEEN, "");
  if (!LETTERS.test(letters)) return undefined;
  const pieces = letters.split(/=+/, MAX_PIECES + 1).filter((piece) => piece !== "");
  if (pieces.length > MAX_PIECES) return undefined;
  const [first, ...rest] = pieces.map((piece) => Buffer.from(piece, "base64"));
  if (first === undefined) return undefined;
  const bytes = Buffer.concat([first, ...rest.flatMap((piece) => (isLink(piece) ? [NEWLINE, piece] : [piece]))]);
  const list = withoutStray(decodeText(bytes));
  return isText(list) ? list : undefined;
}

function isText(list: string): boolean {
  let stray = 0;
  for (let at = list.indexOf(NO_TEXT); at >= 0; at = list.indexOf(NO_TEXT, at + 1)) stray++;
  return list !== "" && stray <= Math.max(1, MOST_STRAY * list.length);
}

const NEWLINE = Buffer.from("\n");

/** A list that was packed link by link has none between them. */
function isLink(piece: Buffer): boolean {
  return /^\s{0,9}[a-z][a-z0-9+.-]{1,30}:\/\//i.test(piece.subarray(0, 64).toString("latin1"));
}
