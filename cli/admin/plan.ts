/** `sonde admin plan`: what a workspace may do, and the effects of a change on its monitors (docs/api-contract.md#plans). */
import { PLAN_NAMES } from "../../model/plan.ts";
import { type Act, type ActGroup, idOf, known, oneOf } from "./act.ts";
import { effectFacts, effectWords } from "./effects.ts";

const set: Act = {
  usage: "set <workspace> <plan>",
  summary: `put a workspace on a plan (${PLAN_NAMES.join(", ")}): intervals are raised, tunnels beyond the slots paused, or let return`,
  example: "plan set 3 pro",
  async run({ controlPlane, config, nowMs }, _words, [text, wanted]) {
    const id = idOf("organization", text, "the workspace");
    const name = oneOf(PLAN_NAMES, wanted, "the plan");
    const effects = await controlPlane.plans.setPlan(id, name, config.plans, nowMs);
    return {
      facts: { organization_id: id, plan: name, ...effectFacts(known(effects, `workspace ${id}`)) },
      text: `workspace ${id} is on the ${name} plan${effectWords(effects)}`,
    };
  },
};

export const plan: ActGroup = { name: "plan", summary: "change a workspace's plan", acts: [set] };
