/** Writes incidents to the log, because some operators have no webhook and do not watch the API. */

import { formatId } from "../../model/ids.ts";
import type { IncidentChange } from "../../model/incident.ts";
import type { Log } from "../../model/log.ts";
import type { Monitor } from "../../model/monitor.ts";
import { formatIso } from "../../model/time.ts";

/** Logs one line for each incident that opens, becomes worse or closes. */
export function sayIncidents(
  log: Pick<Log, "info">,
  { id, name }: Pick<Monitor, "id" | "name">,
  changes: readonly IncidentChange[],
): void {
  for (const change of changes) {
    const monitor = { monitor: formatId("server", id), name };
    switch (change.type) {
      case "open": {
        const { level, message, startedAtMs } = change;
        log.info({ ...monitor, level, reason: message, since: formatIso(startedAtMs) }, "incident opened");
        break;
      }
      case "raise":
        log.info({ ...monitor, level: "down", reason: change.message }, "incident raised");
        break;
      case "close":
        log.info({ ...monitor, at: formatIso(change.atMs) }, "incident closed");
        break;
      case "message":
      case "location":
        break;
    }
  }
}
