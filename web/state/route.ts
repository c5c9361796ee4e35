/** Where the page is: the part of the address after `#`, which no proxy and no server sees. Pure but for `route` and `go`. */
import { signal } from "@preact/signals";

export interface Route {
  /** Begins with a slash: `/monitors/srv_12`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** @param hash as location.hash has it */
export function parseHash(hash: string): Route {
  const text = hash.replace(/^#/, "");
  const mark = text.indexOf("?");
  const path = mark < 0 ? text : text.slice(0, mark);
  return {
    path: path.startsWith("/") ? path : `/${path}`,
    query: new URLSearchParams(mark < 0 ? "" : text.slice(mark + 1)),
  };
}

/**
 * @param pattern `/monitors/:id`
 * @returns its parameters, decoded; null when the path is another
 */
export function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const [wanted, given] = [pattern, path].map((text) => text.split("/").filter((part) => part !== "")) as [
    string[],
    string[],
  ];
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? "";
    if (part.startsWith(":")) params[part.slice(1)] = decoded(value);
    else if (part !== value) return null;
  }
  return params;
}

/** What is no valid escape stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const route = signal<Route>({ path: "/", query: new URLSearchParams() });

/** Set while something is written that would be lost: asked before another address is shown. */
export const staysHere: { current: (() => boolean) | null } = { current: null };

/** What an entry of the history has that was shown before: a browser shows it again where it was left. */
const SEEN = "seen";

/** The latest address. */
export const entry = { isNew: true };

/** Follows the address from now on. */
export function followAddress(): void {
  const read = () => {
    if (staysHere.current?.() === true) {
      const { path, query } = route.peek();
      history.pushState(SEEN, "", addressOf(path, query));
      return;
    }
    entry.isNew = history.state !== SEEN;
    history.replaceState(SEEN, "");
    route.value = parseHash(location.hash);
  };
  addEventListener("hashchange", read);
  read();
}

export function go(path: string): void {
  location.hash = path;
}

/** Puts one parameter into the address without a new entry in the history. @param value "" takes it out */
export function replaceParameter(name: string, value: string): void {
  const { path, query } = route.peek();
  const next = new URLSearchParams(query);
  if (value === "") next.delete(name);
  else next.set(name, value);
  history.replaceState(SEEN, "", addressOf(path, next));
  route.value = { path, query: next };
}

function addressOf(path: string, query: URLSearchParams): string {
  const text = query.toString();
  return `#${path}${text === "" ? "" : `?${text}`}`;
}
