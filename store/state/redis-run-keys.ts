/**
 * Names of what schedulers and checkers share in Redis. Their number is fixed, because a checker's user has rights on exactly these names
 * (checker-rights.ts): a holder of its password can write to no others. Different processes use a name one after the other, so an entry
 * names its receiver: an address is the name's last part, a dot and an id that is new at each start. All keys of a location begin alike.
 */
import { PREFIX } from "./redis-prefix.ts";
import type { CheckerName } from "./runs.ts";

/** Checkers of a location at the same time: `00` to `3f`. */
const MOST_CHECKERS = 64;
/** Schedulers at the same time, of all locations: `0` to `f`. */
const MOST_SCHEDULERS = 16;

export const CHECKER_SLOTS: readonly string[] = Array.from({ length: MOST_CHECKERS }, (_, at) =>
  at.toString(16).padStart(2, "0"),
);
export const MAILBOXES: readonly string[] = Array.from({ length: MOST_SCHEDULERS }, (_, at) => at.toString(16));

/** Marks a checker's stream as alive before anything was sent. */
export const CHECKER_GROUP = "checker";

const CHECKER_ID = /^[0-3][0-9a-f]\.[\w-]{1,64}$/;
const SCHEDULER_ADDRESS = /^[0-9a-f]\.[\w-]{1,64}$/;

export function isCheckerId(id: string): boolean {
  return CHECKER_ID.test(id);
}

export function isSchedulerAddress(address: string): boolean {
  return SCHEDULER_ADDRESS.test(address);
}

/** The name that a checker has taken. */
export function slotOf(id: string): string {
  return id.split(".")[0] ?? "";
}

export function runsKey({ location, id }: CheckerName): string {
  return `${PREFIX}runs:{${location}}:${slotOf(id)}`;
}

/** @param scheduler its address */
export function outcomesKey(location: string, scheduler: string): string {
  return `${PREFIX}outcomes:{${location}}:${slotOf(scheduler)}`;
}

/** A hash: reports by the checkers' names. */
export function checkersKey(location: string): string {
  return `${PREFIX}checkers:{${location}}`;
}

/** One-off checks of one class. */
export function checksKey(location: string, checkClass: string): string {
  return `${PREFIX}checks:{${location}}:${checkClass}`;
}

/** Who holds a mailbox. */
export function mailboxKey(mailbox: string): string {
  return `${PREFIX}mailbox:${mailbox}`;
}

/** Bound to the way it goes, so that nothing sealed for one place stands for another. */
export const runsPurpose = ({ location, id }: CheckerName): string => `runs ${location} ${id}`;
export const outcomesPurpose = (location: string, scheduler: string): string => `outcomes ${location} ${scheduler}`;
