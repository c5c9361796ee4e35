/** Filters with a name, kept on this device. */
import { signal } from "@preact/signals";

export interface SavedView {
  readonly name: string;
  /** As the address has it after `?`. */
  readonly query: string;
}

const KEY = "sonde.views";
/** Chips are one or two lines. */
export const MOST_VIEWS = 20;
const MOST_NAME = 60;
/** A filter that a person writes is far shorter. */
const MOST_QUERY = 2_000;

/** @param text what the storage has, which another program may have written */
export function readViews(text: string | null): readonly SavedView[] {
  let value: unknown;
  try {
    value = JSON.parse(text ?? "[]");
  } catch {
    return [];
  }
  if (!Array.isArray(value)) return [];
  const views = value.flatMap((one: unknown): readonly SavedView[] => {
    const { name, query } = (typeof one === "object" && one !== null ? one : {}) as Readonly<Record<string, unknown>>;
    if (typeof name !== "string" || typeof query !== "string") return [];
    return name.trim() === "" || query.length > MOST_QUERY ? [] : [{ name: name.slice(0, MOST_NAME), query }];
  });
  return views.slice(0, MOST_VIEWS);
}

/** @returns with the view, in the place of one of the same name */
export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  const name = view.name.trim().slice(0, MOST_NAME);
  return [...views.filter((one) => one.name !== name), { name, query: view.query }].slice(-MOST_VIEWS);
}

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export const views = signal<readonly SavedView[]>(typeof localStorage === "undefined" ? [] : readViews(stored()));

export function keepViews(next: readonly SavedView[]): void {
  views.value = next;
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // Without storage they last until the page is left.
  }
}
