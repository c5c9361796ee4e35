/** A status is always a colour, a shape and a word. */
import type { Status } from "../state/monitors.ts";
import { t } from "../words/words.ts";

/** Drawn in a box of 16: filled disc, cross, exclamation mark, half disc, bars, hatching, diamond. */
const SHAPES: Readonly<Record<Status, string>> = {
  healthy:
    "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm3.6 5.3-4.2 4.4a.9.9 0 0 1-1.3 0L4.4 8.9a.9.9 0 1 1 1.3-1.2l1 1 3.6-3.7a.9.9 0 1 1 1.3 1.3Z",
  down: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm3 8.7a.9.9 0 1 1-1.3 1.3L8 9.3 6.3 11A.9.9 0 1 1 5 9.7L6.7 8 5 6.3A.9.9 0 1 1 6.3 5L8 6.7 9.7 5A.9.9 0 1 1 11 6.3L9.3 8Z",
  degraded:
    "M8.9 1.9a1 1 0 0 0-1.8 0L1 13.2A1 1 0 0 0 1.9 15h12.2a1 1 0 0 0 .9-1.8ZM7.1 6a.9.9 0 1 1 1.8 0v3.4a.9.9 0 1 1-1.8 0Zm.9 7.2a1 1 0 1 1 0-2 1 1 0 0 1 0 2Z",
  partial: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm0 1.8v10.4A5.2 5.2 0 0 1 8 2.8Z",
  paused:
    "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1ZM5.2 5.5a.8.8 0 0 1 1.8 0v5a.8.8 0 0 1-1.8 0Zm3.8 0a.8.8 0 0 1 1.8 0v5a.8.8 0 0 1-1.8 0Z",
  unknown:
    "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm0 11.8a1 1 0 1 1 0-2 1 1 0 0 1 0 2Zm.9-3.6a.9.9 0 1 1-1.8 0V8.6a.9.9 0 0 1 .6-.85c.9-.3 1.3-.7 1.3-1.25 0-.6-.4-.9-1-.9s-.9.3-1.1.7a.9.9 0 0 1-1.7-.6A2.8 2.8 0 0 1 8 3.8c1.6 0 2.8 1.1 2.8 2.7 0 1.2-.7 2.1-1.9 2.6Z",
  maintenance: "M7.3 1.3a1 1 0 0 1 1.4 0l6 6a1 1 0 0 1 0 1.4l-6 6a1 1 0 0 1-1.4 0l-6-6a1 1 0 0 1 0-1.4Z",
};

export function StatusMark({ status, size = 16 }: { status: Status; size?: number }) {
  return (
    <svg class={`mark s-${status}`} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={SHAPES[status]} />
    </svg>
  );
}

export function StatusWord({ status, class: extra = "" }: { status: Status; class?: string }) {
  return (
    <span class={`status s-${status} ${extra}`}>
      <StatusMark status={status} />
      <span>{statusWord(status)}</span>
    </span>
  );
}

export function statusWord(status: Status): string {
  return t(`status.${status}`);
}
