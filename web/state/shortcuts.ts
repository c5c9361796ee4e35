/** Single keys that go places. They can be switched off, and are not heard while something is being written. */
import { paletteOpen } from "./palette-open.ts";
import { shortcuts } from "./prefs.ts";
import { go } from "./route.ts";

/** After `g`. */
const PLACES: Readonly<Record<string, string>> = { o: "/", m: "/monitors", i: "/incidents", s: "/subscriptions" };
/** The second key comes within this time, ms. */
const PAIR_MS = 1_000;

export function followShortcuts(): void {
  let goAtMs = Number.NEGATIVE_INFINITY;
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      paletteOpen.value = true;
      return;
    }
    if (shortcuts.value === "off" || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
    if (document.querySelector("dialog[open]") !== null) return;
    const place = event.timeStamp - goAtMs < PAIR_MS ? PLACES[event.key] : undefined;
    goAtMs = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
    if (place !== undefined) go(place);
    else if (event.key === "/") {
      const filter = document.getElementById("filter");
      if (filter === null) return;
      event.preventDefault();
      filter.focus();
    }
  });
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}
