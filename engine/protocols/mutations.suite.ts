/**
 * Good texts with pieces cut out and put in, for parsers that must bear anything. What is done to a text is drawn as bare numbers and the
 * strange pieces once for a run: drawn one by one they would cost fifty times what reading them does.
 */
import fc from "fast-check";

/** Marks that some syntax cares about, and what no field may hold. */
const NOISE: readonly string[] = [
  "",
  " ",
  "\n",
  "\r",
  "\u0000",
  "\ufeff",
  "#",
  "?",
  "@",
  "/",
  ":",
  "[",
  "]",
  "%",
  "%zz",
  "=",
  "\\",
  '"',
  "<",
  ">",
  "🜂",
  "é.test",
];

const STRANGE = 2_000;
/** Of a number: where in the text, how much is cut out, and which piece is put in. */
const PLACES = 1 << 12;
const SIZES = 1 << 5;
const cut: fc.Arbitrary<number> = fc.noBias(fc.nat(2 ** 52));

/** Of all of Unicode, halves of characters too; the library's own arbitrary for it takes seconds to make. */
const codePoints = fc.array(fc.nat(0x10ffff), { maxLength: 6 }).map((points) => String.fromCodePoint(...points));

export interface Mutations {
  /** So many of them, none among them. */
  cuts(most: number): fc.Arbitrary<readonly number[]>;
  /** The text after them. */
  edit(text: string, cuts: readonly number[]): string;
  /** One of the pieces alone. */
  piece(cut: number): string;
}

/** @param words pieces that this parser knows. @param longest of what one cut takes away, characters */
export function mutations(words: readonly string[], longest = 12): Mutations {
  const known = [...NOISE, ...words];
  const strange = [...fc.sample(fc.string({ maxLength: 12 }), STRANGE), ...fc.sample(codePoints, STRANGE)];
  // Words as often as either sort of noise.
  const piece = (number: number): string => {
    const of = Math.floor(number / (PLACES * SIZES));
    return (
      (of % 3 === 0 ? known[Math.floor(of / 3) % known.length] : strange[Math.floor(of / 3) % strange.length]) ?? ""
    );
  };
  return {
    cuts: (most) => fc.array(cut, { maxLength: most }),
    piece,
    edit(text, cuts) {
      let now = text;
      for (const number of cuts) {
        const place = Math.floor(((number % PLACES) / PLACES) * (now.length + 1));
        const size = (Math.floor(number / PLACES) % SIZES) % (longest + 1);
        now = now.slice(0, place) + piece(number) + now.slice(place + size);
      }
      return now;
    },
  };
}
