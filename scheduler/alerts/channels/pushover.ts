/** Pushover. */
import { z } from "zod";
import { isAllOver } from "../../../model/alert-message.ts";
import { delivered, jsonOf, memberOf, refused, textOf } from "./answers.ts";
import { jsonPost } from "./channel.ts";
import { defineChannel } from "./define.ts";
import { line, optionalLine, secret, server, whole } from "./fields.ts";
import { cut, fitting, plainLines } from "./tidy.ts";

/** https://pushover.net/api#limits: characters. */
const MOST = { title: 250, message: 1_024, url: 512, urlTitle: 100 } as const;
/** https://pushover.net/api#priority: emergency. */
const EMERGENCY = 2;

const key = (what: string) => line(30, what).regex(/^[A-Za-z0-9]{30}$/, "must be 30 letters and digits");

const schema = z.strictObject({
  server: server("https://api.pushover.net", "Where the API is"),
  token: secret(key("The application's API token")),
  user: secret(key("Your user key, or a group's")),
  device: optionalLine(25, "Device; without it all of the user's").refine(
    (text) => text === null || /^[\w,-]{1,25}$/.test(text),
    "must be letters, digits, - and _",
  ),
  sound: optionalLine(40, "Sound").refine((text) => text === null || /^\w{1,40}$/.test(text), "must be a sound's name"),
  priority: whole(-2, 2, 0, "-2 (silent) to 2 of messages that are not critical"),
  priority_down: whole(-2, 2, 1, "-2 to 2 of critical ones; 2 repeats until a person confirms it"),
  retry: whole(30, 10_800, 60, "Seconds between repetitions of priority 2"),
  expire: whole(30, 10_800, 3_600, "Seconds after which priority 2 stops"),
});
type Settings = z.infer<typeof schema>;

export const pushover = defineChannel({
  kind: "pushover",
  name: "Pushover",
  summary: "A push message to phones, which can repeat until a person confirms it",
  schema,
  docs: "docs/use/channels/pushover.md",
  places: ["server"],
  request(message, settings: Settings) {
    const text = fitting(plainLines(message), MOST.message);
    const priority = message.severity === "critical" ? settings.priority_down : settings.priority;
    return jsonPost(`${settings.server}/1/messages.json`, {
      token: settings.token,
      user: settings.user,
      title: cut(message.title, MOST.title),
      message: text === "" ? cut(message.title, MOST.message) : text,
      priority,
      ...(priority === EMERGENCY && { retry: settings.retry, expire: settings.expire }),
      ...(settings.device !== null && { device: settings.device }),
      ...(settings.sound !== null && { sound: settings.sound }),
      ...(message.link !== "" && message.link.length <= MOST.url && { url: message.link, url_title: "Open" }),
      timestamp: Math.floor(Date.parse(message.at) / 1_000),
    });
  },
  // https://pushover.net/api/receipts#cancel: an emergency that is over repeats no more.
  afterwards(message, { server: base, token }, { previous }) {
    const isOver = isAllOver(message) || message.reason === "acknowledged";
    if (!isOver || previous === null || !/^[A-Za-z0-9]{30}$/.test(previous)) return null;
    return jsonPost(`${base}/1/receipts/${previous}/cancel.json`, { token });
  },
  judge(answer) {
    const json = jsonOf(answer);
    if (answer.status === 200 && memberOf(json, "status") === 1) {
      return delivered(answer, textOf(memberOf(json, "receipt")));
    }
    const errors = memberOf(json, "errors");
    const words = Array.isArray(errors)
      ? errors
          .map(textOf)
          .filter((text) => text !== null)
          .join("; ")
      : "";
    return refused(answer, {
      words,
      ...(answer.status === 200 && { permanent: memberOf(json, "status") === 0 }),
    });
  },
});
