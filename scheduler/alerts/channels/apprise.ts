/** An Apprise API server beside Sonde: it knows more than a hundred further services (https://github.com/caronc/apprise-api). */
import { z } from "zod";
import type { MessageSeverity } from "../../../model/alert-message.ts";
import { delivered, isOk, jsonOf, memberOf, refused, textOf } from "./answers.ts";
import { jsonPost } from "./channel.ts";
import { defineChannel } from "./define.ts";
import { line, optionalLine, secret, serverOf } from "./fields.ts";
import { plainText } from "./tidy.ts";

/** Characters; Apprise itself cuts for each service, and 32,768 is what its longest takes. Our choice: a screen or two. */
const MOST_TEXT = 4_000;
/** https://github.com/caronc/apprise-api#api-details: no service was there to notify. */
const NO_CONTENT = 204;
/** The same: at least one of the services was not notified. */
const FAILED_DEPENDENCY = 424;

const TYPES: Readonly<Record<MessageSeverity, string>> = {
  critical: "failure",
  warning: "warning",
  info: "info",
  ok: "success",
};

const schema = z
  .strictObject({
    server: serverOf("Where the Apprise API is, such as http://127.0.0.1:8000"),
    urls: secret(
      z
        .array(
          line(2_000, "An Apprise URL").regex(/^[a-z][a-z0-9+.-]*:\/\//i, "must be an Apprise URL, such as signal://…"),
          { error: "must be a list of Apprise URLs" },
        )
        .min(1, "must have one at least")
        .max(20, "must have at most 20")
        .nullable()
        .default(null)
        .describe("Whom Apprise tells, as Apprise writes it"),
    ),
    key: secret(
      optionalLine(64, "Key of a configuration that the server keeps, instead of urls").refine(
        (text) => text === null || /^[\w-]{1,64}$/.test(text),
        "must be letters, digits, - and _",
      ),
    ),
    tag: optionalLine(100, "Of a configuration: those with this tag only"),
  })
  .refine(({ urls, key }) => (urls === null) !== (key === null), {
    error: "one of urls and key is needed",
    path: ["urls"],
  });

export const apprise = defineChannel({
  kind: "apprise",
  name: "Apprise",
  summary: "Any service that Apprise knows, by an Apprise API server of yours",
  schema,
  docs: "docs/use/channels/apprise.md",
  places: ["server"],
  request(message, { server, urls, key, tag }) {
    const text = plainText(message, MOST_TEXT);
    const body = {
      ...(urls !== null && { urls: urls.join(",") }),
      title: message.title,
      body: text,
      type: TYPES[message.severity],
      format: "text",
      ...(tag !== null && { tag }),
    };
    return jsonPost(`${server}/notify${key === null ? "" : `/${key}`}`, body, { accept: "application/json" });
  },
  judge(answer) {
    if (answer.status === NO_CONTENT)
      return refused(answer, { words: "no service has this key or tag", permanent: true });
    const json = jsonOf(answer);
    const words = textOf(memberOf(json, "error"));
    if (isOk(answer) && words === null) return delivered(answer);
    const isAnswered = answer.status === FAILED_DEPENDENCY || isOk(answer);
    return refused(answer, { words, ...(isAnswered && { permanent: false }) });
  },
});
