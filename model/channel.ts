/** Refusals for good in a row that make a channel failing; our choice: one may be the service's own trouble. */
export const REFUSALS_OF_FAILING = 2;

/** `unverified`: its addresses have not confirmed; `failing`: its service refuses for good. */
export const CHANNEL_STATES = ["ok", "failing", "off", "unverified"] as const;
export type ChannelState = (typeof CHANNEL_STATES)[number];

export function channelStateOf(channel: {
  readonly active: boolean;
  readonly kind: string;
  readonly verifiedAtMs: number | null;
  readonly refusals: number;
}): ChannelState {
  if (!channel.active) return "off";
  if (awaitsConfirmation(channel)) return "unverified";
  return channel.refusals >= REFUSALS_OF_FAILING ? "failing" : "ok";
}

/** Its messages go to addresses, whose readers must say first that they want them: no one is sent mail by another's choice. */
const CONFIRMED_KIND = "email";

/** It sends no alert until its addresses have confirmed. */
export function awaitsConfirmation({
  kind,
  verifiedAtMs,
}: {
  readonly kind: string;
  readonly verifiedAtMs: number | null;
}): boolean {
  return kind === CONFIRMED_KIND && verifiedAtMs === null;
}
