/** Where checks run, and whether anything is there to run them. */
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Empty, Show } from "../parts/states.tsx";
import { StatusMark } from "../parts/status.tsx";
import { WorldMap } from "../parts/world-map.tsx";
import { isAdmin } from "../state/session.ts";
import { milliseconds } from "../words/times.ts";
import { t } from "../words/words.ts";
import { SettingsHead } from "./settings.tsx";

const RELOAD_MS = 20_000;

type Machines = Schemas["Service"]["checkers"][number]["machines"];

/** Only for the operator: for others a place is how many checkers it has. */
async function machinesByCode(signal: AbortSignal): Promise<ReadonlyMap<string, Machines>> {
  if (!isAdmin.peek()) return new Map();
  try {
    const { checkers } = await data(client.GET("/service", { signal }));
    return new Map(checkers.map(({ code, machines }) => [code, machines]));
  } catch {
    return new Map();
  }
}

export function Locations() {
  const machines = useResource(machinesByCode, "machines", RELOAD_MS);
  const list = useResource((signal) => data(client.GET("/regions", { signal })), "regions", RELOAD_MS);
  return (
    <div class="screen">
      <SettingsHead title="nav.locations" />
      <Show resource={list} rows={4}>
        {({ regions }) =>
          regions.length === 0 ? (
            <Empty icon="map-pin" title={t("locations.empty")}>
              <p>{t("locations.emptyText")}</p>
            </Empty>
          ) : (
            <>
              <WorldMap locations={regions} />
              <ul class="cards">
                {regions.map(({ code, name, healthy_checkers: checkers, available }) => (
                  <li class="card" key={code}>
                    <h2>
                      <StatusMark status={available ? "healthy" : "down"} /> {name} <code>{code}</code>
                    </h2>
                    <p class="sub">{available ? t("locations.checkers", { n: checkers }) : t("region.unavailable")}</p>
                    <MachineList machines={machines.state.value.value?.get(code) ?? []} />
                  </li>
                ))}
              </ul>
            </>
          )
        }
      </Show>
    </div>
  );
}

function MachineList({ machines }: { machines: Machines }) {
  if (machines.length === 0) return null;
  return (
    <ul class="plain-list">
      {machines.map(({ name, healthy, fit, running, room, clock_offset_ms: offset }) => (
        <li key={name}>
          <StatusMark status={healthy && fit ? "healthy" : "down"} /> <bdi>{name}</bdi>{" "}
          <span class="faint">
            {t(!healthy ? "service.away" : fit ? "service.fit" : "service.unfit")} ·{" "}
            {t("locations.room", { running, room })} · {t("service.col.clock")}{" "}
            <span dir="ltr">
              {offset > 0 ? "+" : offset < 0 ? "−" : ""}
              {milliseconds(Math.abs(offset))}
            </span>
          </span>
        </li>
      ))}
    </ul>
  );
}
