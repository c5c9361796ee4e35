/** The target (target.ts) as a process of its own, from its parent's side. */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { useOf } from "../process-tree.ts";
import type { FromTarget, ToTarget } from "./target.ts";

export interface TargetProcess {
  readonly port: number;
  /** Four numbers an answer: monitor, received and answered (Unix ms), status. */
  log(): Promise<Float64Array>;
  /** From now on so many answers of a thousand are 500. */
  fail(perMille: number): void;
  /** Processor time since its start, s. */
  cpuS(): number;
  close(): void;
}

/** @param failingPerMille answers that are 500 · @param slowPerMille answers that come late */
export function startTarget(failingPerMille: number, slowPerMille: number): Promise<TargetProcess> {
  const shares = [String(failingPerMille), String(slowPerMille)];
  const child = fork(fileURLToPath(new URL("./target.js", import.meta.url)), shares, { serialization: "advanced" });
  const tell = (message: ToTarget): void => void child.send(message);
  const log = (): Promise<Float64Array> =>
    new Promise((resolve) => {
      child.once("message", (message: FromTarget) => {
        if (message.type === "log") resolve(message.entries);
      });
      tell({ type: "log" });
    });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("message", (message: FromTarget) => {
      if (message.type !== "listening") return reject(new Error("the target speaks out of turn"));
      const fail = (perMille: number): void => tell({ type: "fail", perMille });
      const cpuS = (): number => useOf(child.pid ?? 0).cpuS;
      resolve({ port: message.port, log, fail, cpuS, close: () => tell({ type: "close" }) });
    });
  });
}
