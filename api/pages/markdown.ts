/** Markdown of people as HTML: micromark refuses markup and addresses that are dangerous. Each text is read once. */
import { micromark } from "micromark";
import { BoundedMap } from "../../model/bounded-map.ts";
import { Html, plain } from "./html.ts";

/** Bounds memory: 200 texts of the longest are 8 MB. */
const MOST_KEPT = 200;

const kept = new BoundedMap<string, Html>(MOST_KEPT);

export function markdown(text: string): Html {
  const known = kept.use(text);
  if (known !== undefined) return known;
  const made = new Html(micromark(plain(text)));
  kept.set(text, made);
  return made;
}
