/** What a page's link, badges and password are made and judged with: one sealed text for each page. */
import { createHmac, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import type { Sealing } from "../../store/sealed-text.ts";

export interface PageSecrets {
  /** 32 bytes in base64url. */
  readonly key: string;
  /** How often the link was made anew. */
  readonly link: number;
  /** null: there was no password yet. */
  readonly password: { readonly salt: string; readonly hash: string } | null;
}

/** RFC 7914 section 2 by its parameters: 16 MB and about 50 ms for each attempt. */
const COST = { N: 16_384, r: 8, p: 1, maxmem: 64 * 1_048_576 } as const;
const HASH_BYTES = 32;
/** Characters of a name: 96 bits. */
const NAME_LENGTH = 16;
/** Of base64url, 72 bits. */
const BADGE_NAME_BYTES = 9;
export const BADGE_NAME_LENGTH = 12;
/** How long a password that was given is good for, ms. */
export const UNLOCKED_MS = 30 * 86_400_000;

export function newSecrets(): PageSecrets {
  return { key: randomBytes(32).toString("base64url"), link: 1, password: null };
}

export function newBadgeName(): string {
  return randomBytes(BADGE_NAME_BYTES).toString("base64url");
}

export function sealedSecrets(sealing: Sealing, pageId: number, secrets: PageSecrets): string {
  return sealing.seal(SEALED_CELLS.statusPage(pageId), JSON.stringify(secrets));
}

export function openedSecrets(sealing: Sealing, page: { readonly id: number; readonly accessSealed: string }) {
  return JSON.parse(sealing.open(SEALED_CELLS.statusPage(page.id), page.accessSealed)) as PageSecrets;
}

/** An opaque token in an address of the page: it reveals nothing, and no other can be guessed. */
export function publicName({ key }: Pick<PageSecrets, "key">, what: string): string {
  return hmac(key, `name ${what}`).slice(0, NAME_LENGTH);
}

export function linkToken({ key, link }: PageSecrets): string {
  return hmac(key, `link ${link}`);
}

export function isLinkToken(secrets: PageSecrets, sent: string): boolean {
  return isSame(linkToken(secrets), sent);
}

export async function hashedPassword(password: string): Promise<NonNullable<PageSecrets["password"]>> {
  const salt = randomBytes(16).toString("base64url");
  return { salt, hash: await derived(password, salt) };
}

export async function isPassword({ password }: PageSecrets, sent: string): Promise<boolean> {
  return password !== null && isSame(await derived(sent, password.salt), password.hash);
}

/** Good until then, and until the password changes. */
export function unlockedCookie(secrets: PageSecrets, untilMs: number): string {
  return `${untilMs}.${hmac(secrets.key, `unlocked ${untilMs} ${secrets.password?.hash ?? ""}`)}`;
}

export function isUnlocked(secrets: PageSecrets, cookie: string, nowMs: number): boolean {
  const [, until = ""] = /^([0-9]{1,15})\.[\w-]{43}$/.exec(cookie) ?? [];
  return until !== "" && Number(until) > nowMs && isSame(unlockedCookie(secrets, Number(until)), cookie);
}

function hmac(key: string, text: string): string {
  return createHmac("sha256", Buffer.from(key, "base64url")).update(text).digest("base64url");
}

function isSame(kept: string, sent: string): boolean {
  const [one, other] = [Buffer.from(kept), Buffer.from(sent)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function derived(password: string, salt: string): Promise<string> {
  return new Promise((settle, fail) => {
    scrypt(password.normalize("NFC"), salt, HASH_BYTES, COST, (error, hash) => {
      if (error === null) settle(hash.toString("base64url"));
      else fail(error);
    });
  });
}
