/**
 * Links that are good without signing in: what they say is sealed with the service's key for one purpose, so that no one else can make one, and holds
 * for a week. Pure but for the sealing.
 */

const GOOD_MS = 7 * 24 * 3_600_000;
/** Characters of a sealed text of ours, with room; a longer one is none of ours. */
const LONGEST = 400;
/** What the link says, and until when it is good. */
const FORM = /^(.+)\.(\d{1,16})$/;

/** @param words what the link says. @returns the last part of the link's path */
export function sealLink(
  sealing: { seal(where: string, plaintext: string): string },
  purpose: string,
  words: string,
  nowMs: number,
): string {
  return sealing.seal(purpose, `${words}.${nowMs + GOOD_MS}`);
}

/**
 * @param form of what a link of this purpose says
 * @returns what the form found; undefined for what we did not make for this purpose, and for what is too old
 */
export function openLink(
  sealing: { open(where: string, sealed: string): string },
  { purpose, form }: { readonly purpose: string; readonly form: RegExp },
  token: string,
  nowMs: number,
): readonly string[] | undefined {
  if (token.length > LONGEST) return undefined;
  let text: string;
  try {
    text = sealing.open(purpose, token);
  } catch {
    return undefined;
  }
  const [, words = "", untilMs] = FORM.exec(text) ?? [];
  return Number(untilMs) >= nowMs ? form.exec(words)?.slice(1) : undefined;
}
