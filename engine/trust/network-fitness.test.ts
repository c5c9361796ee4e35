import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { VERDICTS, type Verdict } from "../../model/verdict.ts";
import { mustEqual } from "../../testkit/must.ts";
import { assertProperty } from "../../testkit/property.ts";
import { groupOf, NetworkFitness } from "./network-fitness.ts";
import { SuspectBuffer } from "./suspect-buffer.ts";

const gateway = { name: "icmp:192.168.0.1", kind: "icmp", isFar: false } as const;
const resolver = { name: "dns:9.9.9.9", kind: "dns", isFar: true } as const;

describe("the crowd", () => {
  test("five unrelated, recently healthy targets", () => {
    const network = new NetworkFitness();
    for (let each = 1; each <= 4; each++) network.note(`site${each}.org`, "timeout", true, each);
    expect(network.isCut(4)).toBe(false);
    network.note("site5.org", "unreachable", true, 5);
    expect(network.isCut(5)).toBe(true);
    expect(network.excuses("timeout", -9_999, 1)).toBe(true);
    expect(network.excuses("timeout", -9_999, -1_500)).toBe(false);
  });

  test("is seen although thousands passed a moment before", () => {
    const network = new NetworkFitness();
    for (let each = 0; each < 5_000; each++) network.note(`site${each}.org`, "ok", true, each / 10);
    for (let each = 0; each < 5; each++) network.note(`site${each}.org`, "unreachable", true, 501);
    expect(network.isCut(501)).toBe(true);
  });

  test("is not seen in failures among passes, of related hosts, of targets that were down, or spread over time", () => {
    const network = new NetworkFitness();
    for (let each = 0; each < 1_000; each++)
      network.note(`site${each}.org`, each % 3 === 0 ? "timeout" : "ok", true, each);
    for (let each = 0; each < 50; each++) network.note(`www${each}.shop.co.uk`, "timeout", true, 20_000 + each);
    for (let each = 0; each < 50; each++) network.note(`203.0.114.${each}`, "timeout", true, 40_000 + each);
    for (let each = 0; each < 50; each++) network.note(`dead${each}.org`, "timeout", false, 60_000 + each);
    for (let each = 0; each < 50; each++) network.note(`rare${each}.org`, "timeout", true, 80_000 + each * 3_000);
    for (let each = 0; each < 50; each++) network.note(`own${each}.org`, "unfit", true, 300_000 + each);
    for (let each = 0; each < 50; each++) network.note(`127.0.0.${each}`, "refused", true, 310_000 + each);
    expect(network.excuses("timeout", 0, 400_000)).toBe(false);
  });

  test("is over when two of the last five pass; checks that began before are still excused", () => {
    const network = new NetworkFitness();
    for (let each = 0; each < 30; each++) network.note(`site${each}.org`, "timeout", true, 1_000 + each);
    network.note("site1.org", "ok", true, 60_000);
    for (let each = 5; each < 30; each++) network.note(`site${each}.org`, "timeout", true, 60_001 + each);
    expect(network.isCut(60_100)).toBe(true);
    network.note("site2.org", "ok", true, 61_000);
    network.note("site3.org", "ok", true, 61_001);
    expect(network.isCut(61_001)).toBe(false);
    expect(network.excuses("timeout", 60_500, 70_500)).toBe(true);
    expect(network.excuses("timeout", 61_002, 71_002)).toBe(false);
    // The kernel's own questions from the cut may still have to fail.
    expect(network.excuses("unreachable", 62_000, 62_200)).toBe(true);
    expect(network.excuses("unreachable", 65_000, 65_200)).toBe(false);
  });

  test("a far canary that was just reached disproves it, a near one does not", () => {
    const near = new NetworkFitness();
    near.canary({ ...gateway, reached: true }, 0);
    for (let each = 0; each < 9; each++) near.note(`site${each}.org`, "timeout", true, each);
    expect(near.isCut(9)).toBe(true);
    const far = new NetworkFitness();
    far.canary({ ...resolver, reached: true }, 0);
    for (let each = 0; each < 9; each++) far.note(`site${each}.org`, "timeout", true, each);
    expect(far.isCut(9)).toBe(false);
    for (let each = 0; each < 9; each++) far.note(`site${each}.org`, "timeout", true, 8_000 + each);
    expect(far.isCut(8_009)).toBe(true);
    far.canary({ ...resolver, reached: true }, 8_500);
    expect(far.isCut(8_500)).toBe(false);
  });

  test("is over after ten minutes without a result, and said again by the next five", () => {
    const network = new NetworkFitness();
    const fail = (atMs: number) => {
      for (let each = 0; each < 5; each++) network.note(`site${each}.org`, "timeout", true, atMs + each);
    };
    fail(1_000);
    expect(network.isCut(1_004 + 599_999)).toBe(true);
    expect(network.isCut(1_004 + 600_000)).toBe(false);
    fail(700_000);
    expect(network.isCut(700_004)).toBe(true);
  });

  test("a canary that fails keeps a cut although the crowd is old", () => {
    const network = new NetworkFitness();
    network.canary({ ...resolver, reached: true }, 0);
    for (let each = 0; each < 5; each++) network.note(`site${each}.org`, "timeout", true, 10_000 + each);
    for (const atMs of [11_000, 12_000]) network.canary({ ...resolver, reached: false }, atMs);
    expect(network.isCut(900_000)).toBe(true);
  });
});

