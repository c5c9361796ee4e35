/** What of the plan is used. */

import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Scroll } from "../parts/scroll.tsx";
import { Show } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { Moment } from "../parts/time.tsx";
import { dayOfUtc } from "../words/times.ts";
import { number, t } from "../words/words.ts";
import { SettingsHead } from "./settings.tsx";

const RELOAD_MS = 30_000;
/** Of the busiest. */
const MOST_ENDPOINTS = 12;
/** Height of the bars of the days, SVG px. */
const BARS = { height: 80, width: 14, step: 18 } as const;

export function Usage() {
  const usage = useResource((signal) => data(client.GET("/usage", { signal })), "usage", RELOAD_MS);
  return (
    <div class="screen">
      <SettingsHead title="nav.usage" />
      <Show resource={usage} rows={8}>
        {(value) => (
          <>
            <p class="sub">{t("usage.plan", { plan: value.plan })}</p>
            <ul class="cards">
              <Window name={t("usage.minute")} window={value.this_minute} />
              <Window name={t("usage.today")} window={value.today} />
              <Window name={t("usage.month")} window={value.this_month} />
              <Window name={t("usage.tests")} window={value.on_demand_tests} />
            </ul>
            <Daily days={value.daily} />
            <Endpoints rows={value.endpoints} />
          </>
        )}
      </Show>
    </div>
  );
}

function Window({ name, window: { used, limit, resets_at: at } }: { name: string; window: Schemas["UsageWindow"] }) {
  return (
    <li class="card">
      <h2>{name}</h2>
      <p class="big-number">
        {number(used)} <span class="faint">{limit === null ? t("usage.noLimit") : t("usage.of", { limit })}</span>
      </p>
      {limit !== null && (
        <meter class="phase-bar" min={0} max={Math.max(limit, 1)} value={Math.min(used, limit)} aria-label={name} />
      )}
      <p class="hint">
        {t("usage.resets")} <Moment at={at} />
      </p>
    </li>
  );
}

function Daily({ days }: { days: Schemas["Usage"]["daily"] }) {
  const most = Math.max(1, ...days.map(({ requests }) => requests));
  const [first, last] = [days[0], days.at(-1)];
  return (
    <section class="card">
      <header class="card-head">
        <h2>{t("usage.daily")}</h2>
        <span class="faint">{t("usage.busiest", { n: most })}</span>
      </header>
      <Scroll label={t("usage.daily")}>
        <div class="usage-days">
          <svg role="img" aria-label={t("usage.daily")} width={days.length * BARS.step} height={BARS.height}>
            {days.map(({ date, requests }, index) => {
              const height = Math.max(1, (requests / most) * BARS.height);
              return (
                <rect
                  key={date}
                  x={index * BARS.step}
                  y={BARS.height - height}
                  width={BARS.width}
                  height={height}
                  rx={2}
                >
                  <title>{`${date}: ${number(requests)}`}</title>
                </rect>
              );
            })}
          </svg>
          {first !== undefined && last !== undefined && (
            <p class="faint ends">
              <span>{dayOfUtc(first.date)}</span>
              <span>{dayOfUtc(last.date)}</span>
            </p>
          )}
        </div>
      </Scroll>
    </section>
  );
}

function Endpoints({ rows }: { rows: Schemas["Usage"]["endpoints"] }) {
  if (rows.length === 0) return null;
  return (
    <section class="card">
      <header class="card-head">
        <h2>{t("usage.endpoints")}</h2>
      </header>
      <Table label={t("usage.endpoints")} heads={[t("usage.endpoint"), t("usage.requests"), t("usage.errors")]}>
        {rows.slice(0, MOST_ENDPOINTS).map(({ method, path, requests, errors }) => (
          <tr key={`${method} ${path}`}>
            <td>
              <code>{`${method} ${path}`}</code>
            </td>
            <td class="number">{number(requests)}</td>
            <td class="number">{number(errors)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
