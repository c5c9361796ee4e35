/** The run: feeds the probers as long as they have room and the output is read, and passes each result on as it comes. */

import type { Direct } from "../../engine/direct/direct.ts";
import type { CheckOutcome } from "../../model/result.ts";
import type { Engine } from "../../model/subscription.ts";
import { viewOf } from "../check/outcome.ts";
import type { BulkItem } from "./list.ts";
import type { BulkResult } from "./tally.ts";

export interface RunOptions {
  readonly items: readonly BulkItem[];
  readonly probers: Direct;
  readonly timeoutMs: number;
  readonly engine: Engine | null;
  /** Waits while the output is not read. */
  readonly ready: () => Promise<void>;
  readonly isStopped: () => boolean;
  readonly onResult: (result: BulkResult) => void;
}

/** Resolves when every check has ended; what was cancelled yields no result. */
export async function runAll({
  items,
  probers,
  timeoutMs,
  engine,
  ready,
  isStopped,
  onResult,
}: RunOptions): Promise<void> {
  let open = 0;
  let whenNone = (): void => {};
  const end = (item: BulkItem, outcome: CheckOutcome): void => {
    open -= 1;
    if (outcome.verdict !== "cancelled") onResult({ item, view: viewOf(item.kind, outcome) });
    if (open === 0) whenNone();
  };
  for (const item of items) {
    await ready();
    if (!probers.hasRoom) await probers.room();
    if (isStopped()) break;
    open += 1;
    const settings = engine !== null && "url" in item.settings ? { ...item.settings, engine } : item.settings;
    void probers.check({ kind: item.kind, settings, timeoutMs }).then((outcome) => end(item, outcome));
  }
  if (open > 0) {
    await new Promise<void>((resolve) => {
      whenNone = resolve;
    });
  }
}
