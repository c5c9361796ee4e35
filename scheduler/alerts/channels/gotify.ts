/** Gotify, a server of one's own. */
import { z } from "zod";
import { delivered, isOk, jsonOf, memberOf, refused, textOf } from "./answers.ts";
import { jsonPost } from "./channel.ts";
import { defineChannel } from "./define.ts";
import { line, secret, serverOf, whole } from "./fields.ts";
import { plainText } from "./tidy.ts";

/** Characters; Gotify has no limit of its own (https://gotify.net/docs/pushmsg), a phone's screen has. */
const MOST_TEXT = 4_000;

const schema = z.strictObject({
  server: serverOf("Where Gotify is, such as https://push.test-site.org"),
  token: secret(line(64, "The application's token").regex(/^[\w.-]{1,64}$/, "must be letters, digits, ., - and _")),
  priority: whole(0, 10, 4, "0 to 10 of messages that are not critical"),
  priority_down: whole(0, 10, 8, "0 to 10 of critical ones"),
});

export const gotify = defineChannel({
  kind: "gotify",
  name: "Gotify",
  summary: "A push message by a Gotify server",
  schema,
  docs: "docs/use/channels/gotify.md",
  places: ["server"],
  request(message, settings) {
    const text = plainText(message, MOST_TEXT);
    const body = {
      title: message.title,
      message: text,
      priority: message.severity === "critical" ? settings.priority_down : settings.priority,
      // https://gotify.net/docs/msgextras: shown as it is, not as Markdown.
      extras: {
        "client::display": { contentType: "text/plain" },
        ...(message.link !== "" && { "client::notification": { click: { url: message.link } } }),
      },
    };
    return jsonPost(`${settings.server}/message`, body, { "x-gotify-key": settings.token });
  },
  judge(answer) {
    const json = jsonOf(answer);
    if (isOk(answer) && memberOf(json, "error") === undefined) return delivered(answer, textOf(memberOf(json, "id")));
    const words = textOf(memberOf(json, "errorDescription")) ?? textOf(memberOf(json, "error"));
    return refused(answer, { words, ...(isOk(answer) && { permanent: true }) });
  },
});
