/** Bytes that others wrote, as text. */

/** What stands in a text for what is none: U+FFFD. */
export const NO_TEXT = "\ufffd";

/**
 * As browsers read a page (WHATWG Encoding, "decode"): a byte-order mark says UTF-8 or UTF-16, without one it is UTF-8, and bytes that are no text
 * become U+FFFD.
 */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const isLittleEndian = first === 0xff && second === 0xfe;
  const isBigEndian = first === 0xfe && second === 0xff;
  return new TextDecoder(isLittleEndian ? "utf-16le" : isBigEndian ? "utf-16be" : "utf-8").decode(bytes);
}

/** Control characters other than blanks and line ends, and halves of characters: YAML and JSON refuse a whole document for one of them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const STRAY = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufffe\uffff]|\p{Surrogate}/gu;

/** With U+FFFD in the place of each character that no text has. */
export function withoutStray(text: string): string {
  return text.replace(STRAY, NO_TEXT);
}
