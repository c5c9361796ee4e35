/** What website and keyword checks run; loaded in probers only. */
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import { inverted } from "./inverted.ts";
import { planOf } from "./plan.ts";
import type { WebSettings } from "./settings.ts";
import { checkWebsite } from "./website.ts";

export function run(settings: WebSettings, context: ProbeContext): Promise<Outcome> {
  const plan = planOf(settings);
  return plan.inverts ? inverted(() => checkWebsite(plan, context)) : checkWebsite(plan, context);
}
