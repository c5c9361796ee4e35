/** Publishes to open pages what requests did to incidents. */
import { type LiveTurn, writeLiveMessage } from "../../model/live-message.ts";
import type { Api } from "../api.ts";

export function tellTurns(api: Pick<Api, "overviews" | "state">, projectId: number, turns: readonly LiveTurn[]): void {
  if (turns.length === 0) return;
  api.overviews.drop(projectId);
  api.state.broadcasts.publish(projectId, writeLiveMessage({ checks: [], turns }));
}
