/** A monitor's last 90 days as bars, and its uptime. */
import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Card } from "../parts/card.tsx";
import { Show } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { dayOfUtc, duration } from "../words/times.ts";
import { number, percent, t } from "../words/words.ts";

type Day = Schemas["MonitorDay"];
const DAYS = 90;
/** Of a bar and the gap behind it, in the picture's own units. */
const STEP = 4;
const HEIGHT = 28;
/** The worse the higher: colours alone do not reach everyone. */
const HEIGHTS = { down: HEIGHT, some: 23, maintenance: 14, well: 18, none: 6 } as const;
const RELOAD_MS = 60_000;
const DAY_S = 86_400;
const STRETCHES = ["24h", "7d", "30d", "90d"] as const;

export function Days({ id }: { id: string }) {
  const days = useResource(
    (signal) => data(client.GET("/servers/{id}/days", { params: { path: { id }, query: { days: DAYS } }, signal })),
    id,
    RELOAD_MS,
  );
  const asTable = useSignal(false);
  return (
    <Card
      id="days"
      title={t("days.title", { n: DAYS })}
      beside={
        <button
          type="button"
          class="button small"
          aria-pressed={asTable.value}
          onClick={() => (asTable.value = !asTable.value)}
        >
          {t("days.table")}
        </button>
      }
    >
      <Show resource={days} rows={2}>
        {(view) => (
          <>
            {asTable.value ? <DayTable days={view.days} /> : <Bars days={view.days} />}
            <dl class="uptimes">
              {STRETCHES.map((word) => (
                <div key={word}>
                  <dt>{t(`days.${word}`)}</dt>
                  <dd class="number">{view.uptime[word] === null ? "–" : percent(view.uptime[word])}</dd>
                </div>
              ))}
            </dl>
          </>
        )}
      </Show>
    </Card>
  );
}

function Bars({ days }: { days: readonly Day[] }) {
  const bad = days.filter(({ down_s: down }) => down > 0).length;
  return (
    <svg
      class="days"
      viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={t("days.summary", { n: days.length, bad })}
    >
      {days.map((day, index) => (
        <rect
          key={day.date}
          class={`day ${wordOf(day)}`}
          x={index * STEP}
          y={HEIGHT - HEIGHTS[wordOf(day)]}
          width={STEP - 1}
          height={HEIGHTS[wordOf(day)]}
        >
          <title>{textOf(day)}</title>
        </rect>
      ))}
    </svg>
  );
}

/** What the day is drawn as: an outage of a hundredth of it is worse than one of a minute. */
function wordOf({
  down_s: down,
  degraded_s: degraded,
  maintenance_s: maintenance,
  unwatched_s,
  paused_s,
}: Day): keyof typeof HEIGHTS {
  if (down > 0) return down < DAY_S / 100 ? "some" : "down";
  if (degraded > 0) return "some";
  if (maintenance > 0) return "maintenance";
  return unwatched_s + paused_s > DAY_S / 2 ? "none" : "well";
}

/** The same for who does not see the bars, or has no pointer: the newest first. */
function DayTable({ days }: { days: readonly Day[] }) {
  return (
    <Table label={t("days.table")} heads={[t("days.day"), t("col.result"), t("nav.incidents")]}>
      {[...days].reverse().map((day) => (
        <tr key={day.date}>
          <td>{dayOfUtc(day.date)}</td>
          <td>{saidOf(day)}</td>
          <td class="number">{number(day.incidents)}</td>
        </tr>
      ))}
    </Table>
  );
}

const textOf = (day: Day): string => `${dayOfUtc(day.date)}: ${saidOf(day)}`;

function saidOf(day: Day): string {
  const parts = [
    ["down", day.down_s],
    ["degraded", day.degraded_s],
    ["maintenance", day.maintenance_s],
    ["paused", day.paused_s],
    ["unknown", day.unwatched_s],
  ] as const;
  const said = parts
    .filter(([, seconds]) => seconds > 0)
    .map(([word, seconds]) => `${t(`status.${word}`)} ${duration(seconds * 1_000)}`);
  return said.length === 0 ? t("status.healthy") : said.join(", ");
}
