/** THE LIST of kinds of channels, one line each, in the order in which they are shown. */
import { apprise } from "./apprise.ts";
import { custom } from "./custom.ts";
import type { DefinedChannel } from "./define.ts";
import { discord } from "./discord.ts";
import { email } from "./email.ts";
import { googleChat } from "./google-chat.ts";
import { gotify } from "./gotify.ts";
import { matrix } from "./matrix.ts";
import { ntfy } from "./ntfy.ts";
import { pagerduty } from "./pagerduty.ts";
import { pushover } from "./pushover.ts";
import { slack } from "./slack.ts";
import { teams } from "./teams.ts";
import { telegram } from "./telegram.ts";
import { webhook } from "./webhook.ts";

export const CHANNEL_KINDS: readonly DefinedChannel[] = [
  email,
  slack,
  discord,
  telegram,
  teams,
  googleChat,
  pagerduty,
  ntfy,
  pushover,
  gotify,
  matrix,
  webhook,
  custom,
  apprise,
];

const byName: ReadonlyMap<string, DefinedChannel> = new Map(CHANNEL_KINDS.map((kind) => [kind.kind, kind]));

export function channelKind(kind: string): DefinedChannel | undefined {
  return byName.get(kind);
}
