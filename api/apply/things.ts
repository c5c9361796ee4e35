/** Shared by the sections of a document that hold few things: finding a thing by its key, comparing it, and listing what the document no longer has. */
import { isDeepStrictEqual } from "node:util";
import { type FieldChange, SECTION_OF, type ThingKind } from "../../model/document/plan.ts";
import type { Managed } from "../../store/sql/documents/port.ts";
import { ApiError } from "../errors.ts";
import type { DraftPlan, Path } from "./draft-plan.ts";
import type { Entry } from "./entries.ts";
import { RefusedNameError } from "./references.ts";
import { shortened } from "./shown-values.ts";

export interface Found<Record> {
  readonly act: "create" | "adopt" | "change";
  /** null: it is to be made. */
  readonly now: Record | null;
}

/** One entry, and how it is written. */
export interface Wanted {
  readonly kind: ThingKind;
  readonly key: string;
  readonly path: Path;
  /** As the document has it. */
  readonly entry: Entry;
}

export interface Described {
  /** As the API writes it; null: it is not there yet. */
  readonly id: string | null;
  readonly name: string;
  readonly before: Entry;
  readonly after: Entry;
  /** Fields whose values differ and are not shown. */
  readonly secret: readonly string[];
  /** Where the position in a list is another. */
  readonly more?: readonly FieldChange[];
}

interface Left {
  readonly id: string;
  readonly name: string;
  /** Why it cannot be removed. */
  readonly held?: string;
}

/** How many a project may have. */
interface Limit {
  readonly most: number;
  /** What one more is refused with. */
  readonly message: string;
}

export class Things<Record extends { readonly id: number }> {
  readonly #plan: DraftPlan;
  readonly #kind: ThingKind;
  readonly #records: ReadonlyMap<number, Record>;
  readonly #free: Record[];
  readonly #limit: Limit;
  /** Those that stay, and those that entries would make, whether they can be made or not. */
  #count: number;

  constructor(plan: DraftPlan, kind: ThingKind, records: readonly Record[], limit: Limit) {
    this.#plan = plan;
    this.#kind = kind;
    this.#limit = limit;
    this.#count = records.length;
    this.#records = new Map(records.map((one) => [one.id, one]));
    const taken = new Set(plan.thingsOf(kind).map(({ thingId }) => thingId));
    this.#free = records.filter(({ id }) => !taken.has(id));
  }

  /** Reads and plans one entry; what a reader refuses is a fault of the document, what the state refuses is listed. */
  async each(wanted: Wanted, isSame: (one: Record) => boolean, work: (found: Found<Record>) => void | Promise<void>) {
    const { kind, key, path } = wanted;
    await this.#plan.slices.rest();
    const thing = this.#plan.thing(kind, key);
    const owner = this.#plan.ownerOf(thing);
    if (owner !== null) return this.#plan.refuse(kind, key, path, `It belongs to the document "${owner}".`);
    const known = thing === undefined ? undefined : this.#records.get(thing.thingId);
    const now = known ?? this.#takeFree(isSame) ?? null;
    const isOurs = thing !== undefined && known !== undefined && this.#plan.isOurs(thing);
    // Before it is read: reading thousands that cannot be made takes half a minute.
    if (now === null && this.#count >= this.#limit.most) return this.#plan.refuse(kind, key, path, this.#limit.message);
    if (now === null) this.#count += 1;
    try {
      await work({ now, act: now === null ? "create" : isOurs ? "change" : "adopt" });
    } catch (error) {
      if (!(error instanceof RefusedNameError || error instanceof ApiError)) throw error;
      this.#plan.refuse(kind, key, path, error.message);
    }
  }

  /** What is the same and in no document; one thing is taken over once. */
  #takeFree(isSame: (one: Record) => boolean): Record | undefined {
    if (!this.#plan.options.adopt) return undefined;
    const place = this.#free.findIndex(isSame);
    return place < 0 ? undefined : this.#free.splice(place, 1)[0];
  }

  /**
   * What the document had and has no more.
   * @param describe with a reason where it cannot be removed
   * @returns what prune removes
   */
  leave(keys: ReadonlySet<string>, describe: (one: Record) => Left): readonly Record[] {
    const removed: Record[] = [];
    for (const thing of this.#plan.thingsOf(this.#kind)) {
      const found = this.#records.get(thing.thingId);
      if (keys.has(thing.key) || !this.#plan.isOurs(thing) || found === undefined) continue;
      const { id, name, held } = describe(found);
      const about = { kind: this.#kind, key: thing.key, id, name, fields: [] } as const;
      if (this.#plan.options.prune && held !== undefined) {
        this.#plan.refuse(this.#kind, thing.key, [SECTION_OF[this.#kind]], held);
      } else if (this.#plan.options.prune) {
        this.#plan.changes.push({ act: "remove", ...about });
        removed.push(found);
      } else {
        this.#plan.changes.push({ act: "release", ...about, note: "no longer in the document: it stays as it is" });
        this.#plan.release.push({ kind: this.#kind, key: thing.key });
      }
    }
    this.#count -= removed.length;
    return removed;
  }

  /** @returns how it is kept when it is written; null: nothing of it changes */
  describe({ kind, key, entry }: Wanted, act: Found<Record>["act"], described: Described): Managed | null {
    const plan = this.#plan;
    const fields = act === "create" ? newFields(entry, described) : this.#changedFields(key, entry, described);
    if (act === "change" && fields.length === 0) {
      plan.unchanged += 1;
      return null;
    }
    plan.changes.push({ act, kind, key, id: described.id, name: described.name, fields });
    plan.cover([kind, key, entry]);
    return { key, marks: plan.marks(entry) };
  }

  #changedFields(key: string, entry: Entry, { before, after, secret, more = [] }: Described): readonly FieldChange[] {
    const marks = this.#plan.thing(this.#kind, key)?.marks;
    const drift = (field: string) => {
      const isDrift = marks?.[field] !== undefined && marks[field] === this.#plan.mark(field, entry[field]);
      return isDrift ? { drift: true as const } : {};
    };
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const open = names
      .filter((field) => !isDeepStrictEqual(before[field], after[field]))
      .map((field) => ({ field, from: shortened(before[field]), to: shortened(after[field]), ...drift(field) }));
    return [...open, ...secret.map((field) => ({ field, secret: true as const, ...drift(field) })), ...more];
  }
}

/** What the document says of a new thing. */
function newFields(entry: Entry, { after, secret }: Described): readonly FieldChange[] {
  const open = Object.keys(entry).filter((field) => field !== "name" && Object.hasOwn(after, field));
  return [
    ...open.map((field) => ({ field, to: shortened(after[field]) })),
    ...secret.map((field) => ({ field, secret: true as const })),
  ];
}
