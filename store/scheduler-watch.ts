/** Schedulers that are processes of their own, as an API sees them: whether one works, and why results are late. */
import type { Shards, Warning } from "./sql/ports/shards.ts";

export interface SchedulerWatch {
  /** @throws an Error when no scheduler gives a sign of life */
  ping(): Promise<void>;
  /** Why results are late or not readable, in words for people; null when all is well. */
  trouble(): string | null;
  /** What the operator should look at. */
  warnings(): readonly Warning[];
  close(): void;
}

export interface SchedulerWatchOptions {
  readonly shards: Pick<Shards, "view">;
  readonly monotonicNowMs: () => number;
}

interface Seen {
  readonly beat: number;
  readonly atMs: number;
  readonly trouble: string | null;
  readonly warnings: readonly Warning[];
}

const LOOK_MS = 2_000;
/** A beat that stood still for this long, by our own clock, is no sign of life, ms: several beats and a frozen moment. */
const SILENT_MS = 15_000;

export function watchSchedulers({ shards, monotonicNowMs }: SchedulerWatchOptions): SchedulerWatch {
  /** The latest beat of each, and when it was seen to move. */
  const beats = new Map<string, Seen>();
  let looking: Promise<void> | null = null;

  async function look(): Promise<void> {
    const { schedulers } = await shards.view();
    const nowMs = monotonicNowMs();
    for (const id of beats.keys()) if (!schedulers.some((one) => one.id === id)) beats.delete(id);
    for (const { id, beat, report } of schedulers) {
      const known = beats.get(id);
      // Of one that is seen for the first time it is not known yet: it is given the time that the others have.
      if (known?.beat !== beat)
        beats.set(id, { beat, atMs: nowMs, trouble: report.trouble, warnings: report.warnings ?? [] });
    }
  }

  const lookOnce = (): Promise<void> => {
    looking ??= look().finally(() => {
      looking = null;
    });
    return looking;
  };
  const alive = () => [...beats.values()].filter(({ atMs }) => monotonicNowMs() - atMs <= SILENT_MS);
  const timer = setInterval(() => void lookOnce().catch(() => {}), LOOK_MS);
  return {
    async ping() {
      await lookOnce();
      if (alive().length === 0) throw new Error("no scheduler gives a sign of life");
    },
    trouble: () => alive().find(({ trouble }) => trouble !== null)?.trouble ?? null,
    warnings: () => [...new Set(alive().flatMap(({ warnings }) => warnings))],
    close: () => clearInterval(timer),
  };
}
