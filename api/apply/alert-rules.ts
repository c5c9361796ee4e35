/**
 * What a document would do to rules of alerts. Their order counts: the rules of a document keep the places that they have among the others,
 * in the document's order, and a new one comes after them.
 */
import { isDeepStrictEqual } from "node:util";
import type { AlertRule, Grouping } from "../../model/alerting-rule.ts";
import type { AlertRuleEntry, Document } from "../../model/document/document.ts";
import type { FieldChange } from "../../model/document/plan.ts";
import type { Draft } from "../../store/sql/alerts/port.ts";
import type { Managed } from "../../store/sql/documents/port.ts";
import { alertRulesBody, MOST_RULES } from "../schemas/alerts.ts";
import type { DraftPlan, Path } from "./draft-plan.ts";
import { ruleEntry } from "./entries.ts";
import { readOne } from "./read-one.ts";
import type { References } from "./references.ts";
import { type Found, Things, type Wanted } from "./things.ts";

/** Names of channels that a reader of single rules takes: which ones they are is known here. */
const ANY_CHANNEL = "ch_1";

interface PlannedRule {
  readonly wanted: Wanted;
  readonly now: AlertRule | null;
  readonly act: Found<AlertRule>["act"];
  readonly rule: Omit<AlertRule, "id">;
}

export async function planAlertRules(plan: DraftPlan, document: Document, references: References): Promise<void> {
  const { items, version } = await plan.api.controlPlane.alerts.rules(plan.call.project.id);
  const entries = document.alert_rules ?? [];
  const planner = new RulesPlanner(plan, items, version, references);
  planner.leave(new Set(entries.map(({ name }) => name)));
  for (const [index, entry] of entries.entries()) await planner.read(entry, ["alert_rules", index]);
  planner.finish();
}

class RulesPlanner {
  readonly #plan: DraftPlan;
  readonly #things: Things<AlertRule>;
  readonly #version: number;
  readonly #references: References;
  /** As they are, without those that go. */
  #staying: readonly AlertRule[];
  readonly #planned: PlannedRule[] = [];
  readonly #removed: number[] = [];

  constructor(plan: DraftPlan, items: readonly AlertRule[], version: number, references: References) {
    this.#plan = plan;
    const message = `A project has at most ${MOST_RULES} rules.`;
    this.#things = new Things(plan, "alert_rule", items, { most: MOST_RULES, message });
    this.#staying = items;
    this.#version = version;
    this.#references = references;
  }

  leave(keys: ReadonlySet<string>): void {
    const removed = this.#things.leave(keys, ({ id, name }) => ({ id: String(id), name }));
    this.#removed.push(...removed.map(({ id }) => id));
    this.#staying = this.#staying.filter(({ id }) => !this.#removed.includes(id));
  }

