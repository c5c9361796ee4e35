/** Keys of what is exported: those that documents gave, and for all other things one that is made of the name. */
import { KEY } from "../../model/document/document.ts";
import type { ThingKind } from "../../model/document/plan.ts";
import { FreeNames } from "../../model/free-names.ts";
import type { DocumentRecord, DocumentThing } from "../../store/sql/documents/port.ts";

/** Of a key that is made, code points: it is written in selectors and on command lines. */
const LONGEST = 60;

export class ExportKeys {
  readonly #keys = new Map<string, string>();
  readonly #names = new Map<ThingKind, FreeNames>();
  /** What is exported; null: everything. */
  readonly #exported: ReadonlySet<string> | null;

  /** @param document whose things are exported; null: all of the project */
  constructor(things: readonly DocumentThing[], document: DocumentRecord | null) {
    const there = things.filter(({ isThere }) => isThere);
    for (const { kind, key, thingId } of there) {
      this.#keys.set(`${kind} ${thingId}`, key);
      this.#namesOf(kind).take(key);
    }
    const ours = there.filter(({ documentId }) => documentId === document?.id);
    this.#exported = document === null ? null : new Set(ours.map(({ kind, thingId }) => `${kind} ${thingId}`));
  }

  isExported(kind: ThingKind, id: number): boolean {
    return this.#exported === null || this.#exported.has(`${kind} ${id}`);
  }

  /** @param name of what has no key yet */
  key(kind: ThingKind, id: number, name: string): string {
    const known = this.#keys.get(`${kind} ${id}`);
    if (known !== undefined) return known;
    // A rule is known by its name.
    const isRule = kind === "alert_rule";
    const base = isRule ? name : keyOf(name) || kind;
    const key = this.#namesOf(kind).free(base, (count) => `${base}${isRule ? " " : "-"}${count}`);
    this.#keys.set(`${kind} ${id}`, key);
    return key;
  }

  #namesOf(kind: ThingKind): FreeNames {
    const names = this.#names.get(kind) ?? new FreeNames();
    this.#names.set(kind, names);
    return names;
  }
}

function keyOf(name: string): string {
  const words =
    name
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{N}_.]+/gu) ?? [];
  const key = [...words.join("-").replace(/^\.+/, "")].slice(0, LONGEST).join("");
  return KEY.test(key) ? key : "";
}
