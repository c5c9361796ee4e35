/** Discord's webhooks. */
import { z } from "zod";
import type { Message, MessageSeverity } from "../../../model/alert-message.ts";
import { delivered, isOk, jsonOf, memberOf, refused, textOf, waitOf } from "./answers.ts";
import { jsonPost } from "./channel.ts";
import { defineChannel } from "./define.ts";
import { address, optionalLine, secret } from "./fields.ts";
import { brokenUp, cut, fitting, headline, itemText, moreLines } from "./tidy.ts";

/** https://discord.com/developers/docs/resources/message#embed-object-embed-limits: characters. */
const MOST = { title: 256, description: 4_096, fieldName: 256, fieldValue: 1_024, fields: 25 } as const;
/** Of a title before each of its marks gets a backslash: within the limit after it too. */
const MOST_TITLE = 120;
/** Of all texts of the embeds together, 6,000; the description leaves room for the others. */
const MOST_DESCRIPTION = 2_000;
/** https://discord.com/developers/docs/resources/webhook#execute-webhook: characters of the content. */
const MOST_CONTENT = 2_000;

const COLORS: Readonly<Record<MessageSeverity, number>> = {
  critical: 0xd3_2f_2f,
  warning: 0xf5_7c_00,
  info: 0x19_76_d2,
  ok: 0x38_8e_3c,
};

const schema = z.strictObject({
  url: secret(address("The webhook's address, https://discord.com/api/webhooks/…")),
  username: optionalLine(80, "Name that the message is written under; without it the webhook's own"),
  thread_id: optionalLine(20, "A thread of the channel").refine(
    (text) => text === null || /^\d{17,20}$/.test(text),
    "must be 17 to 20 digits",
  ),
  mention: optionalLine(30, "Whom the message calls: <@&role id> or <@user id>").refine(
    (text) => text === null || /^<@&?\d{17,20}>$/.test(text),
    "must be <@&role id> or <@user id>",
  ),
});

/** https://support.discord.com/hc/articles/210298617: marks get a backslash. `<`, `@`, `:` begin mentions and emoji, which have no other escape. */
export function discordText(text: string): string {
  return brokenUp(text.replace(/[\\*_~`|>#\-[\]()]/g, "\\$&"), /[<@]|:(?=[a-z+_-])/gi);
}

function embedOf(message: Message): unknown {
  const lines = [
    ...(message.summary === "" ? [] : [discordText(message.summary)]),
    ...message.items.map((item) => `• ${discordText(itemText(item))}`),
    ...moreLines(message.more),
  ];
  const last = message.acknowledge === null ? [] : [`[Acknowledge](<${message.acknowledge}>)`];
  const description = fitting(lines, MOST_DESCRIPTION, { last });
  return {
    title: discordText(cut(headline(message), MOST_TITLE)),
    ...(message.link !== "" && { url: message.link }),
    ...(description !== "" && { description }),
    color: COLORS[message.severity],
    fields: fieldsOf(message),
    timestamp: message.at,
  };
}

/** As many as fit into 6,000 characters with the title and the description. */
function fieldsOf(message: Message): readonly unknown[] {
  let room = 6_000 - MOST.title - MOST_DESCRIPTION - 1;
  return message.facts.slice(0, MOST.fields).flatMap(([fact, text]) => {
    const [name, value] = [cut(discordText(fact), MOST.fieldName), cut(discordText(text), MOST.fieldValue)];
    room -= name.length + value.length;
    return room < 0 || name === "" || value === "" ? [] : [{ name, value, inline: text.length <= 40 }];
  });
}

function mentionsOf(mention: string | null): unknown {
  const [, role, id] = /^<@(&?)(\d+)>$/.exec(mention ?? "") ?? [];
  if (id === undefined) return { parse: [] };
  return role === "&" ? { parse: [], roles: [id] } : { parse: [], users: [id] };
}

export const discord = defineChannel({
  kind: "discord",
  name: "Discord",
  summary: "A message in a channel, by a webhook",
  schema,
  docs: "docs/use/channels/discord.md",
  request(message, { url: text, username, thread_id, mention }) {
    const url = new URL(text);
    // Without it the answer is empty and comes before Discord has taken the message.
    url.searchParams.set("wait", "true");
    if (thread_id !== null) url.searchParams.set("thread_id", thread_id);
    const body = {
      ...(username !== null && { username }),
      ...(mention !== null && { content: cut(mention, MOST_CONTENT) }),
      embeds: [embedOf(message)],
      allowed_mentions: mentionsOf(mention),
    };
    return jsonPost(url.href, body);
  },
  judge(answer) {
    const json = jsonOf(answer);
    if (isOk(answer)) return delivered(answer, textOf(memberOf(json, "id")));
    const words = textOf(memberOf(json, "message"));
    // https://discord.com/developers/docs/topics/rate-limits: seconds with a fraction.
    const retryAfterMs = waitOf(memberOf(json, "retry_after"), 1_000);
    return refused(answer, { words, retryAfterMs });
  },
});
