/** Slack's incoming webhooks, and those of Mattermost and Rocket.Chat, which take nearly the same. */
import { z } from "zod";
import type { Message, MessageSeverity } from "../../../model/alert-message.ts";
import { delivered, isOk, jsonOf, memberOf, refused, textOf } from "./answers.ts";
import { jsonPost } from "./channel.ts";
import { defineChannel } from "./define.ts";
import { address, optionalLine, secret } from "./fields.ts";
import { brokenUp, cut, fitting, headline, itemText, linksOf, moreLines } from "./tidy.ts";

/** https://docs.slack.dev/reference/block-kit/blocks/header-block, …/section-block: characters of their texts. */
const MOST_HEADER = 150;
const MOST_SECTION = 3_000;
/** https://docs.slack.dev/changelog/2018-truncating-really-long-messages: longer texts are cut beyond 40,000; 4,000 is the advice. */
const MOST_TEXT = 4_000;
/** Mattermost's posts, https://docs.mattermost.com/configure: 16,383; Rocket.Chat's Message_MaxAllowedSize is 5,000 by itself. */
const MOST_ATTACHMENT = 4_000;

const COLORS: Readonly<Record<MessageSeverity, string>> = {
  critical: "#d32f2f",
  warning: "#f57c00",
  info: "#1976d2",
  ok: "#388e3c",
};

/** `<!here>`, `<@U0123>`, `<!subteam^S0123>` of Slack, `@here`, `@name` of the others. */
const MENTION = /^(<!(here|channel|everyone)>|<@[UW][A-Z0-9]{1,20}>|<!subteam\^S[A-Z0-9]{1,20}>|@[\w.-]{1,64})$/;

const schema = z.strictObject({
  flavour: z
    .enum(["slack", "mattermost", "rocketchat"], { error: "must be slack, mattermost or rocketchat" })
    .default("slack")
    .describe("Which of the three takes it: they differ in their markup"),
  url: secret(address("The incoming webhook's address, https://hooks.slack.com/services/…")),
  mention: optionalLine(
    80,
    "Whom the message calls: <!here>, <@U0123>, <!subteam^S0123>; of the others @here or @name",
  ).refine(
    (text) => text === null || MENTION.test(text),
    "must be one of <!here>, <!channel>, <@U…>, <!subteam^S…> and @name",
  ),
});
type Settings = z.infer<typeof schema>;

/** https://docs.slack.dev/messaging/formatting-message-text: these three are all that Slack escapes. */
export function slackText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Markdown of Mattermost and Rocket.Chat: marks get a backslash; `@` and `:` have none, so an invisible break ends a mention. */
export function chatMarkdown(text: string): string {
  return brokenUp(text.replace(/[\\`*_{}[\]()#+\-!|~<>]/g, "\\$&"), /@|:(?=[a-z+_-])/gi);
}

function blocksOf(message: Message, mention: string | null): readonly unknown[] {
  // Plain text knows no markup: nothing in it calls a person or is a link.
  const plain = (text: string) => ({ type: "section", text: { type: "plain_text", text, emoji: false } });
  const lines = [
    ...message.facts.map(([name, value]) => `${name}: ${value}`),
    ...message.items.map((item) => `• ${itemText(item)}`),
    ...moreLines(message.more),
  ];
  const links = linksOf(message).map(([name, url]) => `<${slackText(url.replaceAll("|", "%7C"))}|${name}>`);
  return [
    { type: "header", text: { type: "plain_text", text: cut(headline(message), MOST_HEADER), emoji: true } },
    ...(message.summary === "" ? [] : [plain(cut(message.summary, MOST_SECTION))]),
    ...(lines.length === 0 ? [] : [plain(fitting(lines, MOST_SECTION))]),
    ...(mention === null ? [] : [{ type: "section", text: { type: "mrkdwn", text: mention } }]),
    ...(links.length === 0 ? [] : [{ type: "section", text: { type: "mrkdwn", text: links.join("   ") } }]),
  ];
}

function attachmentOf(message: Message): unknown {
  const lines = [
    ...(message.summary === "" ? [] : [chatMarkdown(message.summary)]),
    ...message.facts.map(([name, value]) => `**${chatMarkdown(name)}:** ${chatMarkdown(value)}`),
    ...message.items.map((item) => `• ${chatMarkdown(itemText(item))}`),
    ...moreLines(message.more),
  ];
  const last = linksOf(message).map(([name, url]) => `[${name}](${url.replaceAll("(", "%28").replaceAll(")", "%29")})`);
  return {
    color: COLORS[message.severity],
    text: fitting(lines, MOST_ATTACHMENT, { last }),
  };
}

function bodyOf(message: Message, { flavour, mention }: Settings): unknown {
  const said = message.summary === "" ? headline(message) : `${headline(message)} – ${message.summary}`;
  if (flavour === "slack") {
    return { text: cut(slackText(said), MOST_TEXT), mrkdwn: false, blocks: blocksOf(message, mention) };
  }
  const calls = mention === null ? "" : `${mention} `;
  return { text: cut(`${calls}${chatMarkdown(headline(message))}`, MOST_TEXT), attachments: [attachmentOf(message)] };
}

export const slack = defineChannel({
  kind: "slack",
  name: "Slack, Mattermost, Rocket.Chat",
  summary: "A message in a channel, by an incoming webhook",
  schema,
  docs: "docs/use/channels/slack.md",
  request: (message, settings) => jsonPost(settings.url, bodyOf(message, settings)),
  judge(answer) {
    // Rocket.Chat says {"success": false} with status 200 too. Slack's words are a line: `invalid_payload`, `channel_is_archived`.
    const json = jsonOf(answer);
    const hasFailed = memberOf(json, "success") === false || memberOf(json, "ok") === false;
    if (isOk(answer) && !hasFailed) return delivered(answer);
    const words = textOf(memberOf(json, "error")) ?? textOf(memberOf(json, "message"));
    return refused(answer, { words, ...(isOk(answer) && { permanent: true }) });
  },
});
