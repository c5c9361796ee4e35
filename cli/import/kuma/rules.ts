/** Which monitors used which notifications in Kuma, as rules. */
import { Audiences } from "../audiences.ts";
import type { Draft } from "../draft.ts";
import { type Fields, memberOf, numberAt } from "../values.ts";
import type { KumaMonitors } from "./monitors.ts";
import { idIn, type KumaTables, linked, rowsOf } from "./tables.ts";

/** Kuma's interval where a row has none, seconds. */
const INTERVAL_S = 60;

export function readRules(
  tables: KumaTables,
  draft: Draft,
  { monitors, channels }: { readonly monitors: KumaMonitors; readonly channels: ReadonlyMap<number, string> },
): void {
  const ids = linked(rowsOf(tables, "monitor_notification"), "monitor_id", "notification_id");
  const rows = new Map<number | undefined, Fields>();
  for (const row of rowsOf(tables, "monitor")) rows.set(idIn(memberOf(row, "id")), row);
  const audiences = new Audiences();
  for (const [id, monitor] of monitors.byId) {
    const repeatS = repeatOf(rows.get(id) ?? {});
    const told = (ids.get(id) ?? []).flatMap((one) => channels.get(one) ?? []);
    audiences.add(
      monitor,
      told.map((channel) => ({ channel, repeatS, recovered: true, delayS: 0 })),
    );
  }
  audiences.writeRules(draft);
}

/** Kuma repeats after so many checks; null: never. */
function repeatOf(row: Fields): number | null {
  const checks = numberAt(row, "resend_interval") ?? 0;
  if (checks <= 0) return null;
  return checks * (numberAt(row, "interval") ?? INTERVAL_S);
}
