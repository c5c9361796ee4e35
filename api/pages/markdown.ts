/** Markdown of people as HTML: micromark refuses markup and addresses that are dangerous. Each text is read once. */
import { micromark } from "micromark";
import { BoundedMap } from "../../model/bounded-map.ts";
import { escaped, Html, plain } from "./html.ts";

/** Bounds memory: 200 texts of the longest are 8 MB. */
const MOST_KEPT = 200;

/** Signs that micromark pairs with each other, at a cost that grows with their square: 20,000 of them took 12 s (measured). More make a text plain. */
const PAIRED = /[*_[\]<>!&`\\]/g;
const MOST_PAIRED = 1_000;

const kept = new BoundedMap<string, Html>(MOST_KEPT);

export function markdown(text: string): Html {
  const known = kept.use(text);
  if (known !== undefined) return known;
  const isCheap = (text.match(PAIRED)?.length ?? 0) <= MOST_PAIRED;
  const made = new Html(isCheap ? micromark(plain(text)) : `<p>${escaped(text).replaceAll("\n", "<br>")}</p>`);
  kept.set(text, made);
  return made;
}
