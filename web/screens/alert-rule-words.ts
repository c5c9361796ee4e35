/** What the list of rules, the form of one and the preview share: a rule as the API has it, and the name of a grouping. */
import type { Schemas } from "../api/client.ts";
import { t } from "../words/words.ts";

export type Rule = Schemas["AlertRules"]["rules"][number];

/** What a rule may name. */
export interface Choices {
  readonly channels: readonly Schemas["Channel"][];
  readonly quietHours: Schemas["QuietHours"]["quiet_hours"];
}

export const GROUPINGS = ["host", "monitor", "subscription", "project", "none"] as const;

/** @param group of these, or `tag:<name>`, which is shown as it is */
export function groupWord(group: string): string {
  const known = GROUPINGS.find((word) => word === group);
  return known === undefined ? group : t(`rule.group.${known}`);
}
