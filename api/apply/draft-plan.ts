/** A plan under construction: what the sections add to it, and what would be written. */
import { createHash, createHmac, createSecretKey, type Hash, type KeyObject } from "node:crypto";
import type { AlertRule } from "../../model/alerting-rule.ts";
import type { Change, RefusedThing, ThingKind } from "../../model/document/plan.ts";
import type { QuietHours } from "../../model/quiet-hours.ts";
import type { Sealing } from "../../store/sealed-text.ts";
import { Slices } from "../../store/slices.ts";
import type { ChannelChanges, NewChannel } from "../../store/sql/alerts/channels-port.ts";
import {
  type DocumentThing,
  type ListOrder,
  type Marks,
  type NewPage,
  type Orders,
  type PageChange,
  type ScheduleChange,
  type Seen,
  seenThing,
} from "../../store/sql/documents/port.ts";
import type { MonitorChange, NewMonitor } from "../../store/sql/monitors/port.ts";
import type { ScheduleDraft } from "../../store/sql/monitors/schedules-port.ts";
import type { NewSubscription, SubscriptionChange } from "../../store/sql/subscriptions/port.ts";
import type { Api } from "../api.ts";
import { ApiError } from "../errors.ts";
import type { ProjectCall } from "../route.ts";

export interface ApplyOptions {
  readonly prune: boolean;
  readonly adopt: boolean;
  /** Only the plan is wanted: nothing is sealed or marked for an order. */
  readonly isDry: boolean;
}

type Writable<Input, Wanted> = {
  -readonly [Name in keyof Orders<Input, Wanted>]: Orders<Input, Wanted>[Name][number][];
};
export type Path = readonly (string | number)[];

/** One entry of the document. */
export interface About {
  readonly kind: ThingKind;
  readonly key: string;
  readonly path: Path;
}

/** As messages of single requests name a field. */
const FIELD = /^(?:Missing or invalid )?([A-Za-z_]+)/;
/** Characters of a mark: 72 bits, so that no two values of a field have one by chance. */
const MARK_LENGTH = 12;

/** Faults of one entry that are listed; the others are counted in the last one. Once many are listed, one of each. */
const MOST_OF_ONE = 20;
const MANY_LISTED = 1_000;

const NOTHING_LISTED = { version: 0, items: null, made: new Map<number, never>(), managed: [], removed: [] } as const;

export class DraftPlan {
  readonly api: Api;
  readonly call: ProjectCall;
  readonly name: string;
  readonly options: ApplyOptions;
  readonly slices = new Slices();
  readonly changes: Change[] = [];
  readonly refused: RefusedThing[] = [];
  readonly monitors: Writable<NewMonitor, MonitorChange> = { create: [], change: [], remove: [] };
  readonly subscriptions: Writable<NewSubscription, SubscriptionChange> = { create: [], change: [], remove: [] };
  readonly channels: Writable<NewChannel, ChannelChanges> = { create: [], change: [], remove: [] };
  quietHours: ListOrder<QuietHours> = NOTHING_LISTED;
  rules: ListOrder<AlertRule> = NOTHING_LISTED;
  readonly maintenance: Writable<ScheduleDraft, ScheduleChange> = { create: [], change: [], remove: [] };
  readonly pages: Writable<NewPage, PageChange> = { create: [], change: [], remove: [] };
  /** Slugs of pages that are written, before and after: cached copies of them are dropped. */
  readonly pageSlugs: string[] = [];
  readonly release: Pick<DocumentThing, "kind" | "key">[] = [];
  readonly #seen = new Map<string, string>();
  unchanged = 0;
  /** Of the entry that is being read. */
  #wrong: { readonly path: Path; readonly message: string }[] = [];
  /** Of what is refused, in its order. */
  readonly refusedAt: Path[] = [];
  readonly #hashKey: string;
  /** The same, as hashes take it: made into it once. */
  readonly #markKey: KeyObject;
  /** By kind and key. */
  readonly #things = new Map<ThingKind, Map<string, DocumentThing>>();
  readonly #documentId: number | null;
  readonly #otherNames: ReadonlyMap<number, string>;
  readonly #hash: Hash;
  /** By what they are of. */
  readonly #marks = new Map<string, string>();

  constructor(
    api: Api,
    call: ProjectCall,
    name: string,
    options: ApplyOptions,
    more: {
      readonly hashKey: string;
      readonly documentId: number | null;
      /** By the ids of documents. */
      readonly names: ReadonlyMap<number, string>;
    },
  ) {
    this.api = options.isDry ? { ...api, sealing: sealingNothing(api.sealing) } : api;
    this.call = call;
    this.name = name;
    this.options = options;
    this.#hashKey = more.hashKey;
    this.#markKey = createSecretKey(more.hashKey, "utf8");
    this.#documentId = more.documentId;
    this.#otherNames = more.names;
    this.#hash = createHash("sha256");
    this.cover([name, options.prune, options.adopt]);
  }

