/**
 * Verdicts: how one check ended. A closed list; the table that maps a verdict to what users see is here and nowhere else.
 */
import type { Family } from "./kind.ts";

/** What was learned about the target. */
export const TARGET_VERDICTS = [
  "ok",
  "unresolved", // its name has no usable address
  "unreachable", // no route, host unreachable
  "refused", // connection refused
  "timeout", // no (further) answer within the deadline
  "closed", // connection ended before the answer was complete
  "handshake-failed", // TLS or tunnel handshake ended in an error
  "cert-invalid", // certificate not trusted, expired, or for another name
  "auth-failed", // credentials refused
  "protocol-error", // answered, but not in the protocol
  "rejected", // answered, but not as accepted: status code, keyword, record
  "stuck", // tunnel up, nothing comes back
  "incomplete", // it works, and a part of it that the monitor asks for does not
  "misconfigured", // the monitor's own settings cannot work, or lead to a refused address
] as const;

/** What went wrong with us; never counted against a target. */
export const OWN_VERDICTS = ["unfit", "unsupported", "cancelled", "internal-error"] as const;

export const VERDICTS = [...TARGET_VERDICTS, ...OWN_VERDICTS] as const;

export type OwnVerdict = (typeof OWN_VERDICTS)[number];
export type Verdict = (typeof VERDICTS)[number];

export const ERROR_CATEGORIES = [
  "server_not_connected",
  "internet_stuck",
  "timeout",
  "auth_failed",
  "cert_error",
  "config_error",
  "dns_error",
  "checker_error",
  "rejected",
] as const;

export type ErrorCategory = (typeof ERROR_CATEGORIES)[number];

/** What a confirmed verdict makes of a location: `degraded` means that the credentials were refused, or that a part of it does not work. */
export type ConfirmedStatus = "up" | "down" | "degraded";

const OWN = new Set<string>(OWN_VERDICTS);

export function isOwnVerdict(verdict: Verdict): verdict is OwnVerdict {
  return OWN.has(verdict);
}

/** The status that a verdict stands for once it is confirmed; undefined for verdicts about us. */
export function confirmedStatusOf(verdict: Verdict): ConfirmedStatus | undefined {
  if (isOwnVerdict(verdict)) return undefined;
  if (verdict === "ok") return "up";
  return verdict === "auth-failed" || verdict === "incomplete" ? "degraded" : "down";
}

/**
 * @param peerAnswered whether the target had said anything before the check failed (splits `timeout`)
 * @returns the contract's `error_category`, null when the check passed
 */
export function errorCategoryOf(verdict: Verdict, family: Family, peerAnswered: boolean): ErrorCategory | null {
  switch (verdict) {
    case "ok":
      return null;
    case "unresolved":
      return "dns_error";
    case "unreachable":
    case "refused":
    case "closed":
    case "handshake-failed":
      return "server_not_connected";
    case "incomplete":
      // The part that a website lacks is its speed.
      return family === "uptime" ? "timeout" : "server_not_connected";
    case "timeout":
      return peerAnswered ? "timeout" : "server_not_connected";
    case "stuck":
      return "internet_stuck";
    case "cert-invalid":
      return "cert_error";
    case "auth-failed":
      return "auth_failed";
    case "protocol-error":
    case "rejected":
      return family === "uptime" ? "rejected" : "server_not_connected";
    case "misconfigured":
      return "config_error";
    case "unfit":
    case "unsupported":
    case "cancelled":
    case "internal-error":
      return "checker_error";
  }
}
