/** Keys of a document to ids, and ids to the keys by which a document names them. */
import type { Document, DocumentSelected, DocumentSelector } from "../../model/document/document.ts";
import { SECTION_OF, type ThingKind } from "../../model/document/plan.ts";
import { ID_PREFIXES } from "../../model/ids.ts";
import { nearestOf } from "../../model/nearest.ts";
import { readSelector, type Selected, type Selector, writeSelector } from "../../model/selector.ts";
import type { DraftPlan, Path } from "./draft-plan.ts";
import { WORDS } from "./words.ts";

/** Kinds that other things name, and what they are called. */
const WORD_OF = {
  monitor: "monitor",
  subscription: "subscription",
  channel: "channel",
  quiet_hours: "quiet hours",
} as const satisfies Partial<Record<ThingKind, string>>;
type NamedKind = keyof typeof WORD_OF;

/** What no document has is named by its id: such names begin with it. */
const PREFIX_OF = {
  monitor: ID_PREFIXES.server,
  subscription: ID_PREFIXES.subscription,
  channel: ID_PREFIXES.channel,
  quiet_hours: "qh_",
} as const satisfies Record<NamedKind, string>;
/** Names that are not there which are told with the one that was most likely meant: a document may have a hundred thousand, and 20,000 to compare with. */
const MOST_HINTS = 5;
const DIGITS = /^[1-9][0-9]{0,15}$/;

function ofKinds<Kept>(make: () => Kept): Readonly<Record<NamedKind, Kept>> {
  return { monitor: make(), subscription: make(), channel: make(), quiet_hours: make() };
}

/** Keys by id, of every document of a project. */
export class KeyNames {
  readonly #keys = ofKinds(() => new Map<number, string>());

  set(kind: NamedKind, id: number, key: string): void {
    this.#keys[kind].set(id, key);
  }

  /** What has no key is called by its id. */
  name(kind: NamedKind, id: number): string {
    return this.#keys[kind].get(id) ?? `${PREFIX_OF[kind]}${id}`;
  }

  /** As a document writes it. */
  selector({ not, ...selected }: Selector): Readonly<Record<string, unknown>> {
    return { ...this.#selected(selected), ...(not !== undefined && { not: this.#selected(not) }) };
  }

  #selected({ ids, subscriptionIds, ...others }: Selected): Readonly<Record<string, unknown>> {
    return {
      ...writeSelector(others),
      ...(ids !== undefined && { keys: ids.map((id) => this.name("monitor", id)).sort() }),
      ...(subscriptionIds !== undefined && {
        subscriptions: subscriptionIds.map((id) => this.name("subscription", id)).sort(),
      }),
    };
  }
}

/** Something that is named is refused itself: what names it is, too. */
export class RefusedNameError extends Error {
  override readonly name = "RefusedNameError";
}

export class References {
  readonly names = new KeyNames();
  readonly #plan: DraftPlan;
  readonly #document: Document;
  /** Of the document. */
  readonly #ids = ofKinds(() => new Map<string, number>());
  /** Everything of the project that is not removed. */
  readonly #there = ofKinds(() => new Set<number>());
  #hints = 0;

  constructor(plan: DraftPlan, document: Document) {
    this.#plan = plan;
    this.#document = document;
    for (const kind of Object.keys(WORD_OF) as NamedKind[])
      for (const { key, thingId } of plan.thingsOf(kind)) this.names.set(kind, thingId, key);
  }

  /**
   * Called when the section of the kind is planned.
   * @param made keys of `create`: the first is -1, the second -2 @param all ids of the project @param removed those of them that go
   */
  know(
    kind: NamedKind,
    made: readonly string[],
    there: Iterable<readonly [key: string, id: number]>,
    { all, removed }: { readonly all: Iterable<number>; readonly removed: Iterable<number> },
  ): void {
    const [ids, thereAll] = [this.#ids[kind], this.#there[kind]];
    const set = (key: string, id: number): void => {
      ids.set(key, id);
      this.names.set(kind, id, key);
    };
    for (const [key, id] of there) set(key, id);
    for (const [index, key] of made.entries()) set(key, -index - 1);
    for (const id of all) thereAll.add(id);
    for (const id of removed) thereAll.delete(id);
  }

  /** What another document has is named by its key there, what none has by its id. */
  #elsewhere(kind: NamedKind, key: string): number | undefined {
    const digits = key.startsWith(PREFIX_OF[kind]) ? key.slice(PREFIX_OF[kind].length) : "";
    const id = this.#plan.thing(kind, key)?.thingId ?? (DIGITS.test(digits) ? Number(digits) : undefined);
    return id !== undefined && this.#there[kind].has(id) ? id : undefined;
  }

  /** @returns undefined when there is no such thing, which is reported @throws RefusedNameError */
  id(kind: NamedKind, key: string, path: Path): number | undefined {
    const id = this.#ids[kind].get(key);
    if (id !== undefined) return id;
    const section = this.#document[SECTION_OF[kind]] ?? {};
    if (Object.hasOwn(section, key)) throw new RefusedNameError(`It names ${WORD_OF[kind]} ${key}, which is refused.`);
    const other = this.#elsewhere(kind, key);
    if (other !== undefined) return other;
    const near = this.#hints++ < MOST_HINTS ? nearestOf(key, Object.keys(section)) : undefined;
    const hint = near === undefined ? "" : ` Did you mean ${near}?`;
    this.#plan.wrong(path, `There is no ${WORD_OF[kind]} with the key ${shown(key)} in the document.${hint}`);
    return undefined;
  }

  ids(kind: NamedKind, keys: readonly string[], path: Path): readonly number[] {
    return keys.flatMap((key, index) => this.id(kind, key, [...path, index]) ?? []);
  }

  /** @returns null for what is none, which is reported @throws RefusedNameError */
  selector({ not, ...selected }: DocumentSelector, path: Path): Selector | null {
    const read = this.#selected(selected, path);
    if (read === null || not === undefined) return read;
    const without = this.#selected(not, [...path, "not"]);
    return without === null ? null : { ...read, not: without };
  }

  #selected({ keys, subscriptions, ...others }: DocumentSelected, path: Path): Selected | null {
    const names = { ...(keys !== undefined && { keys }), ...(subscriptions !== undefined && { subscriptions }) };
    const empty = Object.entries(names).find(([, list]) => list.length === 0);
    if (empty !== undefined) {
      this.#plan.wrong([...path, empty[0]], `${empty[0]} must name at least one.`);
      return null;
    }
    const isByName = Object.keys(names).length > 0 && Object.keys(others).length === 0;
    const read = isByName ? { selector: {} } : readSelector(others, WORDS, "select");
    if ("fault" in read) {
      this.#plan.wrong(path, read.fault);
      return null;
    }
    return {
      ...read.selector,
      ...(keys !== undefined && { ids: this.ids("monitor", [...new Set(keys)], [...path, "keys"]) }),
      ...(subscriptions !== undefined && {
        subscriptionIds: this.ids("subscription", [...new Set(subscriptions)], [...path, "subscriptions"]),
      }),
    };
  }
}

function shown(key: string): string {
  return JSON.stringify(key.length > 60 ? `${key.slice(0, 60)}…` : key);
}
