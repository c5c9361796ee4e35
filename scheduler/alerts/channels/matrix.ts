/** Matrix rooms, by the client-server API. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { Message } from "../../../model/alert-message.ts";
import { delivered, jsonOf, memberOf, refused, textOf, waitOf } from "./answers.ts";
import { defineChannel } from "./define.ts";
import { line, secret, serverOf } from "./fields.ts";
import { fitting, headline, htmlText, itemText, jsonBytes, linksOf, moreLines, plainLines } from "./tidy.ts";

/** https://spec.matrix.org/latest/client-server-api/#size-limits: 65,536 bytes of an event with its signatures, and the text is in it twice. */
const MOST_BYTES = 16_000;
const EVENT_ID = /^\$[\w+/=.:-]{1,254}$/;

const schema = z.strictObject({
  homeserver: serverOf("Where the homeserver's API is, such as https://matrix.test-site.org"),
  room: line(255, "The room's id, !…; an alias (#…) is none").regex(
    /^![^\s]{1,254}$/,
    "must be a room's id, which begins with !",
  ),
  access_token: secret(
    line(1_000, "Access token of the account that writes").regex(/^[\x21-\x7e]+$/, "must be visible ASCII characters"),
  ),
});

function contentOf(message: Message, previous: string | null): unknown {
  const links = linksOf(message);
  const plain = [headline(message), ...plainLines(message)];
  const plainLinks = links.map(([name, url]) => `${name}: ${url}`);
  const html = [
    `<strong>${htmlText(headline(message))}</strong>`,
    ...(message.summary === "" ? [] : [htmlText(message.summary)]),
    ...message.facts.map(([name, value]) => `<b>${htmlText(name)}:</b> ${htmlText(value)}`),
    ...message.items.map((item) => `• ${htmlText(itemText(item))}`),
    ...moreLines(message.more),
  ];
  const htmlLinks = links.map(([name, url]) => `<a href="${htmlText(url)}">${name}</a>`);
  return {
    msgtype: "m.text",
    body: fitting(plain, MOST_BYTES, { sizeOf: jsonBytes, last: plainLinks }),
    format: "org.matrix.custom.html",
    formatted_body: fitting(html, MOST_BYTES, { sizeOf: jsonBytes, separator: "<br>", last: htmlLinks }),
    // Keeps a name from mentioning a person, whatever it contains (https://spec.matrix.org/latest/client-server-api/#user-and-room-mentions).
    "m.mentions": {},
    ...(previous !== null &&
      EVENT_ID.test(previous) && { "m.relates_to": { "m.in_reply_to": { event_id: previous } } }),
  };
}

/** One message for one notification, however often it is sent: the server knows a transaction again. */
function transactionOf(notificationId: string): string {
  return /^[\w-]{1,64}$/.test(notificationId)
    ? notificationId
    : createHash("sha256").update(notificationId).digest("hex");
}

export const matrix = defineChannel({
  kind: "matrix",
  name: "Matrix",
  summary: "A message in a room, which is not encrypted",
  schema,
  docs: "docs/use/channels/matrix.md",
  places: ["homeserver"],
  request: (message, { homeserver, room, access_token }, { notificationId, previous }) => ({
    method: "PUT",
    url: `${homeserver}/_matrix/client/v3/rooms/${encodeURIComponent(room)}/send/m.room.message/sonde-${transactionOf(notificationId)}`,
    headers: { "content-type": "application/json", authorization: `Bearer ${access_token}` },
    body: JSON.stringify(contentOf(message, previous)),
  }),
  judge(answer) {
    const json = jsonOf(answer);
    const event = textOf(memberOf(json, "event_id"));
    if (answer.status === 200 && event !== null) return delivered(answer, event);
    const code = textOf(memberOf(json, "errcode"));
    const words = [code, textOf(memberOf(json, "error"))].filter((text) => text !== null).join(": ");
    const retryAfterMs = waitOf(memberOf(json, "retry_after_ms"), 1);
    return refused(answer, {
      words,
      retryAfterMs,
      ...(answer.status === 200 && { permanent: code !== null }),
    });
  },
});
