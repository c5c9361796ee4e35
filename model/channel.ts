/** Refusals for good in a row that make a channel failing; our choice: one may be the service's own trouble. */
export const REFUSALS_OF_FAILING = 2;

/** Its messages go to addresses, whose readers must say first that they want them: no one is sent mail by another's choice. */
const CONFIRMED_KIND = "email";

/** Nothing is told by it until its addresses have confirmed. */
export function awaitsConfirmation({
  kind,
  verifiedAtMs,
}: {
  readonly kind: string;
  readonly verifiedAtMs: number | null;
}): boolean {
  return kind === CONFIRMED_KIND && verifiedAtMs === null;
}
