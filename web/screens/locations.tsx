/** Where checks run, and whether anything is there to run them. */
import { client, data } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Empty, Show } from "../parts/states.tsx";
import { StatusMark } from "../parts/status.tsx";
import { t } from "../words/words.ts";
import { SettingsHead } from "./settings.tsx";

const RELOAD_MS = 20_000;

export function Locations() {
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
            <ul class="cards">
              {regions.map(({ code, name, healthy_checkers: checkers, available }) => (
                <li class="card" key={code}>
                  <h2>
                    <StatusMark status={available ? "healthy" : "down"} /> {name} <code>{code}</code>
                  </h2>
                  <p class="sub">{available ? t("locations.checkers", { n: checkers }) : t("region.unavailable")}</p>
                </li>
              ))}
            </ul>
          )
        }
      </Show>
    </div>
  );
}
