/** Servers that a configuration would have dialled. */
import type { Targets } from "../monitors/targets.ts";
import type { CheckOrder } from "./order.ts";

/** @throws 422 naming a server that may not be dialled */
export async function acceptTargets(targets: Targets, { tunnel }: CheckOrder): Promise<void> {
  // In parallel: a name without an answer waits for a time-out, and a profile may have sixteen.
  const judged = await Promise.allSettled(tunnel.endpoints.map((endpoint) => targets.accept(endpoint)));
  for (const one of judged) if (one.status === "rejected") throw one.reason;
}
