/** What website and keyword checks run; loaded in probers only. */
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import { planOf } from "./plan.ts";
import type { WebSettings } from "./settings.ts";
import { checkWebsite } from "./website.ts";

export function run(settings: WebSettings, context: ProbeContext): Promise<Outcome> {
  return checkWebsite(planOf(settings), context);
}