  async read(entry: AlertRuleEntry, path: Path): Promise<void> {
    const wanted: Wanted = { kind: "alert_rule", key: entry.name, path, entry: { ...entry } };
    const isSame = ({ name }: AlertRule): boolean => name === entry.name;
    await this.#things.each(wanted, isSame, ({ now, act }) => {
      const rule = this.#plan.attempt(wanted, entry, () => this.#ruleOf(entry, path, now));
      if (rule !== undefined) this.#planned.push({ wanted, now, act, rule });
    });
  }

  /** @throws 400 */
  #ruleOf(entry: AlertRuleEntry, path: Path, now: AlertRule | null): Omit<AlertRule, "id"> {
    const { channels, escalation, quiet_hours: quietHours, match, ...others } = entry;
    const { select, ...matched } = match ?? {};
    const sent = readOne(alertRulesBody, "rules", {
      ...others,
      ...(match !== undefined && { match: matched }),
      ...(channels !== undefined && { channels: channels === null ? null : channels.map(() => ANY_CHANNEL) }),
      ...(escalation !== undefined && {
        escalation: escalation.map((step) => ({ ...step, channels: step.channels.map(() => ANY_CHANNEL) })),
      }),
    });
    const named = this.#named(entry, path);
    const has = (field: keyof AlertRuleEntry): boolean => now === null || Object.hasOwn(entry, field);
    return {
      name: sent.name,
      active: has("active") ? sent.active : (now?.active ?? true),
      goesOn: has("continue") ? sent.continue : (now?.goesOn ?? false),
      match: has("match") ? { ...sent.match, select: named.select } : (now?.match ?? { ...sent.match, select: null }),
      channels: has("channels") ? named.channels : (now?.channels ?? null),
      delayS: has("delay_s") ? sent.delay_s : (now?.delayS ?? sent.delay_s),
      groupBy: has("group_by") ? (sent.group_by as Grouping) : (now?.groupBy ?? "host"),
      waitS: has("wait_s") ? sent.wait_s : (now?.waitS ?? sent.wait_s),
      intervalS: has("interval_s") ? sent.interval_s : (now?.intervalS ?? sent.interval_s),
      repeatS: has("repeat_s") ? sent.repeat_s : (now?.repeatS ?? null),
      repeatGrowth: has("repeat_growth") ? sent.repeat_growth : (now?.repeatGrowth ?? sent.repeat_growth),
      recovered: has("recovered") ? sent.recovered : (now?.recovered ?? true),
      quietHoursId: has("quiet_hours") ? named.quietHoursId : (now?.quietHoursId ?? null),
      escalation: has("escalation") ? named.escalation : (now?.escalation ?? []),
      template: now?.template ?? null,
    };
  }

  /** What the entry names by keys. @throws RefusedNameError */
  #named({ match, channels, escalation = [], quiet_hours: quietHours }: AlertRuleEntry, path: Path) {
    const ids = (keys: readonly string[], at: Path) => this.#references.ids("channel", keys, at);
    const select = match?.select;
    return {
      select: select === undefined ? null : this.#references.selector(select, [...path, "match", "select"]),
      channels: channels === undefined || channels === null ? null : ids(channels, [...path, "channels"]),
      escalation: escalation.map((step, index) => ({
        afterS: Number(step.after_s),
        channels: ids(step.channels, [...path, "escalation", index, "channels"]),
      })),
      quietHoursId:
        quietHours === undefined || quietHours === null
          ? null
          : (this.#references.id("quiet_hours", quietHours, [...path, "quiet_hours"]) ?? null),
    };
  }

  finish(): void {
    const after = this.#inOrder();
    const made = new Map<number, Managed>();
    const managed: (Managed & { readonly id: number })[] = [];
    let isChanged =
      this.#removed.length > 0 ||
      !isDeepStrictEqual(
        after.map(({ id }) => id),
        this.#staying.map(({ id }) => id),
      );
    for (const one of this.#planned) {
      const kept = this.#describe(one);
      const { now, rule } = one;
      if (kept === null) continue;
      const place = after.findIndex((each) =>
        now === null ? each.id === null && each.name === rule.name : each.id === now.id,
      );
      if (now === null) made.set(place, kept);
      else managed.push({ id: now.id, ...kept });
      isChanged ||= now === null || !isDeepStrictEqual({ ...rule, id: now.id }, now);
    }
    const inOrder = [...made].sort(([one], [other]) => one - other);
    this.#plan.rules = {
      version: this.#version,
      items: isChanged ? after : null,
      removed: [],
      made: new Map(inOrder),
      managed,
    };
  }

  /** Rules of the document in the places that they have; new ones after the last of them, or before all others. */
  #inOrder(): readonly Draft<AlertRule>[] {
    const drafts = this.#planned.map(({ now, rule }): Draft<AlertRule> => ({ ...rule, id: now?.id ?? null }));
    const ours = new Set(drafts.map(({ id }) => id));
    const places = this.#staying.flatMap(({ id }, place) => (ours.has(id) ? [place] : []));
    const ordered: Draft<AlertRule>[] = [];
    let next = 0;
    const last = places.at(-1) ?? -1;
    if (last < 0) ordered.push(...drafts);
    for (const [place, rule] of this.#staying.entries()) {
      if (!ours.has(rule.id)) ordered.push(rule);
      else if (place < last) ordered.push(...drafts.slice(next, ++next));
      else ordered.push(...drafts.slice(next));
    }
    return ordered;
  }

  #describe(one: PlannedRule): Managed | null {
    const { wanted, now, act, rule } = one;
    const { names } = this.#references;
    const before = now === null ? {} : ruleEntry(now, names);
    return this.#things.describe(wanted, act, {
      id: now === null ? null : String(now.id),
      name: rule.name,
      before,
      after: ruleEntry(rule, names),
      secret: [],
      more: this.#moved(one),
    });
  }

  /** Among the rules of the document that are there already. */
  #moved({ now }: PlannedRule): readonly FieldChange[] {
    if (now === null) return [];
    const there = this.#planned.flatMap((one) => (one.now === null ? [] : [one.now.id]));
    const before = this.#staying.filter(({ id }) => there.includes(id)).map(({ id }) => id);
    const [from, to] = [before.indexOf(now.id) + 1, there.indexOf(now.id) + 1];
    return from === to ? [] : [{ field: "position", from, to }];
  }
}
