/** The quieter parts of a monitor's screen. */
import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Card } from "../parts/card.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { later } from "../parts/later.tsx";
import { KIND_FIELDS, textOf } from "../parts/monitor-fields.ts";
import { Show } from "../parts/states.tsx";
import { StatusMark, statusWord } from "../parts/status.tsx";
import { Ago, Moment } from "../parts/time.tsx";
import { categoryWord, Why } from "../parts/why.tsx";
import type { Status } from "../state/monitors.ts";
import { isOurs } from "../state/point-state.ts";
import { canEdit } from "../state/session.ts";
import { clock, dateTime, milliseconds, timeOf } from "../words/times.ts";
import { t } from "../words/words.ts";

const EditLocations = later(async () => (await import("../parts/edit-locations.tsx")).EditLocations);

type View = Schemas["Monitor"];
/** Bars of the latest checks. */
const MOST_BEATS = 52;

/** Each check is a button with its time and words; the chosen one is explained below. */
export function ChecksList({ results: { results } }: { results: Schemas["MonitorResults"] }) {
  const chosen = useSignal<string | null>(null);
  const shown = results.slice(0, MOST_BEATS).reverse();
  const row = results.find(({ id }) => id === chosen.value);
  if (shown.length === 0) return null;
  return (
    <Card
      id="checks"
      title={t("checks.title")}
      beside={<span class="faint">{t("checks.newest", { n: shown.length })}</span>}
    >
      <ul class="beats" aria-label={t("checks.title")}>
        {shown.map(({ id, status, latency_ms: ms, tested_at: at, explain, error_message: message }) => (
          <li key={id}>
            <button
              type="button"
              class={`beat-button s-${explain !== undefined && isOurs(explain.verdict) ? "unknown" : status}`}
              aria-pressed={id === chosen.value}
              aria-label={`${clock(timeOf(at))}: ${statusWord(status)}${ms === null ? "" : `, ${milliseconds(ms)}`}`}
              title={`${dateTime(timeOf(at))} · ${statusWord(status)}${ms === null ? "" : ` · ${milliseconds(ms)}`}${message === null ? "" : `\n${message}`}`}
              onClick={() => (chosen.value = chosen.value === id ? null : id)}
            />
          </li>
        ))}
      </ul>
      {row !== undefined && (
        <div class="chosen-check">
          <p class="sub">
            <StatusMark status={row.status} /> {statusWord(row.status)} · <Moment at={row.tested_at} />
            {row.latency_ms !== null && ` · ${milliseconds(row.latency_ms)}`}
          </p>
          <Why message={row.error_message ?? t("checks.passed")} explain={row.explain} />
        </div>
      )}
    </Card>
  );
}

export const STATUS_OF_REGION: Readonly<Record<string, Status>> = { up: "healthy", down: "down", degraded: "degraded" };

