/** Monitors that notify the same channels in the same way share a rule; tags select them: `alert:1`, `alert:2`, … */
import type { AlertRuleEntry } from "../../model/document/document.ts";
import { alertTag, type Draft } from "./draft.ts";
import type { MonitorDraft } from "./monitor-draft.ts";

/** A repeated alert comes at most so often; the longest pause is a week. Seconds. */
const REPEAT_S = { least: 60, most: 604_800 } as const;

/** Which channel is notified of a monitor, and in which way. */
export interface ChannelUse {
  /** Its key. */
  readonly channel: string;
  /** Seconds; null: once. */
  readonly repeatS: number | null;
  /** Whether it is notified of the end, too. */
  readonly recovered: boolean;
  /** Notified only if it still holds then, seconds. */
  readonly delayS: number;
}

interface Audience {
  /** Channels that are notified alike, each a rule. */
  readonly ways: readonly (readonly ChannelUse[])[];
  readonly monitors: MonitorDraft[];
}

export class Audiences {
  readonly #byName = new Map<string, Audience>();
  #monitors = 0;

  add(monitor: MonitorDraft, listeners: readonly ChannelUse[]): void {
    this.#monitors += 1;
    if (listeners.length === 0) return;
    const byWay = new Map<string, Map<string, ChannelUse>>();
    for (const one of listeners) {
      const bounded = { ...one, repeatS: boundedRepeat(one.repeatS), delayS: Math.round(one.delayS) };
      const way = JSON.stringify([bounded.delayS, bounded.repeatS, bounded.recovered]);
      const alike = byWay.get(way) ?? new Map<string, ChannelUse>();
      alike.set(bounded.channel, bounded);
      byWay.set(way, alike);
    }
    const ways = [...byWay].sort(byText).map(([, alike]) => [...alike].sort(byText).map(([, one]) => one));
    const name = JSON.stringify(ways);
    const audience = this.#byName.get(name) ?? { ways, monitors: [] };
    audience.monitors.push(monitor);
    this.#byName.set(name, audience);
  }

  /** Rules in the document; one for all where all monitors notify alike. */
  writeRules(draft: Draft): void {
    const audiences = [...this.#byName.values()];
    const [only] = audiences;
    if (audiences.length === 1 && only !== undefined && only.monitors.length === this.#monitors) {
      writeWays(draft, "Default", only, undefined);
      return;
    }
    for (const [index, audience] of audiences.entries()) {
      const tag = alertTag(index + 1);
      for (const monitor of audience.monitors) monitor.ownTag(tag);
      writeWays(draft, `Alerts ${index + 1}`, audience, tag);
    }
    if (audiences.length === 0) return;
    const message = `${audiences.length} sets of channels became rules; the tags alert:1 … say which monitors they are for`;
    draft.notes.add("info", "alerts", message);
  }
}

function writeWays(draft: Draft, name: string, { ways }: Audience, tag: string | undefined): void {
  for (const [index, way] of ways.entries()) {
    const isLast = index === ways.length - 1;
    draft.rule(name, {
      ...(tag !== undefined && { match: { select: { tags: [tag] } } }),
      ...ruleOf(way),
      ...(isLast ? {} : { continue: true }),
    });
  }
}

/** Other programs notify of each monitor by itself and at once. */
function ruleOf(way: readonly ChannelUse[]): Omit<AlertRuleEntry, "name"> {
  const [{ delayS, repeatS, recovered } = { delayS: 0, repeatS: null, recovered: true }] = way;
  return {
    channels: way.map(({ channel }) => channel),
    group_by: "monitor",
    wait_s: 0,
    ...(delayS > 0 && { delay_s: delayS }),
    ...(repeatS !== null && { repeat_s: repeatS, repeat_growth: 1 }),
    ...(!recovered && { recovered: false }),
  };
}

function boundedRepeat(seconds: number | null): number | null {
  return seconds === null ? null : Math.min(Math.max(Math.round(seconds), REPEAT_S.least), REPEAT_S.most);
}

function byText([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}
