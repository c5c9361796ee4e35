/** Keys of what is imported: they come from the source's own ids and names, so that a second import finds the same things again. Pure. */
import { KEY, LONGEST_KEY } from "../../model/document/document.ts";

/** Room for the number of a repeated key. */
const MOST_CHARACTERS = LONGEST_KEY - 8;

/** The parts that say something, joined by `_`, in signs that a key may have. */
export function keyOf(...parts: readonly string[]): string {
  const words = parts.map(wordOf).filter((word) => word !== "");
  const key = [...words.join("_")].slice(0, MOST_CHARACTERS).join("");
  return KEY.test(key) ? key : "unnamed";
}

function wordOf(part: string): string {
  const signs = part
    .slice(0, 4 * LONGEST_KEY)
    .normalize("NFC")
    .trim()
    .toLowerCase();
  return signs.replace(/[^\p{L}\p{N}_.-]+/gu, "-").replace(/^[.-]+/, "");
}
