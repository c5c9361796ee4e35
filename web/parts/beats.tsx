/** The latest checks as bars, oldest first: a colour and a height for each, and words for those who do not see them. */

import type { Status } from "../state/monitors.ts";
import { milliseconds } from "../words/times.ts";
import { t } from "../words/words.ts";
import { statusWord } from "./status.tsx";

/** Width of a bar and of the space after it, and height, SVG px. */
const BAR = { width: 4, step: 6, height: 20 } as const;

export interface Beat {
  readonly status: Status;
  readonly latencyMs: number | null;
}

/** One picture for a row of a table. */
export function MiniBeats({ beats, most = 30 }: { beats: readonly Beat[]; most?: number }) {
  const shown = beats.slice(-most);
  const down = shown.filter(({ status }) => status === "down").length;
  const start = (most - shown.length) * BAR.step;
  return (
    <svg
      class="mini-beats"
      width={most * BAR.step}
      height={BAR.height}
      role="img"
      aria-label={t("beats.summary", { n: shown.length, down })}
    >
      {shown.map(({ status }, index) => {
        const height = status === "healthy" ? BAR.height : status === "unknown" ? BAR.height / 2 : BAR.height;
        return (
          <rect
            key={index}
            class={`beat s-${status}`}
            x={start + index * BAR.step}
            y={(BAR.height - height) / 2}
            width={BAR.width}
            height={height}
            rx={1.5}
          />
        );
      })}
    </svg>
  );
}

export function beatWords({ status, latencyMs }: Beat): string {
  return latencyMs === null ? statusWord(status) : `${statusWord(status)}, ${milliseconds(latencyMs)}`;
}
