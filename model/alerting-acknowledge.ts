/**
 * Links by which a message is acknowledged: sealed with the service's key, so that no one else can make one. Each is good for one group
 * and says through which channel it went. Pure but for the sealing.
 */

/** How long a link is good, ms: a week. */
const GOOD_MS = 7 * 24 * 3_600_000;
const PURPOSE = "acknowledge";
/** Bytes that base64url of 80 characters seals; a longer text is none of ours. */
const LONGEST = 400;
const FORM = /^(\d{1,16})\.(\d{1,16})\.(\d{1,16})$/;

export interface Acknowledging {
  readonly groupId: number;
  readonly channelId: number;
}

export function acknowledgeToken(
  sealing: { seal(where: string, plaintext: string): string },
  { groupId, channel }: { readonly groupId: number; readonly channel: { readonly id: number } },
  nowMs: number,
): string {
  return sealing.seal(PURPOSE, `${groupId}.${channel.id}.${nowMs + GOOD_MS}`);
}

/** @returns undefined for what we did not make, and for what is too old */
export function readAcknowledgeToken(
  sealing: { open(where: string, sealed: string): string },
  token: string,
  nowMs: number,
): Acknowledging | undefined {
  if (token.length > LONGEST) return undefined;
  let text: string;
  try {
    text = sealing.open(PURPOSE, token);
  } catch {
    return undefined;
  }
  const [, groupId, channelId, untilMs] = FORM.exec(text) ?? [];
  if (untilMs === undefined || Number(untilMs) < nowMs) return undefined;
  return { groupId: Number(groupId), channelId: Number(channelId) };
}
