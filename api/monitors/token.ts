/** Heartbeat tokens: the secret part of a heartbeat's address. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { randomText } from "../random-text.ts";

const TOKEN_LENGTH = 32;
/** Uptime Kuma made tokens of 10 characters once, and makes them of 32 now. */
export const TOKEN = /^[A-Za-z0-9]{10,64}$/;
const TOKEN_MESSAGE = "token must be 10 to 64 letters or digits.";

/** Read when a heartbeat is made: jobs that call it elsewhere go on without a change. */
export const tokenField = z
  .string({ error: TOKEN_MESSAGE })
  .regex(TOKEN, TOKEN_MESSAGE)
  .describe(
    "Last part of the heartbeat's address, 10 to 64 letters or digits, where jobs call one already; made at random otherwise. Kept sealed, and shown in heartbeat_url only",
  );

/** 32 random letters and digits (docs/api-contract.md#heartbeat-address). */
export function newToken(random?: (size: number) => Uint8Array): string {
  return randomText(TOKEN_LENGTH, random);
}

/** What a token is looked up by; the token itself is kept sealed. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