  get hashKey(): string {
    return this.#hashKey;
  }

  /** What a key stands for, whichever document has it. */
  thing(kind: ThingKind, key: string): DocumentThing | undefined {
    return this.#things.get(kind)?.get(key);
  }

  get seen(): Seen {
    return this.#seen;
  }

  /** Some of what documents of the project have; all are known before the first section is planned. */
  know(things: readonly DocumentThing[]): void {
    for (const thing of things) {
      if (thing.isThere) this.#know(thing);
      this.#seen.set(`${thing.kind} ${thing.key}`, seenThing(thing));
    }
  }

  #know(thing: DocumentThing): void {
    const ofKind = this.#things.get(thing.kind) ?? new Map<string, DocumentThing>();
    this.#things.set(thing.kind, ofKind.set(thing.key, thing));
  }

  thingsOf(kind: ThingKind): readonly DocumentThing[] {
    return [...(this.#things.get(kind)?.values() ?? [])];
  }

  isOurs({ documentId }: DocumentThing): boolean {
    return documentId !== null && documentId === this.#documentId;
  }

  /** The name of the other document that has it; null: it may be taken. */
  ownerOf(thing: DocumentThing | undefined): string | null {
    if (thing === undefined || thing.documentId === null || this.isOurs(thing)) return null;
    return this.#otherNames.get(thing.documentId) ?? "another";
  }

  /** While attempt() runs on an entry: the entry is refused at its end, with its other faults. */
  wrong(path: Path, message: string): void {
    this.#wrong.push({ path, message });
  }

  refuse(kind: ThingKind, key: string, path: Path, message: string): void {
    this.refusedAt.push(path);
    this.refused.push({ kind, key, path: pathText(path), line: null, message });
  }

  /** @param lines of what is refused, in its order */
  place(lines: readonly (number | null)[]): void {
    for (const [index, one] of this.refused.entries()) this.refused[index] = { ...one, line: lines[index] ?? null };
  }

  /**
   * Runs a reader of the API.
   * @param fields whose names the reader's messages may begin with
   * @returns undefined when something is wrong: the entry is refused then, and the others go on
   */
  attempt<Result>({ kind, key, path }: About, fields: object, work: () => Result): Result | undefined {
    this.#wrong = [];
    let result: Result | undefined;
    try {
      result = work();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const [, field = ""] = FIELD.exec(error.message) ?? [];
      this.wrong(Object.hasOwn(fields, field) ? [...path, field] : path, error.message);
    }
    const listed = this.#wrong.slice(0, this.refused.length < MANY_LISTED ? MOST_OF_ONE : 1);
    const more = this.#wrong.length - listed.length;
    for (const [at, { path: place, message }] of listed.entries()) {
      const isLast = at === listed.length - 1 && more > 0;
      this.refuse(kind, key, place, isLast ? `${message} ${more} more faults of this entry are not listed.` : message);
    }
    return listed.length === 0 ? result : undefined;
  }

  /** Puts what would be written into the hash, secrets included. */
  cover(value: unknown): void {
    this.#hash.update(`${JSON.stringify(value) ?? "null"}\n`);
  }

  /** Of everything so far. @returns a text for callers to send back */
  async hash(): Promise<string> {
    const hash = this.#hash.copy();
    for (const list of [this.changes, this.refused]) {
      for (const one of list) {
        hash.update(`${JSON.stringify(one)}\n`);
        await this.slices.rest();
      }
    }
    const covered = hash.update(`${this.unchanged}`).digest();
    return createHmac("sha256", this.#hashKey).update(covered).digest("base64url").slice(0, 32);
  }

  /** What the thing's fields are in the document, in a form that says nothing without the key. */
  marks(values: Readonly<Record<string, unknown>>): Marks {
    return Object.fromEntries(Object.entries(values).map(([field, value]) => [field, this.mark(field, value)]));
  }

  mark(field: string, value: unknown): string {
    const text = `${field}\n${JSON.stringify(value) ?? "null"}`;
    // Thousands of things have the same interval and tags.
    const known = this.#marks.get(text);
    if (known !== undefined) return known;
    const mark = this.#markOf(text);
    this.#marks.set(text, mark);
    return mark;
  }

  /** Of values that hardly ever occur together twice. */
  markOfMany(values: readonly unknown[]): string {
    return this.#markOf(JSON.stringify(values));
  }

  #markOf(text: string): string {
    return createHmac("sha256", this.#markKey).update(text).digest("base64url").slice(0, MARK_LENGTH);
  }
}

/** What a plan would seal is thrown away with it. */
function sealingNothing(sealing: Sealing): Sealing {
  return {
    get keyId() {
      return sealing.keyId;
    },
    get bindsRows() {
      return sealing.bindsRows;
    },
    seal: () => "",
    open: (where, sealed) => sealing.open(where, sealed),
  };
}

function pathText(path: Path): string {
  return path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`),
    "",
  );
}
