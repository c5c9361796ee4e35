/** PagerDuty's Events API v2. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { isAllOver, type Message, type MessageSeverity } from "../../../model/alert-message.ts";
import { delivered, jsonOf, memberOf, refused, textOf } from "./answers.ts";
import { jsonPost } from "./channel.ts";
import { defineChannel } from "./define.ts";
import { address, line, secret } from "./fields.ts";
import { cut, itemText, tidy } from "./tidy.ts";

/** https://developer.pagerduty.com/docs/send-alert-event: characters of the summary, and of the key. */
const MOST_SUMMARY = 1_024;
const MOST_KEY = 255;
/** https://developer.pagerduty.com/docs/service-regions */
const SERVERS = { us: "https://events.pagerduty.com", eu: "https://events.eu.pagerduty.com" } as const;

const SEVERITIES: Readonly<Record<MessageSeverity, string>> = {
  critical: "critical",
  warning: "warning",
  info: "info",
  ok: "info",
};

const schema = z.strictObject({
  routing_key: secret(
    line(32, "The integration key of a service's Events API v2 integration").regex(
      /^[0-9A-Za-z]{32}$/,
      "must be 32 letters and digits",
    ),
  ),
  region: z
    .enum(["us", "eu"], { error: "must be us or eu" })
    .default("us")
    .describe("Where the account is: events.pagerduty.com or events.eu.pagerduty.com"),
  server: address("Where the Events API is")
    .nullable()
    .default(null)
    .describe("Where the Events API is, instead of the region's"),
});

function actionOf(message: Message): "trigger" | "acknowledge" | "resolve" {
  // Where it has opened none, nothing comes of it.
  if (isAllOver(message)) return "resolve";
  return message.reason === "acknowledged" ? "acknowledge" : "trigger";
}

/** One that is too long, or empty, becomes a hash of it: two problems never share a key. */
export function dedupKey(groupKey: string): string {
  const isUsable = groupKey.length > 0 && groupKey.length <= MOST_KEY && tidy(groupKey, MOST_KEY) === groupKey;
  return isUsable ? groupKey : createHash("sha256").update(groupKey).digest("hex");
}

function eventOf(message: Message, routingKey: string): unknown {
  const action = actionOf(message);
  const key = { routing_key: routingKey, event_action: action, dedup_key: dedupKey(message.groupKey) };
  if (action !== "trigger") return key;
  const links = [
    ...(message.link === "" ? [] : [{ href: message.link, text: "Open in Sonde" }]),
    ...(message.acknowledge === null ? [] : [{ href: message.acknowledge, text: "Acknowledge" }]),
  ];
  return {
    ...key,
    client: "Sonde",
    ...(message.link !== "" && { client_url: message.link }),
    links,
    payload: {
      summary: cut(message.title === "" ? "Sonde" : message.title, MOST_SUMMARY),
      source: message.items[0]?.name ?? "Sonde",
      severity: SEVERITIES[message.severity],
      timestamp: message.at,
      class: message.reason,
      custom_details: {
        summary: message.summary,
        ...Object.fromEntries(message.facts),
        ...(message.items.length > 0 && { monitors: message.items.map(itemText) }),
        ...(message.more > 0 && { more: message.more }),
      },
    },
  };
}

export const pagerduty = defineChannel({
  kind: "pagerduty",
  name: "PagerDuty",
  summary: "An incident of a service: opened, acknowledged and resolved under one key",
  isForPrograms: true,
  schema,
  docs: "docs/use/channels/pagerduty.md",
  places: ["server", "region"],
  request: (message, { routing_key, region, server }) =>
    jsonPost(`${(server ?? SERVERS[region]).replace(/\/$/, "")}/v2/enqueue`, eventOf(message, routing_key)),
  judge(answer) {
    const json = jsonOf(answer);
    if (answer.status === 202) return delivered(answer, textOf(memberOf(json, "dedup_key")));
    const errors = memberOf(json, "errors");
    const details = Array.isArray(errors) ? errors.map(textOf).filter((text) => text !== null) : [];
    const words = [textOf(memberOf(json, "message")), ...details].filter((text) => text !== null).join(": ");
    return refused(answer, { words });
  },
});
