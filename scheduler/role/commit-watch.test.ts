import { expect, it } from "vitest";
import { CommitWatch } from "./commit-watch.ts";

function watched(first: number | null) {
  const state = { stamp: first, nowMs: 0 };
  const watch = new CommitWatch(
    () => state.stamp,
    () => state.nowMs,
  );
  return { state, watch };
}

it("has news after each commit, and none without one", () => {
  const { state, watch } = watched(7);
  expect(watch.hasNews()).toBe(true);
  expect(watch.hasNews()).toBe(false);
  state.stamp = 8;
  expect(watch.hasNews()).toBe(true);
  state.nowMs = 4_999;
  expect(watch.hasNews()).toBe(false);
});

it("says yes every five seconds, and after a failure", () => {
  const { state, watch } = watched(7);
  watch.hasNews();
  state.nowMs = 5_000;
  expect(watch.hasNews()).toBe(true);
  expect(watch.hasNews()).toBe(false);
  watch.forget();
  expect(watch.hasNews()).toBe(true);
});

it("says yes while the stamp cannot be read", () => {
  const watch = new CommitWatch(
    () => {
      throw new Error("disk I/O error");
    },
    () => 0,
  );
  expect([watch.hasNews(), watch.hasNews()]).toEqual([true, true]);
});

it("says yes each time where the database has no stamp", () => {
  const { watch } = watched(null);
  expect([watch.hasNews(), watch.hasNews()]).toEqual([true, true]);
});
