/** Google Chat, by the webhook of a space. */
import { z } from "zod";
import type { Message } from "../../../model/alert-message.ts";
import { delivered, isOk, jsonOf, memberOf, refused, textOf } from "./answers.ts";
import { jsonPost } from "./channel.ts";
import { defineChannel } from "./define.ts";
import { address, secret } from "./fields.ts";
import { brokenUp, fitting, headline, itemText, jsonBytes, linksOf, moreLines } from "./tidy.ts";

/** https://developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages: 32,000 bytes of a message; ours is JSON as well. */
const MOST_BYTES = 16_000;
/** https://developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages#thread: characters of a key. */
const MOST_KEY = 4_000;

const schema = z.strictObject({
  url: secret(address("The space's webhook, https://chat.googleapis.com/v1/spaces/…")),
});

/** Texts of cards are a kind of HTML (https://developers.google.com/workspace/chat/format-messages#card-formatting). */
export function cardText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** Plain texts have no escapes: `<users/all>` calls all members, `*x*` is bold. What would begin either is taken apart. */
export function chatText(text: string): string {
  return brokenUp(text.replaceAll("<", "‹").replaceAll(">", "›"), /[*_~`]/g);
}

function cardOf(message: Message): unknown {
  const lines = [
    ...(message.summary === "" ? [] : [cardText(message.summary)]),
    ...message.facts.map(([name, value]) => `<b>${cardText(name)}:</b> ${cardText(value)}`),
    ...message.items.map((item) => `• ${cardText(itemText(item))}`),
    ...moreLines(message.more),
  ];
  const buttons = linksOf(message).map(([text, url]) => ({ text, onClick: { openLink: { url } } }));
  const text = fitting(lines, MOST_BYTES, { sizeOf: jsonBytes, separator: "<br>" });
  return {
    header: { title: chatText(headline(message)) },
    sections: [
      {
        widgets: [
          ...(text === "" ? [] : [{ textParagraph: { text } }]),
          ...(buttons.length === 0 ? [] : [{ buttonList: { buttons } }]),
        ],
      },
    ],
  };
}

export const googleChat = defineChannel({
  kind: "google_chat",
  name: "Google Chat",
  summary: "A card in a space, by its webhook; messages of one problem are a thread",
  schema,
  docs: "docs/use/channels/google_chat.md",
  request(message, { url: text }) {
    const url = new URL(text);
    url.searchParams.set("messageReplyOption", "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD");
    const body = {
      text: chatText(headline(message)),
      cardsV2: [{ cardId: "alert", card: cardOf(message) }],
      thread: { threadKey: message.groupKey.slice(0, MOST_KEY) },
    };
    return jsonPost(url.href, body, { "content-type": "application/json; charset=UTF-8" });
  },
  judge(answer) {
    const json = jsonOf(answer);
    if (isOk(answer) && memberOf(json, "error") === undefined) return delivered(answer, textOf(memberOf(json, "name")));
    const words = textOf(memberOf(memberOf(json, "error"), "message"));
    return refused(answer, { words, ...(isOk(answer) && { permanent: true }) });
  },
});
