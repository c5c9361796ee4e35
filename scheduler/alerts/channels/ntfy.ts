/** ntfy, at ntfy.sh or at a server of one's own. */
import { z } from "zod";
import type { Message, MessageSeverity } from "../../../model/alert-message.ts";
import { delivered, isOk, jsonOf, memberOf, refused, textOf } from "./answers.ts";
import { jsonPost } from "./channel.ts";
import { defineChannel } from "./define.ts";
import { line, optionalLine, secret, server, whole } from "./fields.ts";
import { cut, fitting, plainLines } from "./tidy.ts";

/** https://docs.ntfy.sh/publish/#limitations: bytes of a message; a longer one becomes an attachment. */
const MOST_BYTES = 4_096;
/** https://docs.ntfy.sh/publish/#message-title: no limit is written; what a phone shows. */
const MOST_TITLE = 250;

/** https://docs.ntfy.sh/emojis */
const TAGS: Readonly<Record<MessageSeverity, string>> = {
  critical: "rotating_light",
  warning: "warning",
  info: "information_source",
  ok: "white_check_mark",
};

const schema = z
  .strictObject({
    server: server("https://ntfy.sh", "Where ntfy is"),
    topic: line(64, "Topic; with ntfy.sh a word that others cannot guess, as it is the only key").regex(
      /^[-\w]{1,64}$/,
      "must be 1 to 64 letters, digits, - and _",
    ),
    priority: whole(1, 5, 3, "1 (least) to 5 of messages that are not critical"),
    priority_down: whole(1, 5, 5, "1 (least) to 5 of critical ones"),
    token: secret(
      optionalLine(200, "Access token, tk_…").refine(
        (text) => text === null || /^[\w-]+$/.test(text),
        "must be letters, digits, - and _",
      ),
    ),
    user: optionalLine(100, "User name, where there is no token"),
    password: secret(optionalLine(200, "The user's password")),
  })
  .refine(({ user, password }) => (user === null) === (password === null), {
    error: "user and password belong together",
    path: ["password"],
  });
type Settings = z.infer<typeof schema>;

function authorization({ token, user, password }: Settings): Readonly<Record<string, string>> {
  if (token !== null) return { authorization: `Bearer ${token}` };
  if (user === null) return {};
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
}

/** https://docs.ntfy.sh/publish/#action-buttons: the one that acknowledges sends the request itself. */
function actionsOf({ link, acknowledge }: Message): readonly unknown[] {
  return [
    ...(link === "" ? [] : [{ action: "view", label: "Open", url: link }]),
    ...(acknowledge === null
      ? []
      : [{ action: "http", label: "Acknowledge", url: acknowledge, method: "POST", clear: true }]),
  ];
}

export const ntfy = defineChannel({
  kind: "ntfy",
  name: "ntfy",
  summary: "A push message to phones and browsers that listen to a topic",
  schema,
  docs: "docs/use/channels/ntfy.md",
  places: ["server"],
  request(message, settings) {
    const text = fitting(plainLines(message), MOST_BYTES, { sizeOf: (line) => Buffer.byteLength(line) });
    const body = {
      topic: settings.topic,
      title: cut(message.title, MOST_TITLE),
      message: text === "" ? message.title : text,
      priority: message.severity === "critical" ? settings.priority_down : settings.priority,
      tags: [TAGS[message.severity]],
      ...(message.link !== "" && { click: message.link }),
      actions: actionsOf(message),
    };
    return jsonPost(settings.server, body, authorization(settings));
  },
  judge(answer) {
    const json = jsonOf(answer);
    if (isOk(answer) && memberOf(json, "error") === undefined) return delivered(answer, textOf(memberOf(json, "id")));
    const words = textOf(memberOf(json, "error"));
    return refused(answer, { words, ...(isOk(answer) && { permanent: true }) });
  },
});
