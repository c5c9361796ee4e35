/** Gotify, a server of one's own. */
import { z } from "zod";
import { withoutTrailing } from "../../../model/text.ts";
import { delivered, isOk, jsonOf, memberOf, refused, textOf } from "./answers.ts";
import { defineChannel } from "./define.ts";
import { address, line, secret } from "./fields.ts";
import { plainText } from "./tidy.ts";

/** Characters; Gotify has no limit of its own (https://gotify.net/docs/pushmsg), a phone's screen has. */
const MOST_TEXT = 4_000;

const priority = (what: string, standard: number) =>
  z
    .int({ error: "must be a whole number from 0 to 10" })
    .min(0, "must be a whole number from 0 to 10")
    .max(10, "must be a whole number from 0 to 10")
    .default(standard)
    .describe(what);

const schema = z.strictObject({
  server: address("Where Gotify is, such as https://push.test-site.org").transform((text) =>
    withoutTrailing(text, "/"),
  ),
  token: secret(line(64, "The application's token").regex(/^[\w.-]{1,64}$/, "must be letters, digits, ., - and _")),
  priority: priority("0 to 10 of messages that are not critical", 4),
  priority_down: priority("0 to 10 of critical ones", 8),
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
    return {
      method: "POST",
      url: `${settings.server}/message`,
      headers: { "content-type": "application/json", "x-gotify-key": settings.token },
      body: JSON.stringify(body),
    };
  },
  judge(answer) {
    const json = jsonOf(answer);
    if (isOk(answer) && memberOf(json, "error") === undefined) return delivered(answer, textOf(memberOf(json, "id")));
    const words = textOf(memberOf(json, "errorDescription")) ?? textOf(memberOf(json, "error"));
    return refused(answer, { ...(words !== null && { words }), ...(isOk(answer) && { permanent: true }) });
  },
});
