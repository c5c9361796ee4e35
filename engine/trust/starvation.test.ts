import { expect, it } from "vitest";
import { Starvation } from "./starvation.ts";

function processor(busyMs: number, idleMs: number) {
  return { times: { user: busyMs, nice: 0, sys: 0, irq: 0, idle: idleMs } };
}

it("knows when nothing was left, and for which part of a check's life", () => {
  const starvation = new Starvation();
  starvation.look([processor(0, 0), processor(0, 0)], 1_000);
  starvation.look([processor(500, 0), processor(490, 10)], 1_500);
  starvation.look([processor(800, 200), processor(990, 10)], 2_000);
  expect(starvation.share(1_000, 1_500)).toBe(1);
  expect(starvation.share(1_250, 2_250)).toBe(0.25);
  expect(starvation.share(1_500, 2_000)).toBe(0);
  expect(starvation.share(1_200, 1_200)).toBe(0);
});

it("forgets what no check can have lived through", () => {
  const starvation = new Starvation();
  starvation.look([processor(0, 0)], 0);
  starvation.look([processor(500, 0)], 500);
  starvation.look([processor(1_000, 200_000)], 201_000);
  starvation.look([processor(1_500, 200_000)], 201_500);
  expect(starvation.share(0, 500)).toBe(0);
  expect(starvation.share(201_000, 201_500)).toBe(1);
});
