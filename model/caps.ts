/** How many checks may be in flight at the same time in one process: the standard caps, and those that an operator gave instead. Pure. */

export interface Caps {
  /** All together. */
  readonly overall: number;
  /** At one target host. */
  readonly perHost: number;
  /** Of one workspace; the rest stays free for others when all its targets hang. */
  readonly perWorkspace: number;
}

/** As they were set; null: the standard one. */
type GivenCaps = Readonly<Record<keyof Caps, number | null>>;

/** Our choice: descriptors and memory for thousands of silent targets. */
const OVERALL = 4_096;
/** Our choice: polite to a host that serves hundreds of monitors, and more than 5,000/s need at 10 ms. */
const PER_HOST = 128;
/** Of the overall cap. */
const WORKSPACE_SHARE = 0.75;

export const STANDARD_CAPS: GivenCaps = { overall: null, perHost: null, perWorkspace: null };

export function capsOf({ overall, perHost, perWorkspace }: GivenCaps = STANDARD_CAPS): Caps {
  const all = overall ?? OVERALL;
  return {
    overall: all,
    perHost: perHost ?? PER_HOST,
    perWorkspace: perWorkspace ?? Math.max(1, Math.floor(all * WORKSPACE_SHARE)),
  };
}
