/** Microsoft Teams, by the webhook of a workflow. */
import { z } from "zod";
import type { Message, MessageSeverity } from "../../../model/alert-message.ts";
import { delivered, isOk, refused } from "./answers.ts";
import { defineChannel } from "./define.ts";
import { address, secret } from "./fields.ts";
import { headline, linksOf, plainLines } from "./tidy.ts";

/**
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook: about 28 KB of a whole message. Others
 * found that messages beyond 21 KB are refused (https://www.rubydoc.info/gems/msteams_hermes/MsTeamsHermes/Message).
 */
const MOST_BYTES = 20_000;

const COLORS: Readonly<Record<MessageSeverity, string>> = {
  critical: "attention",
  warning: "warning",
  info: "accent",
  ok: "good",
};

const schema = z.strictObject({
  url: secret(address("The workflow's address: Workflows, “When a Teams webhook request is received”")),
});

/** A run of text is shown as it is; a TextBlock would read Markdown in it (https://adaptivecards.io/explorer/TextRun.html). */
function paragraph(text: string, more: Readonly<Record<string, unknown>> = {}): unknown {
  return { type: "RichTextBlock", inlines: [{ type: "TextRun", text, ...more }] };
}

function bodyOf(message: Message, lines: readonly string[]): string {
  const card = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [
      paragraph(headline(message), { weight: "bolder", size: "large", color: COLORS[message.severity] }),
      ...lines.map((text) => paragraph(text)),
    ],
    actions: linksOf(message).map(([title, url]) => ({ type: "Action.OpenUrl", title, url })),
    msteams: { width: "Full" },
  };
  const attachment = { contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content: card };
  return JSON.stringify({ type: "message", attachments: [attachment] });
}

export const teams = defineChannel({
  kind: "teams",
  name: "Microsoft Teams",
  summary: "A card in a channel or a chat, by the webhook of a workflow",
  schema,
  docs: "docs/use/channels/teams.md",
  request(message, { url }) {
    let lines = plainLines(message);
    let body = bodyOf(message, lines);
    // A message has a few dozen lines at most.
    while (Buffer.byteLength(body) > MOST_BYTES && lines.length > 0) {
      lines = lines.slice(0, -1);
      body = bodyOf(message, [...lines, "…"]);
    }
    return { method: "POST", url, headers: { "content-type": "application/json" }, body };
  },
  judge(answer) {
    // The older connectors answer 200 to what they refuse, in words.
    const hasFailed = /webhook message delivery failed|returned HTTP error/i.test(answer.text);
    if (isOk(answer) && !hasFailed) return delivered(answer);
    const [, inner] = /returned HTTP error (\d{3})/i.exec(answer.text) ?? [];
    return refused(answer, { ...(isOk(answer) && { permanent: inner !== undefined && /^40[0134]$/.test(inner) }) });
  },
});
