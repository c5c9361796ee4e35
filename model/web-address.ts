/**
 * Addresses of websites and webhooks as they may be shown. User name and password are never shown, the query only to users who may edit;
 * a fragment says nothing to a server and is dropped. Pure.
 */

import { parseUrl } from "./url.ts";

/** Stands for what is not shown. */
export const HIDDEN = "***";

/** For every user: `https://***@host/path?***`. An address without anything to hide stays as it was written. */
export function displayAddress(text: string): string {
  return shown(text, HIDDEN);
}

/** For those who may edit: the query is shown too. */
export function editorAddress(text: string): string {
  return shown(text, null);
}

/** Of a webhook: its path is a password in most services. */
export function receiverAddress(text: string): string {
  const url = parseUrl(text);
  return url === undefined ? HIDDEN : `${url.protocol}//${url.host}/${HIDDEN}`;
}

export function withoutFragment(text: string): string {
  const at = text.indexOf("#");
  return at === -1 ? text : text.slice(0, at);
}

/** Text of a server that should be an address, such as a Location: cut where secrets begin. */
export function displayLocation(text: string): string {
  const known = parseUrl(text);
  if (known !== undefined && known.host !== "") return displayAddress(text);
  const [path = ""] = text.split(/[?#]/, 1);
  const at = path.lastIndexOf("@");
  const rest = at === -1 ? path : `${HIDDEN}@${path.slice(at + 1)}`;
  return path.length < text.length ? `${rest}?${HIDDEN}` : rest;
}

export type RestoredAddress = { readonly url: string } | { readonly fault: string };

/**
 * The address that is meant by one that was read from us and is sent back: what it hides is taken from the stored one.
 * A secret never goes to another origin (scheme, host and port) than the one that it was given for.
 * @param stored in full; null: there is none yet
 */
export function restoreAddress(sent: string, stored: string | null): RestoredAddress {
  const url = sent.includes("*") ? parseUrl(sent) : undefined;
  if (url === undefined) return { url: sent };
  const hidesUser = url.username === HIDDEN && url.password === "";
  const hidesQuery = url.search === `?${HIDDEN}`;
  if (!hidesUser && !hidesQuery) return { url: sent };
  const before = stored === null ? undefined : parseUrl(stored);
  if (before === undefined)
    return { fault: `url: ${HIDDEN} stands for something that is not shown: send the whole url.` };
  if (before.origin !== url.origin) {
    return { fault: `url: ${HIDDEN} stands for a secret of ${before.origin}: send the whole url for ${url.origin}.` };
  }
  // Also where the stored one is only what is shown of an address that does not open.
  const isMissing =
    (hidesUser && (!hasUser(before) || before.username === HIDDEN)) ||
    (hidesQuery && (before.search === "" || before.search === `?${HIDDEN}`));
  if (isMissing)
    return { fault: `url: ${HIDDEN} stands for something that is not there any more: send the whole url.` };
  if (hidesUser) {
    url.username = before.username;
    url.password = before.password;
  }
  if (hidesQuery) url.search = before.search;
  return { url: url.href };
}

/** @param query what stands for it; null: it is shown */
function shown(text: string, query: string | null): string {
  // Without these there is neither a user name nor a query nor a fragment, whatever else the text is.
  if (!/[@?#]/.test(text)) return text;
  const url = parseUrl(text);
  if (url === undefined) return HIDDEN;
  const isWhole = !hasUser(url) && url.hash === "" && (query === null || url.search === "");
  if (isWhole) return text;
  const user = hasUser(url) ? `${HIDDEN}@` : "";
  const search = url.search === "" || query === null ? url.search : `?${query}`;
  return `${url.protocol}//${user}${url.host}${url.pathname}${search}`;
}

function hasUser(url: URL): boolean {
  return url.username !== "" || url.password !== "";
}
