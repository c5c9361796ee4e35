import { execFileSync } from "node:child_process";
import { getPriority, setPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { atUsualPriority, giveWay, mayTakeBack } from "./thread-priority.ts";

const NONE = "CapEff:\t0000000000000000\n";
const limit = (value: string): string =>
  `Max nice priority         ${value}                    ${value}                    \n`;

describe("a thread that gives way", () => {
  it("does so only where it may take that back", () => {
    expect(mayTakeBack(0, "CapEff:\t0000000000800000\n", limit("0"))).toBe(true);
    expect(mayTakeBack(0, "CapEff:\t00000000ff7fffff\n", limit("0"))).toBe(false);
    expect(mayTakeBack(0, NONE, limit("20"))).toBe(true);
    expect(mayTakeBack(0, NONE, limit("19"))).toBe(false);
    expect(mayTakeBack(10, NONE, limit("10"))).toBe(true);
    expect(mayTakeBack(0, NONE, limit("unlimited"))).toBe(true);
    expect(mayTakeBack(0, "", "")).toBe(false);
  });

  it("starts what is not to give way as it was before", async () => {
    const before = getPriority(0);
    const gives = giveWay();
    expect(getPriority(0)).toBe(gives ? before + 5 : before);
    expect(giveWay()).toBe(gives);
    const ask = (): string => execFileSync(process.execPath, ["-p", "os.getPriority()"], { encoding: "utf8" }).trim();
    expect(atUsualPriority(ask)).toBe(String(before));
    expect(getPriority(0)).toBe(gives ? before + 5 : before);
    const code = "require('worker_threads').parentPort.postMessage(require('os').getPriority(0))";
    const worker = atUsualPriority(() => new Worker(code, { eval: true }));
    expect(await new Promise((resolve) => worker.once("message", resolve))).toBe(before);
    expect(() =>
      atUsualPriority(() => {
        throw new Error("no start");
      }),
    ).toThrow("no start");
    expect(getPriority(0)).toBe(gives ? before + 5 : before);
    await worker.terminate();
    if (gives) setPriority(0, before);
  });
});
