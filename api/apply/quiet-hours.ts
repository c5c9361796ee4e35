/** What a document would do to quiet hours. */
import { isDeepStrictEqual } from "node:util";
import type { Document, QuietHoursEntry } from "../../model/document/document.ts";
import type { QuietHours } from "../../model/quiet-hours.ts";
import type { Draft } from "../../store/sql/alerts/port.ts";
import type { Managed } from "../../store/sql/documents/port.ts";
import { badRequest } from "../errors.ts";
import { MOST_QUIET, quietHoursBody } from "../schemas/alerts.ts";
import { dayNumbers } from "./days.ts";
import type { DraftPlan } from "./draft-plan.ts";
import { quietHoursEntry } from "./entries.ts";
import { readOne } from "./read-one.ts";
import type { References } from "./references.ts";
import { type Found, Things, type Wanted } from "./things.ts";

export async function planQuietHours(plan: DraftPlan, document: Document, references: References): Promise<void> {
  const { items, version } = await plan.api.controlPlane.alerts.quietHours(plan.call.project.id);
  const entries = Object.entries(document.quiet_hours ?? {});
  const planner = new QuietHoursPlanner(plan, items, version);
  const used = await usedBesides(plan, document);
  planner.leave(new Set(entries.map(([key]) => key)), used);
  for (const [key, entry] of entries) await planner.plan(key, entry);
  planner.finish(references);
}

/** Those that rules name which this document neither has nor removes. */
async function usedBesides(plan: DraftPlan, document: Document): Promise<ReadonlyMap<number, string>> {
  const { items } = await plan.api.controlPlane.alerts.rules(plan.call.project.id);
  // A rule without `quiet_hours` in the document keeps its present ones.
  const saying = (document.alert_rules ?? []).filter((rule) => Object.hasOwn(rule, "quiet_hours"));
  const names = new Set(saying.map(({ name }) => name));
  const written = new Set((document.alert_rules ?? []).map(({ name }) => name));
  const ours = plan.thingsOf("alert_rule").filter((thing) => plan.isOurs(thing));
  const going = new Set(
    ours.filter(({ key }) => names.has(key) || (plan.options.prune && !written.has(key))).map(({ thingId }) => thingId),
  );
  const staying = items.filter(({ id }) => !going.has(id));
  return new Map(staying.flatMap(({ quietHoursId, name }) => (quietHoursId === null ? [] : [[quietHoursId, name]])));
}

class QuietHoursPlanner {
  readonly #plan: DraftPlan;
  readonly #things: Things<QuietHours>;
  readonly #version: number;
  readonly #items: Map<number, Draft<QuietHours>>;
  readonly #made: { readonly draft: Draft<QuietHours>; readonly managed: Managed }[] = [];
  readonly #managed: (Managed & { readonly id: number })[] = [];
  readonly #removed: number[] = [];
  readonly #there: (readonly [key: string, id: number])[] = [];
  #isChanged = false;

  constructor(plan: DraftPlan, items: readonly QuietHours[], version: number) {
    this.#plan = plan;
    const message = `A project has at most ${MOST_QUIET} quiet hours.`;
    this.#things = new Things(plan, "quiet_hours", items, { most: MOST_QUIET, message });
    this.#items = new Map(items.map((one) => [one.id, one]));
    this.#version = version;
  }

  leave(keys: ReadonlySet<string>, used: ReadonlyMap<number, string>): void {
    const removed = this.#things.leave(keys, ({ id, name }) => {
      const rule = used.get(id);
      const held = rule === undefined ? {} : { held: `It cannot be removed: the rule ${rule} names it.` };
      return { id: String(id), name, ...held };
    });
    for (const { id } of removed) {
      this.#removed.push(id);
      this.#items.delete(id);
    }
  }

  async plan(key: string, entry: QuietHoursEntry): Promise<void> {
    const wanted: Wanted = { kind: "quiet_hours", key, path: ["quiet_hours", key], entry: { ...entry } };
    const isSame = ({ name }: QuietHours): boolean => name === (entry.name ?? key);
    await this.#things.each(wanted, isSame, (found) => {
      if (found.now !== null) this.#there.push([key, found.now.id]);
      const draft = this.#plan.attempt(wanted, entry, () => read(key, entry, found.now));
      if (draft !== undefined) this.#write(wanted, draft, found);
    });
  }

  #write(wanted: Wanted, draft: Omit<QuietHours, "id">, { now, act }: Found<QuietHours>): void {
    const before = now === null ? {} : quietHoursEntry(now);
    const after = quietHoursEntry(draft);
    const id = now === null ? null : String(now.id);
    const managed = this.#things.describe(wanted, act, { id, name: draft.name, before, after, secret: [] });
    if (managed === null) return;
    if (now === null) {
      this.#made.push({ draft: { ...draft, id: null }, managed });
      return;
    }
    this.#managed.push({ id: now.id, ...managed });
    if (isDeepStrictEqual(before, after)) return;
    this.#items.set(now.id, { ...draft, id: now.id });
    this.#isChanged = true;
  }

  finish(references: References): void {
    const there = [...this.#items.values()];
    const isWritten = this.#isChanged || this.#made.length > 0;
    const made = this.#made.map(({ managed }, index) => [there.length + index, managed] as const);
    this.#plan.quietHours = {
      version: this.#version,
      items: isWritten ? [...there, ...this.#made.map(({ draft }) => draft)] : null,
      made: new Map(made),
      managed: this.#managed,
      removed: this.#removed,
    };
    references.know(
      "quiet_hours",
      this.#made.map(({ managed }) => managed.key),
      this.#there,
      { all: this.#items.keys(), removed: [] },
    );
  }
}

/** @throws 400 */
function read(key: string, entry: QuietHoursEntry, now: QuietHours | null): Omit<QuietHours, "id"> {
  const { spans, ...others } = entry;
  const days = spans.map((span) => dayNumbers(span.days));
  if (days.includes(undefined))
    throw badRequest("spans: days are mon, tue, wed, thu, fri, sat, sun, or a range such as mon-fri.");
  const body = {
    ...(now !== null && sentOf(now)),
    name: now?.name ?? key,
    timezone: now?.timezone ?? "UTC",
    ...others,
    spans: spans.map(({ from, to }, index) => ({ days: days[index], from, to })),
  };
  const { let_through: letThrough, id: _, ...sent } = readOne(quietHoursBody, "quiet_hours", body);
  const tags = letThrough.tags.map((tag) => tag.trim().toLowerCase());
  return { ...sent, letThrough: { ...letThrough, tags } };
}

function sentOf({ mode, letThrough }: QuietHours) {
  return { mode, let_through: letThrough };
}
