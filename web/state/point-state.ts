/** What the points of a chart were, beside their times. Pure. */
import type { Schemas } from "../api/client.ts";

/** `ours`: we could not measure, so nothing is known of the target. */
export type PointState = "passed" | "failed" | "ours";

type Row = Pick<Schemas["CheckResult"], "status"> & {
  readonly explain?: Pick<Schemas["Explain"], "verdict"> | undefined;
};

const OURS: ReadonlySet<string> = new Set(["unfit", "unsupported", "cancelled", "internal-error"]);

export function isOurs(verdict: string): boolean {
  return OURS.has(verdict);
}

/** An answer that is too slow was measured as well. */
export function stateOf({ status, explain }: Row): PointState {
  if (explain !== undefined && isOurs(explain.verdict)) return "ours";
  return status === "healthy" || explain?.verdict === "ok" ? "passed" : "failed";
}

/** One check of ours among sixty does not make an hour unknown; one that failed was a failure. */
export function summedState(checks: number, failed: number, ours: number): PointState {
  if (ours > 0 && ours * 2 >= checks) return "ours";
  return failed > 0 ? "failed" : "passed";
}
