/** Random letters and digits: labels and tokens. */
import { randomBytes } from "node:crypto";

const LETTERS_AND_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/** Bytes from here on would make the first letters likelier. */
const FAIR_BYTES = 256 - (256 % LETTERS_AND_DIGITS.length);
/** 95 bits: no two labels are ever the same. */
const LABEL_LENGTH = 16;

export function randomText(length = LABEL_LENGTH, random: (size: number) => Uint8Array = randomBytes): string {
  let text = "";
  while (text.length < length) {
    for (const byte of random(length)) {
      if (byte < FAIR_BYTES && text.length < length) text += LETTERS_AND_DIGITS[byte % LETTERS_AND_DIGITS.length];
    }
  }
  return text;
}
