/** The tab says how many monitors are down and what is open, in its title, and the worst of them by the colour of its icon. */
import { effect, signal } from "@preact/signals";
import { t } from "../words/words.ts";
import { announce } from "./notices.ts";
import { counts } from "./project.ts";
import { titleOf } from "./title-text.ts";

const COLOURS = { none: "#8a93a0", healthy: "#0a7d53", degraded: "#b07d00", down: "#c2410c" } as const;

function icon(colour: string, shape: string): string {
  const svg = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><circle cx='8' cy='8' r='7' fill='${colour}'/>${shape}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

const CROSS = "<path d='M5 5l6 6M11 5l-6 6' stroke='white' stroke-width='2' stroke-linecap='round'/>";

/** Of the open screen; empty: none, or the overview. */
export const screenTitle = signal("");
/** Of the one thing that the screen shows; null: it shows many, or it is not there yet. */
export const thingTitle = signal<string | null>(null);

export function followTitle(): void {
  let before: number | null = null;
  let drawn: keyof typeof COLOURS | null = null;
  effect(() => {
    const now = counts.value;
    const down = now?.down ?? 0;
    document.title = titleOf(down, screenTitle.value, thingTitle.value);
    const worst: keyof typeof COLOURS =
      now === null ? "none" : down > 0 ? "down" : now.degraded + now.partial > 0 ? "degraded" : "healthy";
    const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    // A browser draws it anew each time that it is set.
    if (link !== null && worst !== drawn) link.href = icon(COLOURS[worst], worst === "down" ? CROSS : "");
    drawn = worst;
    if (now === null) before = null;
    else {
      if (before !== null && down > before) announce(t("announce.down", { n: down - before }));
      if (before !== null && down < before) announce(t("announce.back", { n: before - down }));
      before = down;
    }
  });
}
