/** What a failed check says of a name's addresses that were not asked. */
import { isOwnVerdict } from "../../model/verdict.ts";
import type { ProbeContext } from "../contract/probe.ts";
import { classify } from "../net/classify.ts";
import { NetworkFault } from "../net/fault.ts";
import type { Address } from "../transport/transport.ts";

/**
 * Clients of WireGuard and IKEv2 take the first address of a name and no other (wg(8), charon), so a name with a dead server among its addresses is down
 * for some of them, and the checks ask one of each family. @returns the fault with a hint of that where it fits; else the same error
 */
export function withUnasked(
  error: unknown,
  { resolved, asked }: { readonly resolved: readonly Address[]; readonly asked: readonly Address[] },
  context: Pick<ProbeContext, "signal">,
): unknown {
  if (asked.length === resolved.length || context.signal.aborted) return error;
  const { verdict, message, peerAnswered, peer, hint } = classify(error, "handshake");
  if (peerAnswered === true || isOwnVerdict(verdict)) return error;
  const words = unaskedWords(
    resolved.length,
    asked.map(({ ip }) => ip),
  );
  return new NetworkFault(verdict, message, {
    ...(peerAnswered !== undefined && { peerAnswered }),
    ...(peer !== undefined && { peer }),
    hint: hint === undefined ? words : `${hint}. ${words}`,
    cause: error,
  });
}

/** @param count of the name's addresses */
export function unaskedWords(count: number, asked: readonly string[]): string {
  return `The name has ${count} addresses, and the check asked ${asked.join(" and ")}, as a client of this protocol does`;
}
