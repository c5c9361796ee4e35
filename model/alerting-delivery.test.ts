import { describe, expect, it } from "vitest";
import { ALERT_RETRY_DELAYS_MS, afterAttempt } from "./alerting-delivery.ts";

const FAILED = { delivered: false, permanent: false, retryAfterMs: null };

describe("afterAttempt", () => {
  it("tries eight times over some hours, a tenth earlier or later", () => {
    const delays = ALERT_RETRY_DELAYS_MS.map(
      (_, index) => afterAttempt(FAILED, index + 1, false, 0, 0.5).nextAttemptAtMs,
    );
    expect(delays).toEqual([5, 30, 120, 600, 1_800, 3_600, 7_200].map((s) => s * 1_000));
    expect(afterAttempt(FAILED, 8, false, 0, 0.5)).toEqual({ state: "failed", nextAttemptAtMs: null });
    expect(afterAttempt(FAILED, 1, false, 100, 0).nextAttemptAtMs).toBe(4_600);
    expect(afterAttempt(FAILED, 1, false, 100, 1).nextAttemptAtMs).toBe(5_600);
  });

  it("waits as long as the service asks for, a day at most", () => {
    expect(afterAttempt({ ...FAILED, retryAfterMs: 60_000 }, 1, false, 0, 0.5).nextAttemptAtMs).toBe(60_000);
    expect(afterAttempt({ ...FAILED, retryAfterMs: 1 }, 1, false, 0, 0.5).nextAttemptAtMs).toBe(5_000);
    expect(afterAttempt({ ...FAILED, retryAfterMs: 1e12 }, 1, false, 0, 0.5).nextAttemptAtMs).toBe(86_400_000);
  });

  it("asks a channel that refused for good again after an hour, and ends with a delivery", () => {
    expect(afterAttempt({ ...FAILED, permanent: true }, 1, false, 0, 0.5).nextAttemptAtMs).toBe(5_000);
    expect(afterAttempt({ ...FAILED, permanent: true }, 2, true, 0, 0.5).nextAttemptAtMs).toBe(3_600_000);
    const delivered = { delivered: true, permanent: false, retryAfterMs: null };
    expect(afterAttempt(delivered, 3, true, 0, 0.5)).toEqual({ state: "delivered", nextAttemptAtMs: null });
  });
});
