/** A plain message as JSON to an address of one's own, signed as Standard Webhooks says (https://www.standardwebhooks.com). */
import { z } from "zod";
import type { Message } from "../../../model/alert-message.ts";
import { headersOf } from "../../signed-message.ts";
import { delivered, isOk, refused } from "./answers.ts";
import { defineChannel } from "./define.ts";
import { address, line, secret } from "./fields.ts";

const PREFIX = "whsec_";
/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#signature-scheme: bytes of a key. */
const KEY_BYTES = { least: 24, most: 64 } as const;

const schema = z.strictObject({
  url: secret(address("Where it is posted to")),
  secret: secret(
    line(120, "Key of the signature: whsec_ and the base64 of 24 to 64 bytes").refine(
      isKey,
      "must be whsec_ and the base64 of 24 to 64 bytes",
    ),
  ),
});

function isKey(text: string): boolean {
  if (!/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(text)) return false;
  const { length } = keyOf(text);
  return length >= KEY_BYTES.least && length <= KEY_BYTES.most;
}

function keyOf(text: string): Buffer {
  return Buffer.from(text.slice(PREFIX.length), "base64");
}

function bodyOf(message: Message): string {
  return JSON.stringify({
    type: `alert.${message.reason}`,
    timestamp: message.at,
    data: {
      severity: message.severity,
      title: message.title,
      summary: message.summary,
      facts: message.facts.map(([name, value]) => ({ name, value })),
      monitors: message.items,
      more: message.more,
      link: message.link,
      acknowledge: message.acknowledge,
      group: message.groupKey,
    },
  });
}

export const webhook = defineChannel({
  kind: "webhook",
  name: "Webhook",
  summary: "The message as JSON, signed, to an address of yours",
  isForPrograms: true,
  schema,
  docs: "docs/use/channels/webhook.md",
  request(message, { url, secret: key }, { notificationId, nowMs }) {
    const body = bodyOf(message);
    const headers = headersOf({ id: `msg_${notificationId}`, body, keys: [keyOf(key)] }, nowMs);
    return { method: "POST", url, headers, body };
  },
  judge: (answer) => (isOk(answer) ? delivered(answer) : refused(answer)),
});
