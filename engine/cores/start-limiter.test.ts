import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { StartLimiter } from "./start-limiter.ts";

/** So many that want to begin. @returns what those that have begun give back, in their order */
function ask(count: number) {
  const beginnings = new StartLimiter();
  const begun: (() => void)[] = [];
  for (let index = 0; index < count; index++) beginnings.acquire((giveBack) => begun.push(giveBack));
  return begun;
}

describe("checks in a core", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("begin a few at a time, the next when one is over", () => {
    const begun = ask(40);
    expect(begun).toHaveLength(16);
    begun[3]?.();
    begun[3]?.();
    expect(begun).toHaveLength(17);
  });

  it("do not wait for one whose server takes long", () => {
    const begun = ask(40);
    vi.advanceTimersByTime(50);
    expect(begun).toHaveLength(32);
    for (const giveBack of begun.slice(0, 16)) giveBack();
    expect(begun).toHaveLength(32);
  });

  it("begin more at a time where a crowd waits, and few again when it is gone", () => {
    const begun = ask(200);
    expect(begun).toHaveLength(48);
    for (let over = 0; over < 80; over++) begun[over]?.();
    // 101 wait, of whom the last makes no crowd: the 48 become 16 before another begins.
    expect(begun).toHaveLength(101);
    for (let over = 80; over < 86; over++) begun[over]?.();
    expect(begun).toHaveLength(102);
  });
});
