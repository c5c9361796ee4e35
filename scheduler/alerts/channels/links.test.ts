/** Links of a message about many: what is left out for want of room is never what a person can do about it. */
import { expect, it } from "vitest";
import { channelKind } from "./index.ts";
import { MESSAGE } from "./messages.suite.ts";
import { CONTEXT, SERVICES } from "./services.suite.ts";

/** As the longest names and words are. */
const LONG = {
  ...MESSAGE,
  items: Array.from({ length: 20 }, (_, index) => ({
    ...(MESSAGE.items[0] as (typeof MESSAGE.items)[number]),
    name: `Berlin ${index} `.padEnd(120, "x"),
    why: "(Answered with status 500, accepted is 200-299) ".repeat(6),
  })),
  more: 40,
};
/** It has one address only, which opens. */
const NO_ACKNOWLEDGING = new Set(["pushover"]);
/** Templates of a person's own. */
const OWN_WORDS = new Set(["custom"]);

it.each(
  SERVICES.filter(({ kind }) => !OWN_WORDS.has(kind)).map(
    (one) => [one.settings("x").flavour ?? one.kind, one] as const,
  ),
)("are in a message by %s however long its list is", (_name, { kind, settings }) => {
  const body = channelKind(kind)?.request?.(LONG, settings("http://127.0.0.1:1"), CONTEXT).body ?? "";
  expect(body).toContain(LONG.link);
  if (!NO_ACKNOWLEDGING.has(kind)) expect(body).toContain(LONG.acknowledge);
});
