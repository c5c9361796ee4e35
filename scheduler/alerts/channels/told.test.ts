/** What a message tells people: its links are never left out for want of room, and nothing is said more often than it must. */
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

/** Of one thing alone, as the sender makes it. */
const WHY = "connection refused by the far end";
const ALONE = {
  ...MESSAGE,
  ...{ title: `Berlin 3 is down: ${WHY}`, summary: WHY, facts: [["Why", WHY]] as const, more: 0 },
  items: [{ ...(MESSAGE.items[0] as (typeof MESSAGE.items)[number]), why: WHY }],
};
/** What reads them takes each part from its place. */
const PROGRAMS = new Set(["custom", "pagerduty", "webhook"]);

it.each(SERVICES.map((one) => [one.settings("x").flavour ?? one.kind, one] as const))(
  "says why one thing is down no more often than it must, by %s",
  (_name, { kind, settings }) => {
    const body = channelKind(kind)?.request?.(ALONE, settings("http://127.0.0.1:1"), CONTEXT).body ?? "";
    // Once in the title, which some services show at two places, and once as a fact; Matrix has all of it with markup and without.
    if (!PROGRAMS.has(kind)) expect(body.split(WHY).length - 1).toBeLessThanOrEqual(kind === "matrix" ? 4 : 3);
    expect(body).toContain(WHY);
  },
);
