/**
 * Beside schedulers of an earlier version, while an installation of several processes is upgraded, APIs are upgraded first. A scheduler that does not
 * know a field would check without it, and might call down what is up. So such a field is refused until the last of them is gone.
 */
import { hasLaterField } from "../../engine/contract/registry.ts";
import type { Kind } from "../../model/kind.ts";
import type { Monitor } from "../../model/monitor.ts";
import type { Api } from "../api.ts";
import { unprocessable } from "../errors.ts";

export const OLDER_SCHEDULER =
  "A scheduler of an earlier version still runs, which cannot make this request. Try again when all are upgraded.";

/** @throws 422 */
export async function refuseBesideOlder(api: Api, kind: Kind, settings: Monitor["settings"]): Promise<void> {
  if (!hasLaterField(kind, settings)) return;
  const { schedulers } = await api.controlPlane.shards.view();
  if (schedulers.some(({ report }) => report.makesRequests !== true)) throw unprocessable(OLDER_SCHEDULER);
}
