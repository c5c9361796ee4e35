/** The fuzz driver: it finds planted faults, passes what is sound, and its list calls every reader of the tree. */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { cleanUp } from "../service.ts";
import { type Fault, type Tally, TargetFuzzer } from "./driver.ts";
import { TARGETS as PLANTED } from "./planted.ts";
import { callsIn, callsOf, NOT_FUZZED, readersIn } from "./readers.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const SEED = 5;
/** Enough for each of the planted faults; most need a few hundred. */
const MOST_INPUTS = 30_000;
const MOST_MS = 60_000;
/** Of each target, beside its seeds. */
const FEW_INPUTS = 200;
/** What seeds and other targets call a reader at the start of a run is less. */
const LEAST_CALLS = 10;

afterAll(cleanUp);

interface Ended {
  readonly code: number | null;
  readonly tallies: readonly Tally[];
  readonly faults: readonly Fault[];
  readonly said: string;
}

async function fuzz(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const child = spawn(process.execPath, [join(ROOT, "scripts/fuzz.mjs"), "--seed", String(SEED), "--json", ...words], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const { tallies, faults } = JSON.parse(printed) as Pick<Ended, "tallies" | "faults">;
  return { code, tallies, faults, said };
}

function planted(name: string): TargetFuzzer {
  const target = PLANTED.find((one) => one.name === name);
  if (target === undefined) throw new Error(`nothing is planted as ${name}`);
  const fuzzer = new TargetFuzzer(target, SEED);
  fuzzer.runSeeds();
  const endAt = performance.now() + MOST_MS;
  while (fuzzer.faults.length === 0 && fuzzer.tally.inputs < MOST_INPUTS && performance.now() < endAt) {
    fuzzer.run(100, MOST_MS);
  }
  return fuzzer;
}

describe("the fuzz driver", () => {
  it("passes a parser that is sound", () => {
    const { faults, tally } = planted("sound");
    expect([faults, tally.inputs >= MOST_INPUTS, tally.taken > 0]).toEqual([[], true, true]);
  });

  it.each([
    ["throws", "throws"],
    ["is not its own inverse", "breaks a rule"],
    ["repeats its input", "tells too much"],
    ["is quadratic", "takes too long"],
  ])("finds a parser that %s", (name, kind) => {
    expect(planted(name).faults.map((fault) => fault.kind)).toEqual([kind]);
  });

  it("finds a parser that fills the heap", () => {
    expect(planted("fills the heap").faults.map(({ kind }) => kind)).toContain("fills the heap");
  });

  it("makes an input with a fault smaller", () => {
    const [fault] = planted("throws").faults;
    expect(fault?.inputHex.length).toBeLessThanOrEqual(2);
  });

  it.each([
    ["never ends", "never ends", "3"],
    ["runs out of heap", "fills the heap", "60"],
  ])("survives a parser that %s, and saves its input", async (name, kind, hang) => {
    const folder = temporaryFolder();
    const words = ["--targets", join(ROOT, "test/fuzz/planted.ts"), "--only", name, "--only", "sound"];
    const { code, faults, tallies } = await fuzz([
      ...words,
      "--seconds",
      "120",
      "--inputs",
      "20000",
      "--hang",
      hang,
      "--faults",
      folder,
    ]);
    expect([code, faults.map((fault) => [fault.target, fault.kind])]).toEqual([1, [[name, kind]]]);
    const saved = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8").trim());
    expect(saved).toEqual(faults.map(({ inputHex }) => inputHex));
    expect(tallies.find((tally) => tally.name === "sound")?.inputs).toBeGreaterThan(0);
  });
});

describe("the list of fuzz targets", () => {
  it("takes its seeds, finds no fault in a short run, and calls every reader that the tree exports", {
    timeout: 600_000,
  }, async () => {
    const coverage = temporaryFolder();
    const words = ["--seconds", "600", "--inputs", String(FEW_INPUTS)];
    const { code, faults, tallies } = await fuzz(words, { NODE_V8_COVERAGE: coverage });
    expect([code, faults]).toEqual([0, []]);
    expect(tallies.length).toBeGreaterThan(100);
    expect(tallies.filter(({ taken, inputs }) => taken === 0 || inputs < FEW_INPUTS)).toEqual([]);
    const readers = readersIn(ROOT);
    expect(readers.length).toBeGreaterThan(120);
    const calls = callsIn(coverage, ROOT);
    const called = (reader: string): boolean => callsOf(reader, calls, ROOT) >= LEAST_CALLS;
    expect(readers.filter((reader) => !called(reader) && NOT_FUZZED[reader] === undefined)).toEqual([]);
    // A reason stays only as long as it is one.
    expect(Object.keys(NOT_FUZZED).filter((reader) => !readers.includes(reader) || called(reader))).toEqual([]);
  });
});
