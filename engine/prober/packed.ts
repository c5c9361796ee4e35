/**
 * Messages that go between threads thousands of times a second, packed as numbers: a typed array is copied as a block, while an object is
 * written and read field by field, 3 µs on each side. Only data that is all numbers is packed: runs, and passes without further details.
 */
import { type CheckOutcome, PHASES, phaseTimes } from "../../model/result.ts";
import type { CheckRun, PackedOutcomes } from "../contract/messages.ts";

const RUN_NUMBERS = 4;
/** Bits of a run's last number. */
const ALONE = 1;
const PATIENT = 2;

export function packRuns(runs: readonly CheckRun[]): Float64Array {
  const packed = new Float64Array(runs.length * RUN_NUMBERS);
  let at = 0;
  for (const run of runs) {
    packed[at] = run.checkId;
    packed[at + 1] = run.specKey;
    packed[at + 2] = run.dueAtMs;
    packed[at + 3] = (run.alone ? ALONE : 0) | (run.isPatient === true ? PATIENT : 0);
    at += RUN_NUMBERS;
  }
  return packed;
}

export function unpackRuns(packed: Float64Array): CheckRun[] {
  const runs: CheckRun[] = [];
  for (let at = 0; at < packed.length; at += RUN_NUMBERS) {
    const bits = packed[at + 3] ?? 0;
    runs.push({
      checkId: packed[at] ?? 0,
      specKey: packed[at + 1] ?? 0,
      dueAtMs: packed[at + 2] ?? 0,
      alone: (bits & ALONE) !== 0,
      isPatient: (bits & PATIENT) !== 0,
    });
  }
  return runs;
}

/** Null and absent are NaN. */
const PASS_NUMBERS = 6 + PHASES.length;

export function packOutcomes(outcomes: readonly CheckOutcome[]): PackedOutcomes {
  const numbers = new Float64Array(outcomes.length * PASS_NUMBERS);
  const others: CheckOutcome[] = [];
  let at = 0;
  for (const outcome of outcomes) {
    if (!isBarePass(outcome)) {
      others.push(outcome);
      continue;
    }
    writePass(numbers, at, outcome);
    at += PASS_NUMBERS;
  }
  // Cut to what is used: a view would be sent with all the memory behind it.
  return { passes: at === numbers.length ? numbers : numbers.slice(0, at), others };
}

export function unpackOutcomes({ passes, others }: PackedOutcomes): CheckOutcome[] {
  const outcomes: CheckOutcome[] = [];
  for (let at = 0; at < passes.length; at += PASS_NUMBERS) outcomes.push(readPass(passes, at));
  for (const outcome of others) outcomes.push(outcome);
  return outcomes;
}

/** It says no more than a packed pass does. */
function isBarePass(outcome: CheckOutcome): boolean {
  if (outcome.verdict !== "ok" || !outcome.peerAnswered) return false;
  const { message, explanation, certificate, domainExpiresAtMs } = outcome;
  const { tunnel, checker, configs, heldMs, isSpent } = outcome;
  return (
    message === null &&
    explanation === null &&
    certificate === null &&
    domainExpiresAtMs === null &&
    tunnel === undefined &&
    checker === undefined &&
    configs === undefined &&
    heldMs === undefined &&
    isSpent === undefined
  );
}

function writePass(numbers: Float64Array, at: number, outcome: CheckOutcome): void {
  numbers[at] = outcome.checkId;
  numbers[at + 1] = outcome.startedAtMs;
  numbers[at + 2] = outcome.latenessMs;
  numbers[at + 3] = outcome.durationMs;
  numbers[at + 4] = outcome.latencyMs ?? Number.NaN;
  numbers[at + 5] = outcome.connectMs ?? Number.NaN;
  const { resolve, connect, handshake, request, transfer } = outcome.phases;
  numbers[at + 6] = resolve ?? Number.NaN;
  numbers[at + 7] = connect ?? Number.NaN;
  numbers[at + 8] = handshake ?? Number.NaN;
  numbers[at + 9] = request ?? Number.NaN;
  numbers[at + 10] = transfer ?? Number.NaN;
}

function readPass(numbers: Float64Array, at: number): CheckOutcome {
  return {
    checkId: numbers[at] ?? 0,
    verdict: "ok",
    startedAtMs: numbers[at + 1] ?? 0,
    latenessMs: numbers[at + 2] ?? 0,
    durationMs: numbers[at + 3] ?? 0,
    latencyMs: orNull(numbers[at + 4]),
    connectMs: orNull(numbers[at + 5]),
    peerAnswered: true,
    message: null,
    phases: phaseTimes(numbers[at + 6], numbers[at + 7], numbers[at + 8], numbers[at + 9], numbers[at + 10]),
    explanation: null,
    certificate: null,
    domainExpiresAtMs: null,
  };
}

function orNull(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}
