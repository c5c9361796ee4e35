/**
 * What of a request was ignored. The contract lets callers send what the API does not know, so it warns and does not refuse: a misspelt field would
 * else answer 200 and change nothing (docs/api-contract.md#conventions). Pure.
 */
import { z } from "zod";
import { editDistance } from "../model/nearest.ts";
import type { JsonObject } from "./body.ts";

/** More are counted in the last one: a body may have thousands. */
export const MOST_WARNINGS = 8;
/**
 * Names that are repeated to their sender: of letters and few digits, as names are. A key or a token in the place of a name has neither form, and
 * is not repeated. No value ever is.
 */
const SHOWN_NAME = /^[A-Za-z][A-Za-z_.-]{0,39}[0-9]{0,2}$/;

/** What counts in one request. */
export interface Known {
  readonly names: ReadonlySet<string>;
  /** Names that count for others of the sort, such as fields of another tunnel protocol. */
  readonly elsewhere?: ReadonlySet<string>;
  /** What `elsewhere` is not for, such as `openvpn`. */
  readonly sort?: string;
}

const NOTHING: Known = { names: new Set() };

/** @param query raw @param known the parameters that the endpoint reads */
export function ignoredParameters(query: string, known: Known = NOTHING): readonly string[] {
  if (query === "") return [];
  return ignored("parameter", new Set(new URLSearchParams(query).keys()), known);
}

/** @param answered the record as it is now: a field that is sent back as it reads was not meant to change anything */
export function ignoredFields(sent: JsonObject, known: Known, answered: JsonObject): readonly string[] {
  const names = Object.keys(sent).filter((name) => {
    if (known.names.has(name)) return false;
    // Programs send null for what they leave out.
    if (sent[name] === null && known.elsewhere?.has(name) === true) return false;
    return !Object.hasOwn(answered, name) || JSON.stringify(sent[name]) !== JSON.stringify(answered[name]);
  });
  return ignored("field", names, known, answered);
}

function ignored(what: "field" | "parameter", sent: Iterable<string>, known: Known, answered: JsonObject = {}) {
  const names = [...sent].filter((name) => !known.names.has(name));
  const named = names.slice(0, names.length > MOST_WARNINGS ? MOST_WARNINGS - 1 : MOST_WARNINGS);
  const warnings = named.map((name) => warningOf(what, name, known, answered));
  return names.length > named.length ? [...warnings, `${names.length - named.length} more were ignored`] : warnings;
}

function warningOf(what: "field" | "parameter", name: string, known: Known, answered: JsonObject): string {
  if (!SHOWN_NAME.test(name)) return `a ${what} was ignored whose name is not repeated here`;
  if (known.elsewhere?.has(name) === true)
    return `${what} "${name}" is not for ${known.sort ?? "this"} and was ignored`;
  const near = nearest(name, known.names);
  if (near !== null) return `unknown ${what} "${name}" was ignored; did you mean "${near}"?`;
  if (Object.hasOwn(answered, name)) return `${what} "${name}" cannot be set and was ignored`;
  return `unknown ${what} "${name}" was ignored`;
}

/** @returns the known name that a typing error could have been meant for */
export function nearest(name: string, known: Iterable<string>): string | null {
  const plain = plainName(name);
  const most = plain.length < 3 ? 0 : plain.length < 5 ? 1 : 2;
  let best: { readonly name: string; readonly distance: number } | null = null;
  for (const candidate of known) {
    const distance = editDistance(plain, plainName(candidate), most);
    if (distance <= most && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { name: candidate, distance };
  }
  return best?.name ?? null;
}

/** `syncIntervalSec` and `sync_interval_sec` are one name to those who write it. */
function plainName(name: string): string {
  return name.replace(/[_.-]/g, "").toLowerCase();
}

/** The fields that a body's schema names, of all its forms. */
export function namesIn(schema: unknown): ReadonlySet<string> {
  if (schema instanceof z.ZodObject) return new Set(Object.keys(schema.shape));
  if (schema instanceof z.ZodUnion) return new Set(schema.options.flatMap((option) => [...namesIn(option)]));
  return new Set();
}