describe("canaries", () => {
  test("count only after they were reached once, and say cut when all have failed twice", () => {
    const network = new NetworkFitness();
    for (let each = 0; each < 5; each++) network.canary({ ...gateway, reached: false }, each);
    expect(network.isCut(5)).toBe(false);
    network.canary({ ...gateway, reached: true }, 1_000);
    network.canary({ ...resolver, reached: true }, 1_000);
    for (let each = 0; each < 2; each++) network.canary({ ...gateway, reached: false }, 6_000 + each * 500);
    network.canary({ ...resolver, reached: false }, 6_000);
    expect(network.isCut(6_500)).toBe(false);
    network.canary({ ...resolver, reached: false }, 6_500);
    expect(network.isCut(6_500)).toBe(true);
    // The cut began when the last of them was last reached.
    expect(network.excuses("timeout", 1_000, 1_001)).toBe(true);
    expect(network.excuses("timeout", 0, 999)).toBe(false);
    network.canary({ ...resolver, reached: true }, 9_000);
    expect(network.isCut(9_000)).toBe(false);
    expect(network.excuses("timeout", 8_999, 18_999)).toBe(true);
    expect(network.excuses("timeout", 9_001, 19_001)).toBe(false);
  });

  test("are not believed when targets pass all the same", () => {
    const network = new NetworkFitness();
    network.canary({ ...gateway, reached: true }, 0);
    network.canary({ ...gateway, reached: false }, 5_000);
    for (let each = 0; each < 5; each++) network.note(`site${each}.org`, "ok", true, 5_100 + each);
    network.canary({ ...gateway, reached: false }, 5_500);
    expect(network.isCut(5_500)).toBe(false);
  });

  test("are believed at once although targets passed until the cut", () => {
    const network = new NetworkFitness();
    network.canary({ ...gateway, reached: true }, 0);
    for (let each = 0; each < 500; each++) network.note(`site${each}.org`, "ok", true, 4_000 + each);
    network.canary({ ...gateway, reached: false }, 5_000);
    network.canary({ ...gateway, reached: false }, 5_500);
    expect(network.isCut(5_500)).toBe(true);
  });

  test("resolvers that are out excuse names that do not resolve, nothing else", () => {
    const network = new NetworkFitness();
    network.canary({ ...gateway, reached: true }, 0);
    network.canary({ ...resolver, reached: true }, 0);
    for (let each = 1; each <= 2; each++) {
      network.canary({ ...gateway, reached: true }, each * 1_000);
      network.canary({ ...resolver, reached: false }, each * 1_000);
    }
    expect(network.excuses("unresolved", 1_500, 2_500)).toBe(true);
    expect(network.excuses("timeout", 1_500, 2_500)).toBe(false);
    network.canary({ ...resolver, reached: true }, 3_000);
    expect(network.excuses("unresolved", 3_001, 4_000)).toBe(false);
  });
});

test("groups: registrable domain, public /24 and /48, each private host, not this machine", () => {
  expect(groupOf("a.b.example.co.uk")).toBe("example.co.uk");
  expect(groupOf("printer")).toBe("printer");
  expect(groupOf("198.51.100.77")).toBe("198.51.100");
  expect(groupOf("10.1.2.3")).toBe("10.1.2.3");
  expect(groupOf("2a00:1450:4001:82a::200e")).toBe("2a00:1450:4001");
  expect(groupOf("fd00::1")).toBe("fd00::1");
  for (const own of ["127.0.0.1", "127.9.9.9", "::1", "localhost", "x.localhost"]) expect(groupOf(own)).toBeUndefined();
});

