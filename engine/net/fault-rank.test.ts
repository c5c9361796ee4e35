import fc from "fast-check";
import { expect, it } from "vitest";
import { NetworkFault } from "./fault.ts";
import { mostTelling } from "./fault-rank.ts";

const system = (code: string): Error => Object.assign(new Error(code), { code });

/** From least to most; those of one line are equal. */
const RANKS: readonly (readonly Error[])[] = [
  [new NetworkFault("unsupported", "no IPv6")],
  [new NetworkFault("unresolved", "no name"), new NetworkFault("unreachable", "no route"), system("ENETUNREACH")],
  [new NetworkFault("timeout", "silence", { peerAnswered: false }), new NetworkFault("timeout", "silence")],
  [system("ECONNREFUSED")],
  [new NetworkFault("timeout", "stopped speaking", { peerAnswered: true })],
  [new NetworkFault("auth-failed", "wrong key"), new NetworkFault("cert-invalid", "expired")],
];

it("is the one of the highest rank, the first of equals", async () => {
  const all = RANKS.flatMap((faults, rank) => faults.map((fault) => ({ fault, rank })));
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(all, { minLength: 1 }), async (some) => {
      const highest = Math.max(...some.map(({ rank }) => rank));
      expect(mostTelling(some.map(({ fault }) => fault))).toBe(some.find(({ rank }) => rank === highest)?.fault);
    }),
  );
});

it("is undefined without faults", () => {
  expect(mostTelling([])).toBeUndefined();
});
