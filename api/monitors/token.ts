/** Heartbeat tokens: the secret part of a heartbeat's address. */
import { createHash, randomBytes } from "node:crypto";

const LETTERS_AND_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const TOKEN_LENGTH = 32;
/** Bytes from here on would make the first letters likelier. */
const FAIR_BYTES = 256 - (256 % LETTERS_AND_DIGITS.length);

/** 32 random letters and digits (open-points 13). */
export function newToken(random: (size: number) => Uint8Array = randomBytes): string {
  let token = "";
  while (token.length < TOKEN_LENGTH) {
    for (const byte of random(TOKEN_LENGTH)) {
      if (byte < FAIR_BYTES && token.length < TOKEN_LENGTH)
        token += LETTERS_AND_DIGITS[byte % LETTERS_AND_DIGITS.length];
    }
  }
  return token;
}

/** What a token is looked up by; the token itself is kept sealed. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
