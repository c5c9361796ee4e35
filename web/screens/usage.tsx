/** What of the plan is used. */

import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Scroll } from "../parts/scroll.tsx";
import { Show } from "../parts/states.tsx";
import { Moment } from "../parts/time.tsx";
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
  return (
    <section class="card" aria-labelledby="daily">
      <header class="card-head">
        <h2 id="daily">{t("usage.daily")}</h2>
      </header>
      <Scroll label={t("usage.daily")}>
        <svg class="days" role="img" aria-label={t("usage.daily")} width={days.length * BARS.step} height={BARS.height}>
          {days.map(({ date, requests }, index) => {
            const height = Math.max(1, (requests / most) * BARS.height);
            return (
              <rect
                key={date}
                class="tone-accent beat"
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
      </Scroll>
    </section>
  );
}

function Endpoints({ rows }: { rows: Schemas["Usage"]["endpoints"] }) {
  if (rows.length === 0) return null;
  return (
    <section class="card" aria-labelledby="endpoints">
      <header class="card-head">
        <h2 id="endpoints">{t("usage.endpoints")}</h2>
      </header>
      <Scroll label={t("usage.endpoints")}>
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{t("usage.endpoint")}</th>
              <th scope="col">{t("usage.requests")}</th>
              <th scope="col">{t("usage.errors")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, MOST_ENDPOINTS).map(({ method, path, requests, errors }) => (
              <tr key={`${method} ${path}`}>
                <td>
                  <code>{`${method} ${path}`}</code>
                </td>
                <td class="number">{number(requests)}</td>
                <td class="number">{number(errors)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}
