import { beforeEach, expect, it } from "vitest";
import { WaitingWork } from "./waiting-work.ts";

/** A store of which the test says when something is due, and what was committed. */
class FakeStore {
  wallMs = 1_795_241_400_000;
  monotonicMs = 5_000;
  committed: number | null = 7;
  webhooksAtMs: number | null = null;
  alertsAtMs: number | null = null;
  questions = 0;
  readonly work = new WaitingWork(
    {
      stamp: () => this.committed,
      outgoing: {
        nextAtMs: async () => {
          this.questions += 1;
          return this.webhooksAtMs;
        },
      },
      alertTurns: { nextAtMs: async () => this.alertsAtMs },
    },
    { wallNowMs: () => this.wallMs, monotonicNowMs: () => this.monotonicMs },
  );

  pass(ms: number): void {
    this.wallMs += ms;
    this.monotonicMs += ms;
  }

  /** A look, and the turn that it asks for. */
  async look(epoch: number | null = 1): Promise<boolean> {
    const isDue = await this.work.isDue(epoch ?? undefined);
    if (isDue) this.work.turned();
    return isDue;
  }
}

let store: FakeStore;

beforeEach(async () => {
  store = new FakeStore();
  expect(await store.look()).toBe(true);
});

it("asks the store once for each commit, and not for a turn", async () => {
  expect(await store.look()).toBe(false);
  for (let looks = 0; looks < 5; looks += 1) expect(await store.look()).toBe(false);
  expect(store.questions).toBe(1);
  store.committed = 8;
  expect(await store.look()).toBe(false);
  expect(store.questions).toBe(2);
});

it("asks for a turn when an event was committed, and as long as it waits", async () => {
  expect(await store.look()).toBe(false);
  [store.committed, store.webhooksAtMs] = [8, 0];
  expect(await store.look()).toBe(true);
  expect(await store.look()).toBe(true);
  [store.committed, store.webhooksAtMs] = [9, null];
  expect(await store.look()).toBe(false);
});

it("asks for a turn when a time that was committed before has come", async () => {
  store.alertsAtMs = store.wallMs + 1_000;
  store.webhooksAtMs = store.wallMs + 3_000;
  store.committed = 8;
  expect(await store.look()).toBe(false);
  store.pass(999);
  expect(await store.look()).toBe(false);
  store.pass(1);
  expect(await store.look()).toBe(true);
});

it("asks at each look where commits cannot be told", async () => {
  store.committed = null;
  for (let looks = 0; looks < 3; looks += 1) expect(await store.look()).toBe(false);
  store.alertsAtMs = store.wallMs;
  expect(await store.look()).toBe(true);
});

it("asks for a turn every fifteen seconds, whatever the store says", async () => {
  store.pass(14_999);
  expect(await store.look()).toBe(false);
  store.pass(1);
  expect(await store.look()).toBe(true);
});

it("asks for a turn again after one that failed", async () => {
  store.pass(15_000);
  expect(await store.work.isDue(1)).toBe(true);
  expect(await store.work.isDue(1)).toBe(true);
  store.work.turned();
  expect(await store.work.isDue(1)).toBe(false);
});

it("asks for a turn when the clock was set", async () => {
  store.wallMs -= 60_000;
  expect(await store.look()).toBe(true);
  expect(await store.look()).toBe(false);
});

it("asks for a turn while another process has the lease, and when this one takes it", async () => {
  expect(await store.look(null)).toBe(true);
  expect(await store.look(null)).toBe(true);
  expect(await store.look(2)).toBe(true);
  expect(await store.look(2)).toBe(false);
});
