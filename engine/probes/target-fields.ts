/** Fields that checks of a host share, with the contract's messages (docs/api-contract.md#conventions, #uptime-fields). */
import { z } from "zod";
import { toAsciiName } from "../protocols/dns/name.ts";
import { literalOf } from "../transport/literal.ts";

/** A name or an address in any spelling; whether it may be reached is the guard's question, not this one's. */
export const hostField = z
  .string({ error: "Missing or invalid host" })
  .trim()
  .refine((text) => toAsciiName(text) !== undefined || literalOf(text) !== undefined, "Missing or invalid host");

export const portField = z
  .int({ error: "Missing or invalid port" })
  .min(1, "Missing or invalid port")
  .max(65_535, "Missing or invalid port");

export const ipVersionField = z
  .enum(["ipv4", "ipv6"], { error: "ip_version must be ipv4, ipv6 or null." })
  .nullable()
  .default(null)
  .describe("Address family to use; null for both");
