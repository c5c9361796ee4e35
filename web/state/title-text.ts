/** The words of the tab. Pure. */

/** @returns what the tab is called: the count and the product come first, because a tab cuts the rest */
export function titleOf(down: number, screen: string, thing: string | null): string {
  const open = thing ?? screen;
  return `${down > 0 ? `(${down}) ` : ""}Sonde${open === "" ? "" : ` · ${open}`}`;
}
