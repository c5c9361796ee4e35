/** A website check's settings made ready to run: compiled once per settings object, because a check runs thousands of times. */

import { NetworkFault } from "../net/fault.ts";
import { ACCEPT_ENCODING } from "../protocols/http/content-coding.ts";
import { type Hop, hopTo, parseWebUrl } from "../protocols/http/hop.ts";
import { compileStatusCodes } from "../protocols/http/status-codes.ts";
import type { IpPreference } from "../transport/transport.ts";
import type { WebSettings } from "./settings.ts";

export interface WebPlan {
  readonly first: Hop;
  /** 1 at every accepted status code. */
  readonly accepted: Uint8Array;
  /** As written, for the message. */
  readonly acceptedItems: readonly string[];
  readonly preference: IpPreference;
  /** Null for a check without one. */
  readonly keyword: string | null;
  readonly inverted: boolean;
  readonly wantsDomainExpiry: boolean;
}

const plans = new WeakMap<WebSettings, WebPlan>();

export function planOf(settings: WebSettings): WebPlan {
  const known = plans.get(settings);
  if (known !== undefined) return known;
  const plan = compile(settings);
  plans.set(settings, plan);
  return plan;
}

function compile(settings: WebSettings): WebPlan {
  const url = parseWebUrl(settings.url);
  if (url === undefined) throw new NetworkFault("misconfigured", "The URL is not an http or https address");
  return {
    first: hopTo(url, ACCEPT_ENCODING),
    accepted: compileStatusCodes(settings.accepted_statuscodes),
    acceptedItems: settings.accepted_statuscodes,
    preference: settings.ip_version ?? "both",
    keyword: settings.keyword ?? null,
    inverted: settings.invert_keyword ?? false,
    wantsDomainExpiry: typeof settings.domain_expiration === "number",
  };
}
