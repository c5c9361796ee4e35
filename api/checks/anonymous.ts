/**
 * What a caller without a key learns of targets and failures: never which of our own ports are open, which inner names exist, or which
 * addresses this network has. All refusals of the address guard are one text with one status, and come after the same time.
 */
import { setTimeout as wait } from "node:timers/promises";
import { isOwnVerdict } from "../../model/verdict.ts";
import type { OneOffResult } from "../../store/state/checks.ts";
import { unprocessable } from "../errors.ts";
import type { Target, Targets } from "../monitors/targets.ts";

/** The one text of every refused target. */
export const TARGET_REFUSED = "This target cannot be checked: it is private, reserved or for documentation.";
/** A refusal comes this long after the check of the targets began, ms: longer than a name server on this network takes. */
const REFUSED_AFTER_MS = 300;
/** Names that are given on private networks only: RFC 6762 section 3 and appendix G, RFC 8375, ICANN's `internal`, RFC 6761, Docker's and others'. */
const INNER_SUFFIXES: ReadonlySet<string> = new Set(
  "local internal lan home corp intranet private localdomain localhost test invalid home.arpa in-addr.arpa ip6.arpa".split(
    " ",
  ),
);
/** The message of every fault of ours. */
const OWN_FAULT = "The checker could not run this check";
/** What a core says follows this, with whatever it knows of this machine. */
const CORE_REFUSES = " refuses the config";

/**
 * All are judged, also after one was refused: neither the text nor the time says which it was.
 * @throws 422 with the one text
 */
export async function acceptAnonymousTargets(
  targets: Targets,
  endpoints: readonly Target[],
  opensInner: boolean,
): Promise<void> {
  const startedAt = performance.now();
  const refusals = await Promise.all(
    endpoints.map(
      async (endpoint) =>
        (!opensInner && isInnerName(endpoint.host)) || (await targets.refusal(endpoint)) !== undefined,
    ),
  );
  if (!refusals.includes(true)) return;
  await wait(Math.max(0, startedAt + REFUSED_AFTER_MS - performance.now()));
  throw unprocessable(TARGET_REFUSED);
}

/** Refused whether or not it resolves, because the answer would reveal which of them exist here. @param host lowercase name, or an address */
export function isInnerName(host: string): boolean {
  if (host.includes(":")) return false;
  const labels = host.split(".");
  if (labels.length === 1) return true;
  return INNER_SUFFIXES.has(labels.at(-1) ?? "") || INNER_SUFFIXES.has(labels.slice(-2).join("."));
}

/** `error_message` for a caller without a key. */
export function anonymousMessage({ verdict, message }: Pick<OneOffResult, "verdict" | "message">): string | null {
  if (message === null) return null;
  if (isOwnVerdict(verdict)) return OWN_FAULT;
  const at = message.indexOf(CORE_REFUSES);
  return at < 0 ? message : message.slice(0, at + CORE_REFUSES.length);
}
