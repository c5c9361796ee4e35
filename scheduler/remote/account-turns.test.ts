import { describe, expect, it } from "vitest";
import type { CheckRun } from "../../engine/contract/messages.ts";
import type { CheckOutcome } from "../../model/result.ts";
import type { AccountLeases } from "../../store/state/accounts.ts";
import { outcomeOf } from "../fixtures.suite.ts";
import { AccountTurns } from "./account-turns.ts";

const TIMEOUT_MS = 10_000;
const MARGIN_MS = 10_000;

function runOf(checkId: number, identity: string | null, expiresAtMs = 60_000): CheckRun {
  const account = identity === null ? null : { identity, timeoutMs: TIMEOUT_MS };
  const where = { location: "any", home: checkId, elsewhere: false, host: null, wasHealthy: false };
  return { checkId, specKey: 1, dueAtMs: 0, alone: false, place: { ...where, expiresAtMs, account } };
}

/** One Redis, and the schedulers that meet there. */
function scene() {
  const now = { ms: 0 };
  const leases = new Map<string, { token: string; untilMs: number }>();
  const store = { isAway: false, leases };
  const shared: AccountLeases = {
    async hold(identity, token, keepMs) {
      if (store.isAway) throw new Error("Redis is away");
      const held = leases.get(identity);
      if (held !== undefined && held.token !== token && held.untilMs > now.ms) return false;
      leases.set(identity, { token, untilMs: now.ms + keepMs });
      return true;
    },
    async release(identity, token) {
      if (leases.get(identity)?.token === token) leases.delete(identity);
    },
  };
  let schedulers = 0;
  const scheduler = () => {
    schedulers += 1;
    const begun: number[] = [];
    const outcomes: CheckOutcome[] = [];
    const turns = new AccountTurns({
      leases: shared,
      scheduler: `scheduler ${schedulers}`,
      run: (runs) => void begun.push(...runs.map(({ checkId }) => checkId)),
      onOutcomes: (some) => void outcomes.push(...some),
      marginMs: MARGIN_MS,
      wallNowMs: () => now.ms,
    });
    return { turns, begun, outcomes };
  };
  return { now, store, scheduler };
}

describe("AccountTurns", () => {
  it("lets one scheduler at a time use an account, and runs without an account go at once", async () => {
    const { scheduler } = scene();
    const [a, b] = [scheduler(), scheduler()];
    a.turns.run([runOf(1, "ada"), runOf(2, null)]);
    await a.turns.look();
    b.turns.run([runOf(3, "ada"), runOf(4, "bob"), runOf(5, null)]);
    await b.turns.look();
    expect(a.begun).toEqual([2, 1]);
    expect(b.begun).toEqual([5, 4]);
    await b.turns.look();
    expect(b.begun).toEqual([5, 4]);
    a.turns.take([outcomeOf(1)]);
    await b.turns.look();
    expect(b.begun).toEqual([5, 4, 3]);
    expect(a.outcomes.map(({ checkId }) => checkId)).toEqual([1]);
  });

  it("keeps the account as long as the run may take, also when its scheduler has died, and not much longer", async () => {
    const { now, scheduler } = scene();
    const [dead, other] = [scheduler(), scheduler()];
    dead.turns.run([runOf(1, "ada")]);
    await dead.turns.look();
    now.ms = 20_000;
    await dead.turns.renew();
    other.turns.run([runOf(2, "ada")]);
    now.ms += TIMEOUT_MS + MARGIN_MS;
    await other.turns.look();
    expect(other.begun).toEqual([]);
    now.ms += 6_000;
    await other.turns.look();
    expect(other.begun).toEqual([2]);
  });

  it("holds on to what Redis forgot, waits while Redis is away, and gives up what has expired", async () => {
    const { now, store, scheduler } = scene();
    const [a, b] = [scheduler(), scheduler()];
    a.turns.run([runOf(1, "ada")]);
    await a.turns.look();
    store.leases.clear();
    await a.turns.renew();
    b.turns.run([runOf(2, "ada", 5_000), runOf(3, "bob")]);
    await b.turns.look();
    store.isAway = true;
    b.turns.run([runOf(4, "eve")]);
    await b.turns.look();
    expect(b.begun).toEqual([3]);
    now.ms = 5_001;
    store.isAway = false;
    await b.turns.look();
    expect(b.begun).toEqual([3, 4]);
    expect(b.outcomes.map(({ checkId, verdict }) => [checkId, verdict])).toEqual([[2, "cancelled"]]);
  });

  it("ends what waits when it is closed, and gives back what it gets then", async () => {
    const { store, scheduler } = scene();
    const { turns, begun, outcomes } = scheduler();
    turns.run([runOf(1, "ada")]);
    turns.close();
    await turns.look();
    expect(begun).toEqual([]);
    expect(outcomes.map(({ verdict }) => verdict)).toEqual(["cancelled"]);
    expect(store.leases.size).toBe(0);
  });
});
