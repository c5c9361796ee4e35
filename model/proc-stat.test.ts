import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { property } from "../testkit/property.ts";
import { cpuMsOf } from "./proc-stat.ts";

describe("a thread's processor time", () => {
  it("is read from the kernel's line, whatever the thread is called", () => {
    const tail = `S ${Array.from({ length: 10 }, (_, i) => i).join(" ")} 120 34 0 0 20 0`;
    expect(cpuMsOf(`71 (a) S 1) ${tail}`)).toBe(1_540);
    expect(cpuMsOf("71 (a) S 1 2 3")).toBeNull();
  });

  it("of this process grows as it computes", () => {
    const read = (): number => cpuMsOf(readFileSync("/proc/self/stat", "latin1")) ?? -1;
    const before = read();
    expect(before).toBeGreaterThanOrEqual(0);
    for (let rounds = 0; read() < before + 30; rounds++) Math.sqrt(rounds);
    expect(read()).toBeGreaterThan(before);
  });

  property([fc.string({ unit: "binary", maxLength: 300 })])("is a number or null, whatever the text", (text) => {
    const cpuMs = cpuMsOf(text);
    expect(cpuMs === null || Number.isFinite(cpuMs)).toBe(true);
  });
});
