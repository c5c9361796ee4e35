/** Our certificate beyond its time: servers refuse it without saying why, so the check does. */
import { X509Certificate } from "node:crypto";
import type { Verdict } from "../../model/verdict.ts";
import { NetworkFault } from "../net/fault.ts";

/** What may be a refusal of who we are. */
const REFUSALS: ReadonlySet<Verdict> = new Set(["auth-failed", "closed", "timeout"]);

/** @param certificate PEM or DER, ours first. @returns a fault of a server that answered, with what is wrong with our certificate; else what came in */
export function withOwnAge(error: unknown, certificate: string | Buffer | null, nowMs: number): unknown {
  if (certificate === null || !(error instanceof NetworkFault)) return error;
  if (error.peerAnswered !== true || !REFUSALS.has(error.verdict)) return error;
  const words = ageOf(certificate, nowMs);
  if (words === null) return error;
  const { verdict, message, peerAnswered, peer, hint, cause } = error;
  return new NetworkFault(verdict, `${words}. ${message}`, {
    peerAnswered,
    ...(peer !== undefined && { peer }),
    ...(hint !== undefined && { hint }),
    cause,
  });
}

/** null: it is within its time, or cannot be read. */
function ageOf(certificate: string | Buffer, nowMs: number): string | null {
  let own: X509Certificate;
  try {
    own = new X509Certificate(certificate);
  } catch {
    return null;
  }
  if (Date.parse(own.validTo) < nowMs) return `This client's certificate has expired: ${own.validTo}`;
  return Date.parse(own.validFrom) > nowMs ? `This client's certificate is not valid yet: ${own.validFrom}` : null;
}
