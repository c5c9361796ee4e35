/** Links by which a message is acknowledged. Each is good for one group and says through which channel it went. Pure but for the sealing. */
import { openLink, sealLink } from "./sealed-link.ts";

const LINK = { purpose: "acknowledge", form: /^(\d{1,16})\.(\d{1,16})$/ } as const;

export interface Acknowledging {
  readonly groupId: number;
  readonly channelId: number;
}

export function acknowledgeToken(
  sealing: { seal(where: string, plaintext: string): string },
  { groupId, channel }: { readonly groupId: number; readonly channel: { readonly id: number } },
  nowMs: number,
): string {
  return sealLink(sealing, LINK.purpose, `${groupId}.${channel.id}`, nowMs);
}

/** @returns undefined for what we did not make, and for what is too old */
export function readAcknowledgeToken(
  sealing: { open(where: string, sealed: string): string },
  token: string,
  nowMs: number,
): Acknowledging | undefined {
  const [groupId, channelId] = openLink(sealing, LINK, token, nowMs) ?? [];
  return channelId === undefined ? undefined : { groupId: Number(groupId), channelId: Number(channelId) };
}
