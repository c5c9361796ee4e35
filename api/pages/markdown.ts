/** Markdown of people as HTML: micromark refuses markup and addresses that are dangerous. Each text is read once. */
import { micromark } from "micromark";
import { BoundedMap } from "../../model/bounded-map.ts";
import { escaped, Html, plain } from "./html.ts";

/** Bounds memory: 200 texts of the longest are 8 MB. */
const MOST_KEPT = 200;

/**
 * What means something in Markdown: signs in pairs, lines, and marks of lists, rules and titles. The cost of micromark grows with the square of their number:
 * 20,000 `*_` took 12 s, 2,500 `+ ` half a second, and so many take 30 to 60 ms at worst (measured). More make a text plain.
 */
const SIGNS = /[*_[\]<>!&`\\+\-=~#\t\n\r]|[0-9][.)]/g;
const MOST_SIGNS = 600;

const kept = new BoundedMap<string, Html>(MOST_KEPT);

/** @param pause lets others have a turn before a text that was not read yet */
export async function markdown(text: string, pause: () => Promise<void>): Promise<Html> {
  const known = kept.use(text);
  if (known !== undefined) return known;
  await pause();
  const isCheap = (text.match(SIGNS)?.length ?? 0) <= MOST_SIGNS;
  const made = new Html(isCheap ? micromark(plain(text)) : `<p>${escaped(text).replaceAll("\n", "<br>")}</p>`);
  kept.set(text, made);
  return made;
}
