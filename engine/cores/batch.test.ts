import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Engine } from "../../model/subscription.ts";
import { parseProxyLink } from "../protocols/share-link/proxy-link.ts";
import { BATCH_LIMIT, batchLimitFor, halves, mergeKeyOf, type QueuedConfig, startsInMs, takeBatch } from "./batch.ts";

const VLESS = parseProxyLink("vless://5ec2e700-1111-4222-8333-444455556666@p.test-site.org:443").config;
const HYSTERIA2 = parseProxyLink("hy2://pw@p.test-site.org:443").config;
const one = (more: Partial<QueuedConfig["spec"]> = {}, deaths = 0): QueuedConfig => ({
  spec: { config: VLESS, address: "203.0.113.9", engine: "xray" as Engine, alone: false, workspace: 1, ...more },
  crashes: deaths,
});

describe("a batch", () => {
  it("holds as many as go together, the rest in their order", () => {
    const queue = Array.from({ length: BATCH_LIMIT + 3 }, () => one());
    const { batch, rest } = takeBatch(queue);
    expect(batch).toEqual(queue.slice(0, BATCH_LIMIT));
    expect(rest).toEqual(queue.slice(BATCH_LIMIT));
  });

  it("never holds two that the core would join", () => {
    const server = fc.record({
      address: fc.constantFrom("203.0.113.1", "203.0.113.2"),
      config: fc.constantFrom(VLESS, HYSTERIA2, { ...HYSTERIA2, port: 8443 }),
      engine: fc.constantFrom<Engine>("xray", "singbox"),
      alone: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(server, fc.nat(3)), { maxLength: 80 }), (asked) => {
        let queue = asked.map(([request, deaths]) => one(request, deaths));
        const all: QueuedConfig[] = [];
        while (queue.length > 0) {
          const { batch, rest } = takeBatch(queue);
          const joined = batch.flatMap(({ spec }) => mergeKeyOf(spec) ?? []);
          expect(new Set(joined).size).toBe(joined.length);
          for (const each of batch) expect(batch.length).toBeLessThanOrEqual(batchLimitFor(each));
          expect(batch.length).toBeGreaterThan(0);
          all.push(...batch);
          queue = rest;
        }
        expect(all).toHaveLength(asked.length);
      }),
    );
  });

  it("of suspects is small, and of one whose company died is one", () => {
    expect([0, 1, 2, 3].map((deaths) => batchLimitFor(one({}, deaths)))).toEqual([BATCH_LIMIT, 8, 1, 1]);
    expect(takeBatch([one({}, 2), one()]).batch).toHaveLength(1);
  });

  it("is halved down to one", () => {
    expect(halves([1, 2, 3])).toEqual([[1, 2], [3]]);
    expect(halves([1])).toEqual([[1]]);
  });
});

describe("a start", () => {
  const quiet = { waiting: 1, oldestMs: 10, open: 0, sinceLastStartMs: 1e9, lastStartMs: 100, backOffMs: 0 };

  it.each([
    ["comes at once where nothing is at work", quiet, 0],
    ["waits for what comes in the same moment", { ...quiet, oldestMs: 0 }, 5],
    [
      "comes at once for a full batch",
      { ...quiet, waiting: BATCH_LIMIT, oldestMs: 0, open: 900, sinceLastStartMs: 0 },
      0,
    ],
    ["leaves time between starts in a steady trickle", { ...quiet, open: 20, sinceLastStartMs: 100 }, 200],
    ["does not let many wait when few are at work", { ...quiet, waiting: 100, open: 20, sinceLastStartMs: 100 }, 0],
    [
      "lets many wait for most of the former batch",
      { ...quiet, waiting: 400, open: 101, sinceLastStartMs: 500 },
      1_000,
    ],
    ["does not let them wait for the last of it", { ...quiet, waiting: 400, open: 100, sinceLastStartMs: 500 }, 0],
    ["lets no config wait for slow ones", { ...quiet, waiting: 400, open: 999, sinceLastStartMs: 1_500 }, 0],
    ["waits after processes that would not start", { ...quiet, backOffMs: 400, sinceLastStartMs: 100 }, 300],
  ])("%s", (_, lane, ms) => {
    expect(startsInMs(lane)).toBe(ms);
  });
});
