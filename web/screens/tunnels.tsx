/** Tunnels and share links by where they came from: how many of each group work, and where each leaves. */
import { useComputed } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Icon } from "../parts/icon.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { StatusMark, StatusWord } from "../parts/status.tsx";
import { revision, shown } from "../state/project.ts";
import { canEdit } from "../state/session.ts";
import { milliseconds } from "../words/times.ts";
import { t } from "../words/words.ts";
import { STATUS_OF_REGION } from "./monitor-parts.tsx";

type Row = Schemas["MonitorRow"];
const RELOAD_MS = 20_000;
const MOST = 1_000;
/** Of a group that is open; the others are in the table of monitors. */
const MOST_ROWS = 200;

export function Tunnels() {
  const list = useResource(
    (signal) => data(client.GET("/servers", { params: { query: { family: "tunnel", limit: MOST } }, signal })),
    "tunnels",
    RELOAD_MS,
  );
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>{t("nav.tunnels")}</h1>
        <a class="button" href="#/monitors?q=family%3Atunnel">
          <Icon name="list" size={16} /> {t("overview.asTable")}
        </a>
      </header>
      <Show resource={list} rows={8}>
        {({ servers, total }) =>
          servers.length === 0 ? (
            <Empty icon="waypoints" title={t("tunnels.empty")}>
              <p>{t("tunnels.emptyText")}</p>
              {canEdit.value && (
                <a class="button primary" href="#/monitors/new">
                  <Icon name="plus" size={16} /> {t("monitors.add")}
                </a>
              )}
            </Empty>
          ) : (
            <>
              {total > servers.length && <p class="hint">{t("tunnels.first", { n: servers.length, total })}</p>}
              <Groups rows={servers} />
            </>
          )
        }
      </Show>
    </div>
  );
}

function Groups({ rows }: { rows: readonly Row[] }) {
  revision.value;
  const groups = useComputed(() => {
    const found = new Map<string, Row[]>();
    for (const row of rows) {
      const name = shown.value?.byId.get(row.id)?.subscription ?? row.protocol;
      const group = found.get(name);
      if (group === undefined) found.set(name, [row]);
      else group.push(row);
    }
    return [...found].sort(([a], [b]) => a.localeCompare(b));
  });
  return (
    <>
      {groups.value.map(([name, members]) => {
        const healthy = members.filter(({ status }) => status === "healthy").length;
        return (
          <details class="card tunnel-group" key={name} open={members.length <= 12 || healthy < members.length}>
            <summary>
              <StatusMark status={healthy === members.length ? "healthy" : healthy === 0 ? "down" : "partial"} />{" "}
              <span dir="auto">{name}</span>{" "}
              <span class="faint">{t("configs.healthy", { n: healthy, total: members.length })}</span>
            </summary>
            <ul class="tunnels">
              {members.slice(0, MOST_ROWS).map((row) => (
                <Tunnel key={row.id} row={row} />
              ))}
            </ul>
          </details>
        );
      })}
    </>
  );
}

function Tunnel({
  row: { id, name, protocol, status, latency_ms: ms, subscription, regional_status: places },
}: {
  row: Row;
}) {
  const fastest = subscription?.configs.filter(({ success }) => success).sort((a, b) => a.total_ms - b.total_ms)[0];
  return (
    <li>
      <StatusWord status={status} />
      <a class="cut" href={`#/monitors/${id}`} dir="auto">
        {name}
      </a>
      <span class="faint">{protocol}</span>
      <span class="number">{milliseconds(ms)}</span>
      <span class="faint cut">
        {subscription !== undefined &&
          [`${subscription.healthy_count}/${subscription.config_count}`, fastest?.public_ip, fastest?.engine_used]
            .filter((text) => text !== undefined && text !== "")
            .join(" · ")}
        <Places places={places} />
      </span>
    </li>
  );
}

/** What it is from each country that it is checked from. */
function Places({ places }: { places: Row["regional_status"] }) {
  return (
    <>
      {Object.entries(places)
        .filter(([code]) => code !== "any")
        .map(([code, { status }]) => (
          <span key={code} class="place-state" title={`${code}: ${t(`region.${status}`)}`}>
            {" "}
            <StatusMark status={STATUS_OF_REGION[status] ?? "unknown"} /> {code}
            <span class="sr-only">{t(`region.${status}`)}</span>
          </span>
        ))}
    </>
  );
}
