/** What a change of plan did, in facts and in words. */
import type { PlanEffects } from "../../store/sql/monitors/plans-port.ts";

export function effectFacts({ raised, paused, resumed }: PlanEffects) {
  return { intervals_raised: raised, monitors_paused: paused, monitors_resumed: resumed };
}

export function effectWords(effects: PlanEffects | undefined): string {
  if (effects === undefined) return "";
  const words = [
    [effects.raised, "intervals raised"],
    [effects.paused, "monitors paused"],
    [effects.resumed, "monitors resumed"],
  ].flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]));
  return words.length === 0 ? "" : `: ${words.join(", ")}`;
}
