/** Checks run in the lab's client namespace by the built engine, and their outcomes held against a matrix that is checked in. */

import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { TunnelFields } from "../../engine/contract/tunnel.ts";
import type { CheckOutcome } from "../../model/result.ts";
import type { Lab } from "./network.ts";

const PROBER = new URL("../fixtures/lab-prober.mjs", import.meta.url);
const BUILT = new URL("../../dist/engine/probes/index.js", import.meta.url);

export interface LabOrder {
  readonly kind: string;
  readonly settings: TunnelFields;
  /** SONDE_TUNNEL_TARGETS. */
  readonly targets: readonly string[];
  readonly timeoutMs?: number;
  /** The checker's clock less the true one. */
  readonly clockMs?: number;
  /** Puts the server under load meanwhile. */
  readonly flood?: { readonly address: string; readonly port: number; readonly serverKey: string };
}

export interface LabReport {
  readonly category: string | null;
  /** Datagrams that were sent, and cookie replies that came. */
  readonly sent: number;
  readonly cookies: number;
  readonly outcome: CheckOutcome;
}

export interface LabProber {
  /** @throws when the prober has ended */
  check(order: LabOrder): Promise<LabReport>;
}

interface Waiting {
  readonly resolve: (report: LabReport) => void;
  readonly reject: (why: Error) => void;
}

export function startProber(lab: Lab): LabProber {
  if (!existsSync(BUILT)) throw new Error("dist is missing: run `npm run build` first");
  const child = lab.start("cli", process.execPath, [fileURLToPath(PROBER)]);
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let ended: Error | undefined;
  if (child.stdout === null || child.stdin === null) throw new Error("the prober has no pipes");
  const { stdin } = child;
  createInterface(child.stdout).on("line", (line) => {
    const report: LabReport & { readonly id: number } = JSON.parse(line);
    waiting.get(report.id)?.resolve(report);
    waiting.delete(report.id);
  });
  child.once("close", (code, signal) => {
    ended = new Error(`the lab's prober ended with ${signal ?? `code ${code}`}`);
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  });
  return {
    check: (order) =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) {
          reject(ended);
          return;
        }
        const id = ++last;
        waiting.set(id, { resolve, reject });
        stdin.write(`${JSON.stringify({ timeoutMs: 10_000, ...order, id })}\n`);
      }),
  };
}

/** One line of the matrix as it is printed. */
export function rowOf(protocol: string, name: string, { outcome, category }: LabReport): string {
  const { verdict, connectMs, latencyMs, durationMs } = outcome;
  const times = connectMs === null ? `after ${durationMs} ms` : `connect ${connectMs} ms, latency ${latencyMs} ms`;
  return `${protocol.padEnd(18)} ${name.padEnd(44)} ${verdict.padEnd(15)} ${(category ?? "-").padEnd(21)} ${times}${outcome.message === null ? "" : `  ${outcome.message}`}`;
}
