/** For a screen on a wall: big words, cells, no menus; the display stays awake. */
import { useComputed } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Grid } from "../parts/grid.tsx";
import { Empty, Failed, Skeleton } from "../parts/states.tsx";
import { StatusMark, statusWord } from "../parts/status.tsx";
import { grouped, STATUSES, wellWord } from "../state/monitors.ts";
import { grouping } from "../state/prefs.ts";
import { counts, loadOverview, overviewError, selected, shown } from "../state/project.ts";
import { number, t } from "../words/words.ts";

export function Wall() {
  const groups = useComputed(() => grouped(selected.value, grouping.value));
  useEffect(stayAwake, []);
  const now = counts.value;
  if (now === null)
    return (
      <div class="screen">
        <h1>{t("nav.wall")}</h1>
        {overviewError.value === null ? (
          <Skeleton rows={8} />
        ) : (
          <Failed message={overviewError.value} again={() => void loadOverview()} />
        )}
      </div>
    );
  const worst = (["down", "degraded", "partial"] as const).find((status) => now[status] > 0);
  if (shown.value?.entries.length === 0)
    return (
      <div class="screen">
        <h1>{t("nav.wall")}</h1>
        <Empty icon="activity" title={t("overview.empty")} />
      </div>
    );
  return (
    <div class="wall">
      <h1 class="sr-only">{t("nav.wall")}</h1>
      <p class={`wall-words s-${worst ?? "healthy"}`}>
        <StatusMark status={worst ?? "healthy"} size={64} />
        {worst === undefined ? t(wellWord(now)) : t(`verdict.${worst}`, { n: now[worst] })}
      </p>
      <ul class="wall-counts">
        {STATUSES.filter((status) => now[status] > 0).map((status) => (
          <li key={status} class={`s-${status}`}>
            <b>{number(now[status])}</b> {statusWord(status)}
          </li>
        ))}
      </ul>
      <Grid groups={groups.value} />
      <p>
        <a href="#/">{t("wall.leave")}</a>
      </p>
    </div>
  );
}

/** Where the browser can; it lets go when the tab is hidden, so it is asked again. */
function stayAwake(): () => void {
  let lock: WakeLockSentinel | null = null;
  const ask = () => {
    if (document.hidden || !("wakeLock" in navigator)) return;
    navigator.wakeLock.request("screen").then(
      (got) => {
        lock = got;
      },
      () => {},
    );
  };
  ask();
  document.addEventListener("visibilitychange", ask);
  return () => {
    document.removeEventListener("visibilitychange", ask);
    void lock?.release();
  };
}
