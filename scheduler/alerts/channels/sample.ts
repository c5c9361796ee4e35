/** Messages as they would be, for tests of a channel. Pure. */
import type { Message, MessageReason, MessageSeverity } from "../../../model/alert-message.ts";

const SAID: Readonly<Record<MessageReason, readonly [MessageSeverity, title: string, summary: string]>> = {
  test: ["info", "A test of this channel", "Sonde reaches you here. Nothing is down."],
  opened: ["critical", "Berlin 3 is down", "nothing comes back through the tunnel (a test)"],
  raised: ["critical", "Berlin 3 is down", "it was slow before (a test)"],
  reminder: ["critical", "Berlin 3 is still down", "nothing comes back through the tunnel (a test)"],
  recovered: ["ok", "Berlin 3 works again after 12 min", "all locations reach it (a test)"],
  acknowledged: ["info", "Berlin 3: Ada looks at it", "reminders stop (a test)"],
  partial: ["warning", "Berlin 3 is down from some places", "de does not reach it, nl does (a test)"],
  expiring: ["warning", "shop.test-site.org: certificate ends in 6 days", "renew it (a test)"],
  sync: ["warning", "Subscription Main was not synced", "the provider does not answer (a test)"],
  channel: ["warning", "Channel Phone is failing", "it was refused twice (a test)"],
  digest: ["info", "In the quiet hours: 1 still down, 2 came and went", "a test"],
};

export interface SampleOptions {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly channel: string;
  readonly nowIso: string;
  /** Different for each test: what services keep together must not be kept together with a problem. */
  readonly key: string;
}

export function sampleMessage(reason: MessageReason, { baseUrl, channel, nowIso, key }: SampleOptions): Message {
  const [severity, title, summary] = SAID[reason];
  const link = `${baseUrl}/`;
  const item = { id: "srv_0", name: "Berlin 3", state: "down", why: "timed out", since: nowIso, url: link };
  return {
    reason,
    severity,
    title,
    summary,
    link,
    facts: [
      ["channel", channel],
      ["at", nowIso],
    ],
    items: reason === "test" ? [] : [item],
    more: 0,
    acknowledge: null,
    groupKey: `test ${key}`,
    at: nowIso,
  };
}
