import { describe, expect, it } from "vitest";
import { outcomeOf } from "../fixtures.suite.ts";
import { ProberRelay } from "./prober-relay.ts";
import type { ProberEvents } from "./probers.ts";

/** Writes down what it is told. */
function listener(): { readonly heard: string[]; readonly events: ProberEvents } {
  const heard: string[] = [];
  const events: ProberEvents = {
    onOutcomes: (outcomes) => void heard.push(`outcomes ${outcomes.map(({ checkId }) => checkId)}`),
    onPending: (outcomes) => void heard.push(`pending ${outcomes.map(({ checkId }) => checkId)}`),
    onFitness: (prober) => void heard.push(`fitness ${prober}`),
    onChange: ({ type }) => void heard.push(type),
    onAvailability: () => void heard.push("availability"),
    onTrouble: () => void heard.push("trouble"),
    onRefused: (location, count) => void heard.push(`refused ${count} of ${location}`),
  };
  return { heard, events };
}

describe("ProberRelay", () => {
  it("keeps reports until there is a listener, and passes on all of them once, in order", () => {
    const relay = new ProberRelay();
    const { heard, events } = listener();
    relay.onChange({ type: "up", detail: "one" });
    relay.onAvailability();
    relay.onPending([outcomeOf(1)]);
    relay.onOutcomes([outcomeOf(1), outcomeOf(2)]);
    expect(heard).toEqual([]);
    relay.listen(events);
    expect(heard).toEqual(["up", "availability", "pending 1", "outcomes 1,2"]);
    relay.onFitness(3, { fit: true, reasons: [] } as never);
    relay.onRefused("de", 2, "it is none");
    relay.onTrouble(new Error("away"));
    expect(heard.slice(4)).toEqual(["fitness 3", "refused 2 of de", "trouble"]);
  });
});
