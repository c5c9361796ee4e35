/** Telegram's bots. */
import { z } from "zod";
import type { Message } from "../../../model/alert-message.ts";
import { delivered, jsonOf, memberOf, refused, textOf, waitOf } from "./answers.ts";
import { jsonPost } from "./channel.ts";
import { defineChannel } from "./define.ts";
import { line, secret, server } from "./fields.ts";
import { fitting, headline, itemText, linksOf, moreLines } from "./tidy.ts";

/** https://core.telegram.org/bots/api#sendmessage: 1 to 4,096 characters after its marks are read; ours are counted with their marks. */
const MOST_TEXT = 4_096;

const schema = z.strictObject({
  server: server("https://api.telegram.org", "Where the Bot API is"),
  token: secret(
    line(120, "The bot's token, as @BotFather gives it").regex(
      /^\d{1,20}:[\w-]{8,100}$/,
      "must be a token such as 123456789:AA…",
    ),
  ),
  chat_id: line(64, "Chat: its number (groups have a negative one), or @name of a public channel").regex(
    /^(-?\d{1,20}|@\w{3,60})$/,
    "must be a number or @name",
  ),
  thread_id: z
    .int({ error: "must be a whole number" })
    .min(1, "must be a whole number")
    .nullable()
    .default(null)
    .describe("Topic of a group that has topics"),
  silent: z.boolean({ error: "must be true or false" }).default(false).describe("Without a sound"),
});

/** https://core.telegram.org/bots/api#html-style: these must be entities; the quote only within an attribute. */
export function telegramHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function textOfMessage(message: Message): string {
  const links = linksOf(message)
    .map(([name, url]) => `<a href="${telegramHtml(url)}">${name}</a>`)
    .join(" · ");
  const lines = [
    `<b>${telegramHtml(headline(message))}</b>`,
    ...(message.summary === "" ? [] : [telegramHtml(message.summary)]),
    ...message.facts.map(([name, value]) => `<b>${telegramHtml(name)}:</b> ${telegramHtml(value)}`),
    ...message.items.map((item) => `• ${telegramHtml(itemText(item))}`),
    ...moreLines(message.more),
  ];
  return fitting(lines, MOST_TEXT, { last: links === "" ? [] : [links] });
}

export const telegram = defineChannel({
  kind: "telegram",
  name: "Telegram",
  summary: "A message of a bot in a chat, a group or a channel",
  schema,
  docs: "docs/use/channels/telegram.md",
  places: ["server"],
  request(message, { server: base, token, chat_id, thread_id, silent }, { previous }) {
    const replied = /^\d{1,15}$/.test(previous ?? "") ? Number(previous) : null;
    const body = {
      chat_id,
      text: textOfMessage(message),
      parse_mode: "HTML",
      link_preview_options: { is_disabled: true },
      ...(thread_id !== null && { message_thread_id: thread_id }),
      ...(silent && { disable_notification: true }),
      // The first message may be deleted by now.
      ...(replied !== null && { reply_parameters: { message_id: replied, allow_sending_without_reply: true } }),
    };
    return jsonPost(`${base}/bot${token}/sendMessage`, body);
  },
  judge(answer) {
    const json = jsonOf(answer);
    const result = memberOf(json, "result");
    if (answer.status === 200 && memberOf(json, "ok") === true) {
      return delivered(answer, textOf(memberOf(result, "message_id")));
    }
    // A cut answer is a message that was taken: what was said of it is longer than we keep.
    if (answer.status === 200 && /^\s{0,9}\{\s{0,9}"ok"\s{0,9}:\s{0,9}true\b/.test(answer.text)) {
      return delivered(answer, /"message_id"\s{0,9}:\s{0,9}(\d{1,15})/.exec(answer.text)?.[1] ?? null);
    }
    const parameters = memberOf(json, "parameters");
    const moved = textOf(memberOf(parameters, "migrate_to_chat_id"));
    const words = textOf(memberOf(json, "description"));
    const retryAfterMs = waitOf(memberOf(parameters, "retry_after"), 1_000);
    return refused(answer, {
      ...(words !== null && { words: moved === null ? words : `${words} (chat_id is ${moved} now)` }),
      retryAfterMs,
      ...(answer.status === 200 && { permanent: memberOf(json, "ok") === false }),
    });
  },
});
