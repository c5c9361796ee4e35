/** What is counted of a workspace, as a move takes it. */
import type { EndpointUsage, RequestUsage } from "./state.ts";

export interface WorkspaceCounters {
  readonly organizationId: number;
  readonly requests: RequestUsage;
  readonly endpoints: readonly EndpointUsage[];
}
