import { describe, expect, it } from "vitest";
import { PLAN } from "./plan.ts";
import { type BenchRun, markdownOf } from "./report.ts";

const CONDITIONS = {
  sonde: "0.1.0",
  node: "v20.20.2",
  processor: "a processor",
  cores: 2,
  memoryMiB: 4_096,
  kernel: "6.1.0",
};
const RUN: BenchRun = {
  command: "uptime --monitors 100",
  startedAt: "2026-01-02T03:04:05.000Z",
  loadBefore: 0.251,
  seconds: 61.4,
  ending: "ok",
  lines: ["uptime: 100 http monitors", "  checks 100"],
  notes: ["measuring for 30 s …"],
};

describe("the report of all benches", () => {
  it("has the machine, a row and the figures of each bench, and no progress of one that ended well", () => {
    const text = markdownOf({ conditions: CONDITIONS, runs: [RUN] });
    expect(text).toContain("Sonde 0.1.0, Node v20.20.2, a processor, 2 cores, 4096 MiB, Linux 6.1.0.");
    expect(text).toContain("| `uptime --monitors 100` | 2026-01-02T03:04:05.000Z | 0.25 | 61 s | ok |");
    expect(text).toContain("```text\nuptime: 100 http monitors\n  checks 100\n```");
    expect(text).not.toContain("measuring for");
  });

  it("says why a bench failed, or that it took too long, with what it said last", () => {
    const notes = Array.from({ length: 40 }, (_, n) => `note ${n}.`);
    const text = markdownOf({
      conditions: CONDITIONS,
      runs: [
        { ...RUN, ending: "failed", notes },
        { ...RUN, ending: "too late" },
      ],
    });
    expect(text).toContain("It failed.");
    expect(text).toContain("note 39.");
    expect(text).not.toContain("note 24.");
    expect(text).toContain("It was ended: it took too long.");
  });

  it("keeps what a bench printed inside its block", () => {
    const text = markdownOf({ conditions: CONDITIONS, runs: [{ ...RUN, lines: ["```", "# not a heading", "````"] }] });
    expect(text).toContain("`````text\n```\n# not a heading\n````\n`````");
  });

  it("is of benches that there are, each with a deadline", () => {
    for (const { words, deadlineS } of PLAN) {
      expect(words.length).toBeGreaterThan(0);
      expect(deadlineS).toBeGreaterThan(60);
    }
  });
});
