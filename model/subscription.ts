/** Subscriptions: ranges, defaults and words (docs/api-contract.md#subscriptions, #plans). */
import { before } from "./text.ts";

/** Seconds between syncs, which is also the interval of the imported monitors; the plan may ask for more than the least. */
export const SYNC_INTERVAL_S = { least: 60, most: 86_400, standard: 300 } as const;
/** Seconds each server's test may take. */
export const SERVER_TIMEOUT_S = { least: 10, most: 120, standard: 30 } as const;
/** Servers tested at the same time. */
export const WORKERS = { least: 1, most: 1_000, standard: 50 } as const;

/** A monitor of several configs alerts when a smaller share of them works, percent; 0 is never. */
export const CONFIG_ALERT_PERCENT = { least: 0, most: 100, standard: 50 } as const;

export const SYNC_STATUSES = ["pending", "success", "failed", "auto_disabled"] as const;
export type SyncStatus = (typeof SYNC_STATUSES)[number];

/** Engines tried per config. */
export const ENGINES = ["both", "xray", "singbox"] as const;
export type Engines = (typeof ENGINES)[number];
/** A proxy core that runs share links, by its name in the API. */
export type Engine = Exclude<Engines, "both">;

/** Configs of one server that are tested and listed; the rest are counted. */
export const MAX_CONFIGS = 256;

/** Seconds between syncs unless the caller says otherwise. */
export function defaultSyncIntervalS(plan: { readonly shortestIntervalS: number }): number {
  return Math.max(SYNC_INTERVAL_S.standard, plan.shortestIntervalS);
}

/**
 * What makes two addresses the same one: scheme and host lowercased, default port and fragment dropped, the rest exact (docs/api-contract.md#subscriptions).
 * @returns undefined for what is not http or https with a host
 */
export function normalUrl(text: string): string | undefined {
  // Cut before trimmed: what stands before a fragment must not end with a space that the next reading would trim.
  const address = before(text, "#").trim();
  const [, scheme = "", authority = "", rest = ""] = /^(https?):\/\/([^/?\\]*)(.*)$/is.exec(address) ?? [];
  const at = authority.lastIndexOf("@");
  const user = authority.slice(0, Math.max(0, at));
  const [, host = "", port = ""] = /^(\[[^\]]*\]|[^:\s]+)(?::(\d*))?$/.exec(authority.slice(at + 1)) ?? [];
  if (host === "") return undefined;
  const standard = scheme.toLowerCase() === "https" ? "443" : "80";
  const number = port.replace(/^0+(?=\d)/, "");
  return [
    `${scheme.toLowerCase()}://`,
    user === "" ? "" : `${user}@`,
    host.toLowerCase(),
    number === "" || number === standard ? "" : `:${number}`,
    rest.startsWith("/") ? rest : `/${rest}`,
  ].join("");
}
