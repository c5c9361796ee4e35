/** Messages that every kind of channel must bring: an ordinary one, and such as have names that mean something to a service, or do harm. */
import type { Message } from "../../../model/alert-message.ts";

export const MESSAGE: Message = {
  reason: "opened",
  severity: "critical",
  title: "Berlin 3 is down",
  summary: "nothing comes back through the tunnel (de, nl)",
  facts: [
    ["why", "timed out"],
    ["since", "2026-11-26T03:00:00.000Z"],
  ],
  items: [
    {
      id: "srv_3",
      name: "Berlin 3",
      state: "down",
      why: "timed out",
      since: "03:00",
      url: "https://sonde.test-site.org/#/monitors/srv_3",
    },
  ],
  more: 0,
  link: "https://sonde.test-site.org/#/incidents/inc_9",
  acknowledge: "https://sonde.test-site.org/ack/abc",
  groupKey: "rule 1 host a",
  at: "2026-11-26T03:00:05.000Z",
};

export const HOSTILE_NAMES = [
  "@everyone @here @channel @all <!channel> <!everyone> <users/all> <@12345678901234567>",
  "</script><script>alert(1)</script><b><a href='x'>",
  "*x* _y_ ~z~ `c` [a](b) **d** ||e|| # f - g > h | i \\ j",
  "ab".repeat(5_000),
  "\\".repeat(300),
  ":a:*".repeat(100),
  "\u202egpj.exe\u2066 \u0000\u0007\r\nX-Injected: 1\r\n\r\n",
  "&amp; &lt; &#39; \" ' {{ 7 | times: 7 }} {% raw %} %0d%0a",
  `\ud800 lone, and half of a pair at the cut: ${"😀".repeat(200)}`,
  "",
];

export function hostile(name: string): Message {
  const item = { ...(MESSAGE.items[0] as Message["items"][number]), name, why: name, state: name, since: name };
  return {
    ...MESSAGE,
    title: `${name} is down`,
    summary: name,
    facts: Array.from({ length: 30 }, () => [name, name] as const),
    items: Array.from({ length: 25 }, () => item),
    more: 17,
    groupKey: name === "" ? "empty" : name,
  };
}
