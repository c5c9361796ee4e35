/** Refusals for good in a row that make a channel failing; our choice: one may be the service's own trouble. */
export const REFUSALS_OF_FAILING = 2;
