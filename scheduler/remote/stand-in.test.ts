import { expect, it } from "vitest";
import type { CheckRun, CheckSpec } from "../../engine/contract/messages.ts";
import type { Probers, ProbersCallbacks } from "../../engine/pool/probers.ts";
import type { CheckOutcome } from "../../model/result.ts";
import { outcomeOf } from "../fixtures.suite.ts";
import { StandIn } from "./stand-in.ts";

const SPEC: CheckSpec = { key: 1, kind: "http", settings: {}, timeoutMs: 10_000 };

function runOf(checkId: number, wasHealthy = true): CheckRun {
  const place = {
    location: "any",
    home: 1,
    elsewhere: false,
    expiresAtMs: 1,
    host: "a.example",
    wasHealthy,
    account: null,
  };
  return { checkId, specKey: 1, dueAtMs: 0, alone: false, place };
}

/** A stand-in whose probers and network do as they are told. */
function scene() {
  const said: string[] = [];
  const held: (() => void)[] = [];
  let callbacks: ProbersCallbacks | undefined;
  let opened = 0;
  const probers: Probers = {
    size: 1,
    inFlight: 0,
    overBudget: 0,
    define: (specs) => void said.push(`define ${specs.map(({ key, revision = 0 }) => `${key}.${revision}`)}`),
    forget: (keys) => void said.push(`forget ${keys}`),
    run: (runs) => void said.push(`run ${runs.map(({ checkId }) => checkId)}`),
    close: async () => void said.push("close"),
  };
  const words = (outcomes: readonly CheckOutcome[]) => outcomes.map(({ checkId, verdict }) => `${checkId} ${verdict}`);
  const standIn = new StandIn({
    openProbers(wired) {
      opened += 1;
      callbacks = wired;
      return probers;
    },
    openNetwork: ({ deliver }) => ({
      take(run, outcome) {
        const isHeld = outcome.verdict !== "ok" && run.wasHealthy && run.host === "a.example";
        if (isHeld) held.push(() => deliver(run, { ...outcome, verdict: "unfit" }));
        else deliver(run, outcome);
        return isHeld;
      },
      flush: () => void said.push("flush"),
      close: () => void said.push("close network"),
    }),
    callbacks: {
      onOutcomes: (outcomes) => void said.push(`outcome ${words(outcomes)}`),
      onPending: (outcomes) => void said.push(`pending ${words(outcomes)}`),
      onFitness: () => {},
      onHarm: () => {},
    },
  });
  return {
    standIn,
    said,
    held,
    measured: (outcome: CheckOutcome) => callbacks?.onOutcomes([outcome]),
    opened: () => opened,
  };
}

it("starts its probers with the first run, and gives them each spec once", async () => {
  const { standIn, said, opened } = scene();
  standIn.forget([1]);
  await standIn.close();
  expect([opened(), said]).toEqual([0, []]);
  standIn.run([runOf(1)], () => SPEC);
  standIn.run([runOf(2)], () => SPEC);
  standIn.run([runOf(3)], () => ({ ...SPEC, revision: 1 }));
  standIn.forget([1, 7]);
  standIn.run([runOf(4)], () => SPEC);
  expect(opened()).toBe(1);
  expect(said).toEqual(["define 1.0", "run 1", "run 2", "define 1.1", "run 3", "forget 1", "define 1.0", "run 4"]);
});

it("judges its own network before it calls a target down", async () => {
  const { standIn, said, held, measured } = scene();
  standIn.run([runOf(1), runOf(2), runOf(3, false)], () => SPEC);
  said.length = 0;
  measured(outcomeOf(1));
  measured(outcomeOf(2, { verdict: "timeout" }));
  measured(outcomeOf(3, { verdict: "timeout" }));
  // Answered before.
  measured(outcomeOf(1));
  expect(said.splice(0)).toEqual(["outcome 1 ok", "pending 2 timeout", "outcome 3 timeout"]);
  for (const deliver of held) deliver();
  expect(said.splice(0)).toEqual(["outcome 2 unfit"]);
  await standIn.close();
  expect(said).toEqual(["close", "flush", "close network"]);
});
