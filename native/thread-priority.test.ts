import { execFileSync } from "node:child_process";
import { getPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { atUsualPriority, giveWayWhenBusy, mayTakeBack } from "./thread-priority.ts";

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

  it("starts what is not to give way as it was before", { timeout: 60_000 }, async () => {
    const before = getPriority(0);
    // With these bounds it gives way from its first look on.
    const stop = giveWayWhenBusy({ much: 0, hardlyBusy: 0 });
    const busy = stop === null ? getPriority(0) : before + 5;
    await expect.poll(() => getPriority(0), { timeout: 30_000 }).toBe(busy);
    const ask = (): string => execFileSync(process.execPath, ["-p", "os.getPriority()"], { encoding: "utf8" }).trim();
    const usual = stop === null ? busy : before;
    expect(atUsualPriority(ask)).toBe(String(usual));
    const code = "require('worker_threads').parentPort.postMessage(require('os').getPriority(0))";
    const worker = atUsualPriority(() => new Worker(code, { eval: true }));
    expect(await new Promise((resolve) => worker.once("message", resolve))).toBe(usual);
    expect(() =>
      atUsualPriority(() => {
        throw new Error("no start");
      }),
    ).toThrow("no start");
    await worker.terminate();
    expect(getPriority(0)).toBe(busy);
    stop?.();
    if (stop !== null) expect(getPriority(0)).toBe(before);
  });
});
