/**
 * How secrets in SQL are sealed: in the second form, bound to their rows, and addresses of websites and webhooks sealed at all. Processes
 * of the version before can read neither, so an upgrade of several processes goes in two steps:
 *
 *   1. Every process writes as the version before did, and reads both, until no scheduler of the version before is left. APIs are upgraded
 *      before schedulers (docs/operate/growing.md).
 *   2. Every process writes the new form, and stored secrets are sealed anew, page by page. After a crash it goes on where it was.
 *
 * A data folder has one process and is sealed before that process serves. A new database begins in the second step.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Sealing } from "../sealed-text.ts";
import type { ControlPlane } from "../sql/control-plane/port.ts";
import type { Meta } from "../sql/coordination/meta-port.ts";
import type { SchedulerRow } from "../sql/coordination/shards-port.ts";
import { openCheckedSealing, ROW_FORM, ROWS_BINDING, ROWS_BOUND, type SealingOptions } from "./sealing.ts";

/** Within this every process knows that the second step has begun, ms. */
const FOLLOW_MS = 2_000;
/** How often a scheduler looks whether it may begin, ms. */
const LOOK_MS = 5_000;
/** By then every process has read the change and ended its transactions (a transaction ends within 15 s), ms. */
const SETTLE_MS = 20_000;
/** Passes over all rows: a later pass finds rows that were written during an earlier one. */
const MOST_PASSES = 5;

export interface FollowedSealing {
  readonly sealing: Sealing;
  /** Looks at once. */
  look(): Promise<void>;
  close(): void;
}

/** The sealing of a process that writes: it follows the step. @throws what openCheckedSealing throws */
export async function openFollowedSealing(
  meta: Meta,
  options: SealingOptions,
  followMs: number = FOLLOW_MS,
): Promise<FollowedSealing> {
  let isBound = false;
  const sealing = await openCheckedSealing(meta, { ...options, bindsRows: () => isBound });
  const timer = setInterval(() => void look().catch(() => {}), followMs);
  timer.unref();
  /** A store that is away is reported by its other users; meanwhile every process can read the form before. */
  async function look(): Promise<void> {
    if ((await meta.get(ROW_FORM)) === undefined) return;
    isBound = true;
    clearInterval(timer);
  }
  await look();
  return { sealing, look, close: () => clearInterval(timer) };
}

type Plane = Pick<ControlPlane, "meta" | "sealed" | "shards">;
interface Words {
  info(what: object, text: string): void;
  warn(what: object, text: string): void;
}

/** For a process that owns the database alone, before it serves. */
export async function sealRowsNow(plane: Plane, { sealing, look }: FollowedSealing, log: Words): Promise<void> {
  if ((await plane.meta.get(ROW_FORM)) === ROWS_BOUND) return;
  await plane.meta.set(ROW_FORM, ROWS_BINDING);
  await look();
  await sealRows(plane, sealing, log);
}

/** Beside other processes: begins when no scheduler of the version before is left. */
export function sealRowsLater(
  plane: Plane,
  sealing: Sealing,
  log: Words,
  { lookMs = LOOK_MS, settleMs = SETTLE_MS }: { readonly lookMs?: number; readonly settleMs?: number } = {},
): { close(): Promise<void> } {
  const stop = new AbortController();
  async function work(): Promise<void> {
    for (;;) {
      const state = await plane.meta.get(ROW_FORM).catch(() => undefined);
      if (state === ROWS_BOUND) return;
      try {
        if (state === ROWS_BINDING || (await areAllNew(plane))) {
          await plane.meta.set(ROW_FORM, ROWS_BINDING);
          await delay(settleMs, undefined, { signal: stop.signal });
          await sealRows(plane, sealing, log);
          return;
        }
      } catch (error) {
        if (!stop.signal.aborted) log.warn({ err: error }, "sealing secrets anew failed and is tried again");
      }
      await delay(lookMs, undefined, { signal: stop.signal });
    }
  }
  const working = work().catch((error: unknown) => {
    if (!stop.signal.aborted) log.warn({ err: error }, "sealing secrets anew ended; the next start goes on");
  });
  return {
    async close() {
      stop.abort();
      await working;
    },
  };
}

async function areAllNew({ shards }: Plane): Promise<boolean> {
  const { schedulers } = await shards.view();
  return schedulers.length > 0 && schedulers.every(({ report }: SchedulerRow) => report.readsBoundRows === true);
}

async function sealRows({ meta, sealed }: Plane, sealing: Sealing, log: Words): Promise<void> {
  let rows = 0;
  let unreadable: readonly string[] = [];
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const counts = await sealed.reseal(sealing);
    rows += counts.resealed;
    unreadable = counts.unreadable;
    if (counts.resealed === 0) break;
  }
  if (rows > 0) await sealed.scrub();
  await meta.set(ROW_FORM, ROWS_BOUND);
  if (rows > 0) log.info({ rows }, "secrets of the database are sealed to their rows");
  if (unreadable.length > 0) {
    log.warn(
      { rows: unreadable.length, first: unreadable.slice(0, 5) },
      "secrets that could not be opened stay as they are",
    );
  }
}