export function Locations({ view, changed }: { view: View; changed: () => void }) {
  const editing = useSignal(false);
  const rows = Object.entries(view.regional_status);
  const isOfJobs = view.type === "push";
  if (rows.length === 0 && isOfJobs) return null;
  return (
    <Card
      id="locations"
      title={t("locations.title")}
      beside={
        canEdit.value &&
        !isOfJobs && <IconButton icon="pencil" label={t("locations.edit")} act={() => (editing.value = true)} />
      }
    >
      {editing.value && (
        <EditLocations id={view.id} name={view.name} close={() => (editing.value = false)} changed={changed} />
      )}
      {rows.length === 0 && <p class="hint">{t("locations.none")}</p>}
      <ul class="locations">
        {rows.map(([code, { status, ping_ms: ms, last_check: at, error_category: category }]) => (
          <li key={code}>
            <StatusMark status={STATUS_OF_REGION[status] ?? "unknown"} />
            <b>{code}</b>
            <span>{t(`region.${status}`)}</span>
            <span class="number">{ms === null ? "" : milliseconds(ms)}</span>
            <span class="faint">
              {/* Of all that said nothing the API says "not connected"; Why tells them apart. */}
              {category === undefined || category === "server_not_connected" ? (
                <Ago at={at === "" ? null : at} />
              ) : (
                categoryWord(category)
              )}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Of a monitor that came from a subscription. */
export function Configs({ view: { subscription } }: { view: View }) {
  if (subscription === undefined) return null;
  return (
    <Card
      id="configs"
      title={t("configs.title")}
      beside={
        <span class="faint">
          {t("configs.healthy", { n: subscription.healthy_count, total: subscription.config_count })}
        </span>
      }
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label={t("configs.title")}>
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{t("col.name")}</th>
              <th scope="col">{t("col.kind")}</th>
              <th scope="col">{t("col.result")}</th>
              <th scope="col">{t("col.latency")}</th>
              <th scope="col">{t("col.exit")}</th>
              <th scope="col">{t("col.engine")}</th>
            </tr>
          </thead>
          <tbody>
            {subscription.configs.map(
              ({ tag, type, server, port, success, total_ms: ms, error, public_ip: exit, engine_used: engine }) => (
                <tr key={`${tag} ${type} ${server} ${port}`}>
                  <td dir="auto">{tag}</td>
                  <td>{type}</td>
                  <td>
                    <StatusMark status={success ? "healthy" : "down"} /> {success ? statusWord("healthy") : error}
                  </td>
                  <td class="number">{success ? milliseconds(ms) : "–"}</td>
                  <td>{exit === "" ? "–" : exit}</td>
                  <td>{engine === "" ? "–" : engine}</td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      </section>
    </Card>
  );
}

export function Settings({ view }: { view: View }) {
  const record = view as unknown as Readonly<Record<string, unknown>>;
  const specs = KIND_FIELDS[view.type].filter(({ name, type }) => type !== "secret" && textOf(record[name]) !== "");
  return (
    <Card id="settings" title={t("monitor.settings")}>
      <dl class="facts">
        {specs.map(({ name, label, type }) => (
          <div key={name}>
            <dt>{t(label)}</dt>
            <dd>
              {type === "flag" ? (
                t(record[name] === true ? "fact.yes" : "fact.no")
              ) : (
                <code dir="auto">{textOf(record[name])}</code>
              )}
            </dd>
          </div>
        ))}
        {view.interval !== null && (
          <div>
            <dt>{t("field.interval")}</dt>
            <dd>{t("time.s", { v: view.interval })}</dd>
          </div>
        )}
        {view.certificate !== undefined && view.certificate !== null && (
          <div>
            <dt>{t("monitor.certificate")}</dt>
            <dd>
              <StatusMark status={view.certificate.valid ? "healthy" : "down"} />{" "}
              {t("monitor.certificateDays", { n: view.certificate.days_remaining })}
            </dd>
          </div>
        )}
        {view.heartbeat_url !== undefined && (
          <div>
            <dt>{t("monitor.heartbeat")}</dt>
            <dd>
              <code>{view.heartbeat_url}</code>
            </dd>
          </div>
        )}
        <div>
          <dt>{t("monitor.id")}</dt>
          <dd>
            <code>{view.id}</code>
          </dd>
        </div>
      </dl>
    </Card>
  );
}

export function History({ id }: { id: string }) {
  const history = useResource(
    (signal) => data(client.GET("/servers/{id}/history", { params: { path: { id }, query: { limit: 10 } }, signal })),
    id,
  );
  return (
    <Card id="history" title={t("monitor.history")}>
      <Show resource={history} rows={2}>
        {({ entries }) => (
          <ul class="plain-list">
            {entries.map(({ id: entryId, at, type, message, actor }) => (
              <li key={entryId}>
                <span dir="auto">{t(`history.${type}`, { what: message.replace(/^Updated /, "") })}</span>
                <span class="faint">
                  {" "}
                  {actor.name ?? ""} <Ago at={at} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Show>
    </Card>
  );
}
