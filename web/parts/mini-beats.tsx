/** The latest checks of a monitor as bars: one picture, however many there are. */
import { recentOf } from "../state/recent.ts";
import type { Recent } from "../state/recent-checks.ts";
import { t } from "../words/words.ts";

/** Bars at most. */
const MOST = 40;
const BAR_PX = { wide: 3, step: 4, high: 18, low: 10 } as const;
const STATUSES = { h: "healthy", g: "degraded", d: "down", u: "unknown" } as const;

export function MiniBeats({ id }: { id: string }) {
  const recent = recentOf(id);
  const letters = recent?.letters.slice(-MOST) ?? "";
  return (
    <svg
      class="mini-beats"
      viewBox={`0 0 ${MOST * BAR_PX.step} ${BAR_PX.high}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={recent === undefined ? t("beats.none") : wordsOf(recent)}
    >
      {Object.entries(STATUSES).map(([letter, status]) => (
        <path key={letter} class={`beat s-${status}`} d={barsOf(letters, letter)} />
      ))}
    </svg>
  );
}

const wordsOf = ({ passed, letters }: Recent) => t("beats.words", { n: passed, total: letters.length });

/** The newest at the right; those that are not well are higher too, for eyes that see no colours. */
function barsOf(letters: string, letter: string): string {
  const high = letter === "h" ? BAR_PX.low : BAR_PX.high;
  const first = (MOST - letters.length) * BAR_PX.step;
  return [...letters]
    .map((one, place) =>
      one === letter ? `M${first + place * BAR_PX.step} ${BAR_PX.high}v-${high}h${BAR_PX.wide}v${high}z` : "",
    )
    .join("");
}
