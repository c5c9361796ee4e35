/** Two users of one port of one server, one of them unknown to it, side by side again and again: never one for the other. */

import { measureOurs } from "./measure.ts";
import type { Rig } from "./rig.ts";

const TRIES = 1_000;

export async function runUsers(rig: Rig): Promise<void> {
  const { inFlight, timeoutMs } = rig.options;
  const direct = await rig.open(inFlight);
  try {
    const offered = Array.from({ length: TRIES }, (_, index) => rig.mix.member(index % 2 === 0));
    const known = new Set(offered.filter((_, index) => index % 2 === 0));
    const { judged } = await measureOurs(direct, offered, { engine: null, timeoutMs, others: rig.others });
    const confused = judged.filter((one) => (one.outcome.verdict === "ok") !== known.has(one.offered));
    const words = new Map<string, number>();
    for (const { outcome } of judged) words.set(outcome.verdict, (words.get(outcome.verdict) ?? 0) + 1);
    const counts = [...words].map(([verdict, count]) => `${count} ${verdict}`).join(", ");
    console.log(
      `${TRIES} tries of two users on one server, one unknown to it: ${confused.length} confused (${counts})`,
    );
  } finally {
    await direct.close();
  }
}
