import { expect, it } from "vitest";
import { channelState } from "./channel-state.ts";

const AT = "2026-11-21T06:10:00.000Z";

it("says that a channel works only where its latest message arrived", () => {
  expect(channelState({ state: "ok", failing_since: null, last_success_at: null })).toBe("untried");
  expect(channelState({ state: "ok", failing_since: null, last_success_at: AT })).toBe("ok");
  expect(channelState({ state: "ok", failing_since: AT, last_success_at: null })).toBe("troubled");
  expect(channelState({ state: "ok", failing_since: AT, last_success_at: AT })).toBe("troubled");
});

it("keeps what the service says otherwise", () => {
  for (const state of ["failing", "off", "unverified"] as const)
    expect(channelState({ state, failing_since: AT, last_success_at: null })).toBe(state);
});
