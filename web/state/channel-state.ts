/** What is said of a channel. Pure. */
import type { Schemas } from "../api/client.ts";

/** `untried`: nothing was sent by it; `troubled`: its latest message did not arrive, which may pass. */
type ChannelState = Schemas["Channel"]["state"] | "untried" | "troubled";

/** That it works is said only where the latest message arrived. */
export function channelState({
  state,
  failing_since: failing,
  last_success_at: told,
}: Pick<Schemas["Channel"], "state" | "failing_since" | "last_success_at">): ChannelState {
  if (state !== "ok") return state;
  if (failing !== null) return "troubled";
  return told === null ? "untried" : "ok";
}
