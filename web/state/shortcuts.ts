/** Single keys that go places and press buttons. They can be switched off, and are not heard while something is being written. */
import { keysOpen, paletteOpen } from "./palette-open.ts";
import { shortcuts } from "./prefs.ts";
import { go } from "./route.ts";

/** After `g`. */
const PLACES: Readonly<Record<string, string>> = {
  o: "/",
  m: "/monitors",
  i: "/incidents",
  s: "/subscriptions",
  a: "/alerts",
};
/** The second key comes within this time, ms. */
const PAIR_MS = 1_000;
/** Buttons say in `aria-keyshortcuts` which of these presses them: edit, pause or resume, test now, acknowledge. */
const ACTS: ReadonlySet<string> = new Set(["e", "p", "t", "a"]);
/** What is moved through: rows of tables and lines of lists that lead somewhere. */
const ROW = "main tbody tr, main .incident-list > li";
/** What a person types in; a checkbox takes the space bar alone. */
const WRITTEN = "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]";

export function followShortcuts(): void {
  let goAtMs = Number.NEGATIVE_INFINITY;
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (!isAsked()) paletteOpen.value = true;
      return;
    }
    if (shortcuts.value === "off" || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
    if (isAsked()) return;
    const place = event.timeStamp - goAtMs < PAIR_MS ? PLACES[event.key] : undefined;
    goAtMs = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
    if (place !== undefined) go(place);
    else if (press(event.key)) event.preventDefault();
  });
}

/** A dialog is answered before anything else is done. */
function isAsked(): boolean {
  return document.querySelector("dialog[open]") !== null;
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest(WRITTEN) !== null;
}

/** @returns whether the key has done something */
function press(key: string): boolean {
  if (ACTS.has(key)) return click(`[aria-keyshortcuts=${key}]`);
  switch (key) {
    case "/":
      return focus(document.getElementById("filter"));
    case "?":
      keysOpen.value = true;
      return true;
    case ".":
      return focus(document.querySelector("main :is(.acts, .bulk) button"));
    case "x":
      return clickIn(currentRow(), "input[type=checkbox]");
    case "j":
    case "k":
      return step(key === "j" ? 1 : -1);
    default:
      return false;
  }
}

/** Of the line that has the focus; of the whole screen only where it is about one thing. */
function click(selector: string): boolean {
  return clickIn(currentRow(), selector) || clickIn(document.querySelector("main"), `.acts ${selector}`);
}

function clickIn(place: Element | null, selector: string): boolean {
  const found = place?.querySelector<HTMLElement>(selector) ?? null;
  found?.click();
  return found !== null;
}

function currentRow(): Element | null {
  return document.activeElement?.closest(ROW) ?? null;
}

/** To the link of the next row or the one before; without one to the first in view. */
function step(by: 1 | -1): boolean {
  const rows = [...document.querySelectorAll(ROW)];
  // While the page is scrolled, the rows of a long table are not in order.
  rows.sort((a, b) => Number(a.ariaRowIndex) - Number(b.ariaRowIndex));
  const now = currentRow();
  const first = rows.findIndex((row) => row.getBoundingClientRect().bottom > 0);
  const next = rows[now === null ? first : rows.indexOf(now) + by];
  return focus(next?.querySelector<HTMLElement>("a[href]") ?? null);
}

function focus(element: HTMLElement | null): boolean {
  element?.focus();
  return element !== null;
}
