import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { TestResult } from "../../store/sql/jobs/port.ts";
import { LONGEST_WAIT_MS, waitForTest } from "./waiting.ts";

const END: TestResult = {
  reason: "ran",
  status: "healthy",
  latencyMs: 1,
  connectMs: null,
  message: null,
  testedAtMs: 5,
};

describe("waitForTest", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function scene() {
    let end: TestResult | null | undefined = null;
    let looks = 0;
    const listeners = new Set<() => void>();
    const closing = new AbortController();
    const options = {
      jobs: {
        async testResult() {
          looks += 1;
          return end;
        },
      },
      notices: {
        subscribe(_topic: string, listener: () => void) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      closing: closing.signal,
    };
    return {
      options,
      closing,
      listeners,
      looks: () => looks,
      end: (value: TestResult | undefined) => {
        end = value;
      },
      tell: () => listeners.forEach((listener) => void listener()),
    };
  }

  it("gives up after 75 seconds, not before", async () => {
    const { options, listeners, looks } = scene();
    let answer: unknown = "waiting";
    const waiting = waitForTest(options, 1).then((end) => {
      answer = end;
    });
    await vi.advanceTimersByTimeAsync(LONGEST_WAIT_MS - 1);
    expect(LONGEST_WAIT_MS).toBe(75_000);
    expect(answer).toBe("waiting");
    await vi.advanceTimersByTimeAsync(1);
    await waiting;
    expect(answer).toBeNull();
    expect(listeners.size).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    expect(looks()).toBeGreaterThanOrEqual(74);
  });

  it("hears at once by a notice, and within a second without", async () => {
    const told = scene();
    const first = waitForTest(told.options, 1);
    await vi.advanceTimersByTimeAsync(10);
    told.end(END);
    told.tell();
    expect(await first).toEqual(END);
    const untold = scene();
    const second = waitForTest(untold.options, 1);
    untold.end(END);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await second).toEqual(END);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not miss a notice that comes while it looks", async () => {
    const at = scene();
    let open: (end: TestResult | null) => void = () => {};
    let looks = 0;
    const testResult = (): Promise<TestResult | null> => {
      looks += 1;
      return looks === 1 ? new Promise((resolve) => (open = resolve)) : Promise.resolve(END);
    };
    const waiting = waitForTest({ ...at.options, jobs: { testResult } }, 1);
    at.tell();
    open(null);
    expect(await waiting).toEqual(END);
    expect(looks).toBe(2);
  });

  it("ends when the monitor is gone, the store fails, or the API stops", async () => {
    const gone = scene();
    gone.end(undefined);
    expect(await waitForTest(gone.options, 1)).toBeUndefined();
    const failing = scene();
    const testResult = () => Promise.reject(new Error("away"));
    await expect(waitForTest({ ...failing.options, jobs: { testResult } }, 1)).rejects.toThrow("away");
    const stopping = scene();
    const waiting = waitForTest(stopping.options, 1);
    stopping.closing.abort();
    expect(await waiting).toBeNull();
    expect(await waitForTest(stopping.options, 1)).toBeNull();
    expect(vi.getTimerCount()).toBe(0);
  });
});
