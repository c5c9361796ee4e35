import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { serviceNow } from "../state/project.ts";
import { ago, clock, dateTime, duration, timeOf, utc } from "../words/times.ts";

/** A relative time is drawn again this often, ms. */
const TICK_MS = 5_000;

function useNow(): number {
  const now = useSignal(serviceNow());
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) now.value = serviceNow();
    }, TICK_MS);
    return () => clearInterval(timer);
  }, [now]);
  return now.value;
}

/** `3 min ago`, with the exact time in UTC as its title. */
export function Ago({ at }: { at: string | number | null }) {
  const now = useNow();
  const atMs = typeof at === "string" ? timeOf(at) : at;
  if (atMs === null || Number.isNaN(atMs)) return <span class="faint">–</span>;
  return (
    <time dateTime={new Date(atMs).toISOString()} title={utc(atMs)}>
      {ago(atMs, Math.max(now, atMs))}
    </time>
  );
}

/** How long something has lasted, or did. */
export function Lasting({ from, to = null }: { from: string | number; to?: string | null }) {
  const now = useNow();
  const fromMs = typeof from === "string" ? timeOf(from) : from;
  const toMs = to === null ? now : timeOf(to);
  return <span title={utc(fromMs)}>{duration(toMs - fromMs)}</span>;
}

/** Only the time of day, where the day is said elsewhere. */
export function Clock({ at }: { at: string }) {
  const atMs = timeOf(at);
  return (
    <time dateTime={new Date(atMs).toISOString()} title={utc(atMs)}>
      {clock(atMs)}
    </time>
  );
}

export function Moment({ at }: { at: string }) {
  const atMs = timeOf(at);
  return (
    <time dateTime={new Date(atMs).toISOString()} title={utc(atMs)}>
      {dateTime(atMs)}
    </time>
  );
}
