/**
 * Selectors: which monitors of a project are meant. It is resolved when it is used, not when it is written, so a monitor that is tagged
 * later is covered. All members are and-ed. Pure.
 */
import { formatId, parseId } from "./ids.ts";
import { type Family, type Kind, TUNNEL_PROTOCOLS } from "./kind.ts";
import { isFields } from "./plain-values.ts";
import { MONITOR_STATUSES, type MonitorStatus } from "./status.ts";

/** One request is about so many monitors at most. */
export const MOST_SELECTED = 10_000;
/** Names, tags, kinds and subscriptions of one list. */
const MOST_WORDS = 100;
/** Code points, as names and tags of monitors have them. */
const LONGEST_NAME = 255;
const LONGEST_TAG = 50;

export interface Selector extends Selected {
  /** Those that this selects are left out. */
  readonly not?: Selected;
}

export interface Selected {
  /** Every monitor, as far as the other members let it. */
  readonly all?: true;
  readonly ids?: readonly number[];
  /** It has all of them. */
  readonly tags?: readonly string[];
  /** It has one of them. */
  readonly anyTag?: readonly string[];
  readonly kinds?: readonly Kind[];
  readonly family?: Family;
  readonly subscriptionIds?: readonly number[];
  /** Its name contains the text, whatever the case. */
  readonly name?: string;
  readonly status?: readonly MonitorStatus[];
}

export type ReadSelector = { readonly selector: Selector } | { readonly fault: string };

/** What can be asked of kinds: those of this version. */
export interface SelectorWords {
  readonly kinds: readonly string[];
}

class Fault extends Error {}

/**
 * Reads a selector as the API and documents write it.
 * @param value JSON from outside @param what the name of the field, for the fault
 * @returns the fault as a sentence for the one who sent it
 */
export function readSelector(value: unknown, { kinds }: SelectorWords, what = "select"): ReadSelector {
  try {
    const { not, ...members } = objectOf(value, what);
    const selected = readSelected(members, kinds, what);
    if (not === undefined) return { selector: selected };
    return { selector: { ...selected, not: readSelected(objectOf(not, `${what}.not`), kinds, `${what}.not`) } };
  } catch (error) {
    if (error instanceof Fault) return { fault: error.message };
    throw error;
  }
}

function readSelected(members: Readonly<Record<string, unknown>>, kinds: readonly string[], what: string): Selected {
  const names = Object.keys(members);
  if (names.length === 0) throw new Fault(`${what} must name monitors, such as {"tags": ["prod"]} or {"all": true}.`);
  const read: Record<string, unknown> = {};
  for (const name of names) {
    const reader = Object.hasOwn(READERS, name) ? READERS[name as keyof typeof READERS] : undefined;
    if (reader === undefined) throw new Fault(`${what} has no member ${shortened(name)}.`);
    const [member, value] = reader(members[name], `${what}.${name}`, kinds);
    read[member] = value;
  }
  return read as Selected;
}

type Reader = (value: unknown, what: string, kinds: readonly string[]) => readonly [keyof Selected, unknown];

const READERS = {
  all: (value, what) => {
    if (value !== true) throw new Fault(`${what} must be true.`);
    return ["all", true];
  },
  ids: (value, what) => ["ids", idsOf(value, what, "server", MOST_SELECTED)],
  tags: (value, what) => ["tags", tagsOf(value, what)],
  any_tag: (value, what) => ["anyTag", tagsOf(value, what)],
  kinds: (value, what, kinds) => ["kinds", wordsOf(value, what, kinds)],
  family: (value, what) => {
    if (value !== "tunnel" && value !== "uptime") throw new Fault(`${what} must be tunnel or uptime.`);
    return ["family", value];
  },
  subscription_ids: (value, what) => ["subscriptionIds", idsOf(value, what, "subscription", MOST_WORDS)],
  name: (value, what) => {
    const name = typeof value === "string" ? value.trim() : "";
    if (name === "" || [...name].length > LONGEST_NAME)
      throw new Fault(`${what} must be a text of 1 to ${LONGEST_NAME} characters.`);
    return ["name", name];
  },
  status: (value, what) => ["status", wordsOf(value, what, MONITOR_STATUSES)],
} as const satisfies Readonly<Record<string, Reader>>;

function objectOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isFields(value)) throw new Fault(`${what} must be an object.`);
  return value;
}

function listOf(value: unknown, what: string, most: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > most)
    throw new Fault(`${what} must be a list of 1 to ${most} entries.`);
  return value;
}

function idsOf(value: unknown, what: string, kind: "server" | "subscription", most: number): readonly number[] {
  const ids = listOf(value, what, most).map((one) => {
    const id = typeof one === "string" || typeof one === "number" ? parseId(kind, String(one)) : undefined;
    if (id === undefined) throw new Fault(`${what} must be a list of ids.`);
    return id;
  });
  return [...new Set(ids)];
}

/** As monitors have them: trimmed and in lower case. */
function tagsOf(value: unknown, what: string): readonly string[] {
  const tags = listOf(value, what, MOST_WORDS).map((one) => {
    const tag = typeof one === "string" ? one.trim().toLowerCase() : "";
    if (tag === "" || [...tag].length > LONGEST_TAG)
      throw new Fault(`${what} must be a list of texts of 1 to ${LONGEST_TAG} characters.`);
    return tag;
  });
  return [...new Set(tags)];
}

function wordsOf(value: unknown, what: string, known: readonly string[]): readonly string[] {
  const words = listOf(value, what, MOST_WORDS).map((one) => {
    if (typeof one !== "string" || !known.includes(one)) throw new Fault(`${what} must be of ${known.join(", ")}.`);
    return one;
  });
  return [...new Set(words)];
}

function shortened(name: string): string {
  return JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name);
}

/** As the API and documents write it: readSelector() reads the same again. */
export function writeSelector({ not, ...selected }: Selector): Readonly<Record<string, unknown>> {
  return { ...writeSelected(selected), ...(not !== undefined && { not: writeSelected(not) }) };
}

function writeSelected(selected: Selected): Readonly<Record<string, unknown>> {
  const { all, ids, tags, anyTag, kinds, family, subscriptionIds, name, status } = selected;
  return {
    ...(all !== undefined && { all }),
    ...(ids !== undefined && { ids: ids.map((id) => formatId("server", id)) }),
    ...(tags !== undefined && { tags }),
    ...(anyTag !== undefined && { any_tag: anyTag }),
    ...(kinds !== undefined && { kinds }),
    ...(family !== undefined && { family }),
    ...(subscriptionIds !== undefined && { subscription_ids: subscriptionIds }),
    ...(name !== undefined && { name }),
    ...(status !== undefined && { status }),
  };
}

/** Every kind that a selector may name, tunnels first. @param uptime of this version */
export function selectableKinds(uptime: readonly string[]): readonly string[] {
  return [...TUNNEL_PROTOCOLS, ...uptime];
}
