/** The entries of a structured list: each is read by itself, and an error concerns that entry only. */
import { EntryError } from "./body-error.ts";
import { type Entry, entryOf, type ProxyEntry, readProxy } from "./entry.ts";

/** @returns undefined for what is not a server, the type's name for what no core here supports. @throws EntryError */
export type ProxyLook = (value: unknown) => ProxyEntry | string | undefined;

/** @param values with EntryErrors in the places of those that cannot be read */
export function* fromProxies(values: Iterable<unknown>, look: ProxyLook): Generator<Entry> {
  let at = 0;
  for (const value of values) {
    const entry = fromProxy(value, ++at, look);
    if (entry !== undefined) yield entry;
  }
}

/** @returns undefined for what is no server */
function fromProxy(value: unknown, at: number, look: ProxyLook): Entry | undefined {
  const proxy = unlessBad(value, look);
  if (proxy instanceof EntryError) return { kind: "bad", at, reason: proxy.message };
  if (typeof proxy === "string") return unsupported(at, proxy);
  return proxy === undefined ? undefined : entryOf(at, () => readProxy(proxy));
}

/** JSON and YAML that are nested without end run out of stack wherever they are looked into. */
function unlessBad(value: unknown, look: ProxyLook): ReturnType<ProxyLook> | EntryError {
  if (value instanceof EntryError) return value;
  try {
    return look(value);
  } catch (error) {
    if (error instanceof RangeError) return new EntryError("it is nested too deep");
    if (error instanceof EntryError) return error;
    throw error;
  }
}

/** The word is untrusted: it is shown only when it is short and plain. */
function unsupported(at: number, word: string): Entry {
  return { kind: "unsupported", at, what: /^[a-z0-9. -]{1,32}$/i.test(word) ? word : "unknown" };
}
