/** Heartbeat tokens: the secret part of a heartbeat's address. */
import { createHash } from "node:crypto";
import { randomText } from "../random-text.ts";

const TOKEN_LENGTH = 32;

/** 32 random letters and digits (docs/api-contract.md#heartbeat-address). */
export function newToken(random?: (size: number) => Uint8Array): string {
  return randomText(TOKEN_LENGTH, random);
}

/** What a token is looked up by; the token itself is kept sealed. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
