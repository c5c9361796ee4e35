/** Parsers with a fault each, for the test of the driver. */
import { type FuzzTarget, must, text, utf8 } from "./target.ts";

class Refusal extends Error {}

const seeds = utf8("key=value", "a=b;c=d");
const refusals = [Refusal];

export const TARGETS: readonly FuzzTarget[] = [
  {
    name: "sound",
    seeds,
    refusals,
    run(input) {
      if (!text(input).includes("=")) throw new Refusal("no pair");
      return text(input).split(";").length;
    },
  },
  {
    // The second part is missing when a pair has no mark.
    name: "throws",
    seeds,
    refusals,
    run: (input) =>
      text(input)
        .split(";")
        .map((pair) => pair.split("=")[1]?.length ?? (null as unknown as string).length)[0],
  },
  {
    name: "is not its own inverse",
    seeds,
    refusals,
    run(input) {
      const parsed = new Map(
        text(input)
          .split(";")
          .map((pair) => [pair.split("=")[0] ?? "", pair.split("=")[1] ?? ""]),
      );
      const written = [...parsed].map((pair) => pair.join("=")).join(";");
      must(written === text(input) || !/^[a-z=;]+$/.test(text(input)), "not the same after writing");
      return parsed.size;
    },
  },
  {
    name: "repeats its input",
    seeds,
    refusals,
    run(input) {
      throw new Refusal(`not understood: ${text(input)}`);
    },
  },
  {
    name: "is quadratic",
    seeds,
    refusals,
    longest: 32 * 1024,
    run: (input) => String(/[ab=;]+$/.test(`${"=".repeat(input.length)}!`)),
  },
  {
    name: "fills the heap",
    seeds,
    refusals,
    longest: 8 * 1024,
    run: (input) => {
      const filled = Array.from({ length: input.length < 2_000 ? 1 : 10_000_000 }, (_, at) => at + 0.5);
      return filled.length > 0 ? "filled" : "empty";
    },
  },
  {
    name: "never ends",
    seeds,
    refusals,
    run(input) {
      while (input.includes(0xff)) input.indexOf(0xff);
      return "ended";
    },
  },
  {
    name: "runs out of heap",
    seeds,
    refusals,
    run(input) {
      const kept: unknown[] = [];
      while (input.includes(0xfe)) kept.push(new Array(10_000).fill(input));
      return kept.length;
    },
  },
];