test("a pass and a verdict about us are never excused, whatever was noted", { timeout: 120_000 }, () => {
  const event = fc.record({
    host: fc.integer({ min: 1, max: 9 }),
    verdict: fc.constantFrom(...VERDICTS),
    wasHealthy: fc.boolean(),
    gapMs: fc.nat(3_000),
  });
  assertProperty(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const network = new NetworkFitness();
      let nowMs = 0;
      for (const { host, verdict, wasHealthy, gapMs } of events) {
        nowMs += gapMs;
        network.note(`site${host}.org`, verdict, wasHealthy, nowMs);
        for (const each of ["ok", "unfit", "cancelled"] as const) mustEqual(network.excuses(each, 0, nowMs), false);
        // Fewer than four failed targets of five are no crowd.
        if (network.isCut(nowMs))
          expect(events.filter((each) => each.verdict !== "ok" && each.wasHealthy).length).toBeGreaterThanOrEqual(5);
      }
    }),
    { numRuns: 8_000 },
  );
});

/** The sink's use of both, on a cut of some length: what each target is called in the end. */
function story(
  targets: number,
  intervalMs: number,
  timeoutMs: number,
  cut: { fromMs: number; toMs: number },
  failsFast: boolean,
  canaryEveryMs: number | null,
) {
  const network = new NetworkFitness();
  const buffer = new SuspectBuffer<{ verdict: Verdict; startMs: number; endMs: number; target: number }>();
  const called: { target: number; endMs: number }[] = [];
  type Step = { atMs: number; run(nowMs: number): void };
  const steps: Step[] = [];
  const isCut = (atMs: number) => atMs >= cut.fromMs && atMs < cut.toMs;
  const judge = ({
    verdict,
    startMs,
    endMs,
    target,
  }: {
    verdict: Verdict;
    startMs: number;
    endMs: number;
    target: number;
  }) => {
    if (verdict !== "ok" && !network.excuses(verdict, startMs, endMs)) called.push({ target, endMs });
  };
  const canary = (nowMs: number) => network.canary({ ...gateway, reached: !isCut(nowMs) }, nowMs);
  const askedAt = { ms: Number.NEGATIVE_INFINITY };
  for (let target = 0; target < targets; target++) {
    for (let startMs = Math.floor((target * intervalMs) / targets); startMs < 180_000; startMs += intervalMs) {
      const fails = isCut(startMs);
      const endMs = startMs + (fails ? (failsFast ? 1 : timeoutMs) : 20);
      const verdict: Verdict = fails ? (failsFast ? "unreachable" : "timeout") : "ok";
      steps.push({
        atMs: endMs,
        run(nowMs) {
          network.note(`site${target}.org`, verdict, true, nowMs);
          const result = { verdict, startMs, endMs, target };
          if (!buffer.hold(result, target, verdict !== "ok", nowMs)) judge(result);
          // The watch asks its canaries at the first failure and again; a question takes half a second to fail.
          if (verdict !== "ok" && canaryEveryMs !== null && nowMs - askedAt.ms > 1_000) {
            askedAt.ms = nowMs;
            for (const delayMs of [500, 1_000]) insert({ atMs: nowMs + delayMs, run: canary });
          }
        },
      });
    }
  }
  for (let atMs = 0; canaryEveryMs !== null && atMs < 180_000; atMs += canaryEveryMs) steps.push({ atMs, run: canary });
  for (let atMs = 0; atMs < 220_000; atMs += 100) steps.push({ atMs, run: () => {} });
  steps.sort((a, b) => a.atMs - b.atMs);
  function insert(step: Step): void {
    const index = steps.findIndex(({ atMs }) => atMs > step.atMs);
    steps.splice(index < 0 ? steps.length : index, 0, step);
  }
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    step.run(step.atMs);
    for (const released of buffer.release(step.atMs, network.isCut(step.atMs))) judge(released);
  }
  return called;
}

describe("a cut of our network, at every target the sink's way", () => {
  const cut = { fromMs: 60_000, toMs: 100_000 };
  test.each([
    [1_000, 10_000, 10_000, false],
    [1_000, 10_000, 10_000, true],
    [200, 1_000, 10_000, true],
    [60, 60_000, 10_000, false],
    [20, 30_000, 10_000, true],
  ])(
    "%d targets every %d ms, time-out %d ms, fails fast %s: none is called down without canaries",
    (targets, intervalMs, timeoutMs, failsFast) => {
      const called = story(targets, intervalMs, timeoutMs, cut, failsFast, null);
      // A handful of sparse targets may fail once before the crowd is a crowd; maxretries 2 covers one failure each.
      const allowed = targets >= 200 ? 0 : 5;
      expect(called.length).toBeLessThanOrEqual(allowed);
      expect(new Set(called.map(({ target }) => target)).size).toBe(called.length);
    },
  );

  test.each([1, 2, 5, 60, 300])(
    "%d targets: a canary that is asked at the first failure spares every one",
    (targets) => {
      expect(story(targets, 30_000, 10_000, cut, true, 5_000)).toEqual([]);
      expect(story(targets, 30_000, 10_000, cut, false, 5_000)).toEqual([]);
    },
  );
});
