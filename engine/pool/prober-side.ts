/** The scheduler's record of a prober: its port, the specs it has, and its checks in flight. */
import type { MessagePort } from "node:worker_threads";
import type { IdTable } from "../../model/id-table.ts";
import type { CheckRun, CheckSpec, ToProber } from "../contract/messages.ts";

export interface Flight {
  readonly run: CheckRun;
  /** As it was when the run was given to its prober. */
  readonly spec: CheckSpec;
  /** Another death of its prober is its own doing: it was running alone because of one. */
  readonly accused: boolean;
}

export interface ProberSide {
  readonly id: number;
  readonly port: MessagePort;
  readonly defined: Set<number>;
  readonly flights: IdTable<Flight>;
  stopped: boolean;
  /** It is being ended: what it has is answered for when it is down. */
  silent: boolean;
  /** It gets what holds the thread, one run at a time, and nothing else. */
  readonly isAside: boolean;
}

/** It takes ordinary runs. */
export function isOpen({ silent, isAside }: ProberSide): boolean {
  return !silent && !isAside;
}

export function send(prober: ProberSide, message: ToProber): void {
  prober.port.postMessage(message);
}
