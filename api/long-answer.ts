/** Answers of megabytes, made in turns: a list of ten thousand as JSON takes 20 ms of the thread in one piece. */
import type { Slices } from "../store/slices.ts";
import type { JsonObject } from "./body.ts";
import { type ApiResponse, ok } from "./http.ts";

/** What is made into JSON at once; some hundred bytes each. */
const AT_ONCE = 50;

/**
 * An object with lists of any length.
 * @param others at least one member @param lists its members that are lists of thousands, in this order behind the others
 */
export async function okInTurns(
  others: JsonObject,
  lists: Readonly<Record<string, readonly unknown[]>>,
  slices: Slices,
): Promise<ApiResponse> {
  const pieces: string[] = [JSON.stringify(others).slice(0, -1)];
  for (const [name, items] of Object.entries(lists)) {
    pieces.push(`,${JSON.stringify(name)}:[`);
    for (let start = 0; start < items.length; start += AT_ONCE) {
      pieces.push(start === 0 ? "" : ",", JSON.stringify(items.slice(start, start + AT_ONCE)).slice(1, -1));
      await slices.rest();
    }
    pieces.push("]");
  }
  pieces.push("}");
  return { ...ok(null), body: pieces.join(""), answered: { ...others, ...lists } };
}
