/** What the API says to callers with a key, as it is said to a person. What is not here is shown in the API's words. Loaded with the first refusal. */
import type { Key } from "./text.ts";

export const BY_MESSAGE: Readonly<Record<string, Key>> = {
  "Project not found or inactive": "refused.project",
  "You do not have access to this project": "refused.project",
  "Invalid or expired API key": "refused.key",
  "API key has expired": "refused.key",
  "API key owner account is inactive": "signIn.failed.inactive",
  "This API key's workspace access has been removed": "signIn.failed.none",
  "This sign-in link was used already or is too old. Make a new one.": "refused.code",
  "This passkey signs no one in here. Try again, or sign in another way.": "refused.passkey",
  "A session that began with a key adds no passkey. Sign in with a link or at the provider first.":
    "refused.passkeyByKey",
  "Too many invalid API keys from this address. Try again later.": "refused.tooMany",
  "Too many sign-ins from this address. Wait a minute and try again.": "refused.tooMany",
  "Too many requests from this address. Try again later.": "refused.tooMany",
  "You do not have permission to edit this project": "refused.role",
  "You do not have permission to create API keys": "refused.role",
  "You do not have permission to revoke this key": "refused.role",
  "Members are for owners and admins.": "refused.admins",
  "The audit log is for owners and admins.": "refused.admins",
  "Links are for owners and admins.": "refused.admins",
  "This is for owners of the service's first workspace.": "refused.operator",
  "Links are not revealed on this service.": "refused.links",
  "Region targeting requires the Pro plan or above.": "refused.regions",
  "The last owner of a workspace stays its owner.": "refused.lastOwner",
  "The plan is another one now: look at it again, and send its hash.": "refused.plan",
  "The list is another by now: read it again, and send its version.": "refused.rules",
  "Another number of monitors matches now: look again, and send that number.": "refused.bulk",
  "The tunnel is paused. Resume it to run a check.": "refused.paused",
  "The monitor is paused. Resume it to run a check.": "refused.paused",
  "This monitor follows its subscription.": "refused.follows",
  "The monitor's subscription is switched off. Switch it on to resume the monitor.": "refused.subscriptionOff",
  "Checker unreachable": "refused.checker",
  "No checker nodes available": "refused.checker",
  "No checker is available in this region.": "refused.checker",
  "The database is not available right now. Try again in a few seconds.": "refused.store",
  "The service is busy with checks. Try again in a few seconds.": "refused.busy",
  "Redis is not available right now. Try again in a few seconds.": "refused.busy",
  "Too many long texts wait to be read. Try again in a few seconds.": "refused.busy",
  "Internal server error": "refused.internal",
};

/** `Server not found`, `Invalid incident ID`: of what a person follows a link to, or has open while another deletes it. */
const GONE = /^(?:[\w ]+ not found|Invalid [\w ]+ ID)$/;

/** @returns null where the API's own words are shown */
export function refusalKey(message: string): Key | null {
  if (Object.hasOwn(BY_MESSAGE, message)) return BY_MESSAGE[message] ?? null;
  return GONE.test(message) ? "refused.gone" : null;
}
