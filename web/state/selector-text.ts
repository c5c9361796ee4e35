/** Selectors of the API as a line that a person writes, in the grammar of the filter: `tag:prod -kind:ping`. Pure. */
import { parseFilter, type Term, writeFilter } from "./filter.ts";

/** As the API takes and answers it. An empty line means all. */
export interface ApiSelected {
  readonly all?: true;
  readonly ids?: readonly string[];
  readonly tags?: readonly string[];
  readonly any_tag?: readonly string[];
  readonly kinds?: readonly string[];
  readonly family?: string;
  readonly subscription_ids?: readonly number[];
  readonly name?: string;
  readonly status?: readonly string[];
}

export interface ApiSelector extends ApiSelected {
  readonly not?: ApiSelected;
}

export interface NamedSubscription {
  readonly id: number;
  readonly name: string;
}

/** `many`: it says more than one selector can. `subscription`: there is none of this name. */
export type SelectorFault = "many" | "subscription";

class Unsayable extends Error {
  readonly fault: SelectorFault;
  constructor(fault: SelectorFault) {
    super(fault);
    this.fault = fault;
  }
}

/** @returns what is wrong with the line where no selector says the same */
export function selectorOf(
  line: string,
  subscriptions: readonly NamedSubscription[],
): { readonly selector: ApiSelector } | { readonly fault: SelectorFault } {
  const terms = parseFilter(line);
  const without = terms.filter(({ negated }) => negated);
  try {
    const selected = selectedOf(
      terms.filter(({ negated }) => !negated),
      subscriptions,
    );
    if (without.length === 0) return { selector: selected };
    // "Not this and not that" is one member of `not` at most: several members there leave out only what has them all.
    if (new Set(without.map(({ key }) => key)).size > 1) return { fault: "many" };
    const key = without[0]?.key ?? "text";
    const values = [...new Set(without.flatMap((term) => term.values))];
    return { selector: { ...selected, not: selectedOf([{ key, values, negated: false }], subscriptions) } };
  } catch (error) {
    if (error instanceof Unsayable) return { fault: error.fault };
    throw error;
  }
}

function selectedOf(terms: readonly Term[], subscriptions: readonly NamedSubscription[]): ApiSelected {
  if (terms.length === 0) return { all: true };
  const selected: Record<string, unknown> = {};
  const once = (name: string, value: unknown) => {
    if (Object.hasOwn(selected, name)) throw new Unsayable("many");
    selected[name] = value;
  };
  const allTags = terms
    .filter(({ key, values }) => key === "tag" && values.length === 1)
    .map(({ values }) => values[0]);
  if (allTags.length > 0) once("tags", allTags);
  for (const { key, values } of terms) {
    if (key === "tag") values.length > 1 && once("any_tag", values);
    else if (key === "kind") once("kinds", values);
    else if (key === "status") once("status", values);
    else if (key === "id")
      once(
        "ids",
        values.map((id) => (id.startsWith("srv_") ? id : `srv_${id}`)),
      );
    else if (key === "subscription") once("subscription_ids", idsOf(values, subscriptions));
    else if (values.length > 1) throw new Unsayable("many");
    else once(key === "family" ? "family" : "name", values[0]);
  }
  return selected;
}

/** As the filter has it: a part of the name is enough. */
function idsOf(values: readonly string[], subscriptions: readonly NamedSubscription[]): readonly number[] {
  return values.flatMap((value) => {
    const found = subscriptions.filter(({ id, name }) => name.toLowerCase().includes(value) || String(id) === value);
    if (found.length === 0) throw new Unsayable("subscription");
    return found.map(({ id }) => id);
  });
}

/** @returns a line that means the same, as far as subscriptions have names of their own */
export function selectorText({ not, ...selected }: ApiSelector, subscriptions: readonly NamedSubscription[]): string {
  const without = not === undefined ? [] : termsOf(not, subscriptions).map((term) => ({ ...term, negated: true }));
  return writeFilter([...termsOf(selected, subscriptions), ...without]);
}

function termsOf(selected: ApiSelected, subscriptions: readonly NamedSubscription[]): readonly Term[] {
  const { ids, tags, any_tag: anyTag, kinds, family, subscription_ids: ofSubscriptions, name, status } = selected;
  const nameOf = (id: number) => subscriptions.find((one) => one.id === id)?.name.toLowerCase() ?? String(id);
  const term = (key: Term["key"], values: readonly string[] | undefined): readonly Term[] =>
    values === undefined || values.length === 0 ? [] : [{ key, values, negated: false }];
  return [
    ...term("text", name === undefined ? undefined : [name.toLowerCase()]),
    ...(tags ?? []).flatMap((tag) => term("tag", [tag])),
    ...term("tag", anyTag),
    ...term("kind", kinds),
    ...term("family", family === undefined ? undefined : [family]),
    ...term("subscription", ofSubscriptions?.map(nameOf)),
    ...term("status", status),
    ...term("id", ids),
  ];
}
