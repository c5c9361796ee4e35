/** Ids: how the API writes and reads them (docs/api-contract.md#conventions), and those of result rows. */

export const ID_PREFIXES = {
  server: "srv_",
  project: "prj_",
  incident: "inc_",
  subscription: "sub_",
  event: "evt_",
  history: "hst_",
  maintenance: "mnt_",
  view: "viw_",
  channel: "ch_",
  audit: "aud_",
  statusPage: "spg_",
  pageUpdate: "spu_",
  /** Keys, organizations and users are plain integers on both ways. */
  key: "",
  organization: "",
  user: "",
  session: "",
  passkey: "",
  webhook: "",
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

const DIGITS = /^[0-9]{1,16}$/;

/**
 * Reads `srv_12` or `12`: the kind's own prefix, or none, and a positive decimal number without sign or spaces.
 * @returns undefined for anything else, numbers above 2^53 - 1 included (no store gives such an id)
 */
export function parseId(kind: IdKind, text: string): number | undefined {
  const prefix = ID_PREFIXES[kind];
  const digits = prefix !== "" && text.startsWith(prefix) ? text.slice(prefix.length) : text;
  if (!DIGITS.test(digits)) return undefined;
  const id = Number(digits);
  return id > 0 && Number.isSafeInteger(id) ? id : undefined;
}

/** As responses write it. Subscriptions are accepted with a prefix but written without one, as integers. */
export function formatId(
  kind: Exclude<IdKind, "subscription" | "key" | "organization" | "user" | "session" | "passkey" | "webhook">,
  id: number,
): string {
  return `${ID_PREFIXES[kind]}${id}`;
}

/** Row ids of one shard and millisecond; more borrow from the next millisecond. */
const IDS_PER_MS = 10_000;
const MAX_RESULT_SHARD = 99;

/**
 * Makes the ids of result rows, without their prefix: decimal text of milliseconds, two digits of shard, four of counter.
 * Strictly increasing, also when the clock steps back and when more than 10,000 fall into one millisecond.
 * 19 digits that fit a signed 64-bit number until 2262, all of one length, so that they sort as text too.
 * @param afterMs ids of this millisecond and before were given by another process
 */
export function createResultIds(shard: number, afterMs = -1): (nowMs: number) => string {
  if (!Number.isInteger(shard) || shard < 0 || shard > MAX_RESULT_SHARD) {
    throw new RangeError(`shard must be a whole number from 0 to ${MAX_RESULT_SHARD}, got ${shard}`);
  }
  const shardText = String(shard).padStart(2, "0");
  let lastMs = Math.floor(afterMs);
  let counter = IDS_PER_MS - 1;
  return (nowMs) => {
    const ms = Math.floor(nowMs);
    if (ms > lastMs) {
      lastMs = ms;
      counter = 0;
    } else if (++counter === IDS_PER_MS) {
      lastMs += 1;
      counter = 0;
    }
    return lastMs + shardText + String(counter).padStart(4, "0");
  };
}
