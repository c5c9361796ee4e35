/** Who was told of an incident, and whether it arrived. */
import { client, data } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Card } from "../parts/card.tsx";
import { Show } from "../parts/states.tsx";
import { t } from "../words/words.ts";
import { SentList } from "./alert-sent.tsx";

const RELOAD_MS = 15_000;

export function Told({ id }: { id: string }) {
  const list = useResource(
    (signal) => data(client.GET("/incidents/{id}/alerts", { params: { path: { id } }, signal })),
    `told ${id}`,
    RELOAD_MS,
  );
  return (
    <Card id="told" title={t("told.title")}>
      <Show resource={list} rows={1}>
        {({ alerts }) =>
          alerts.length === 0 ? (
            <p class="hint">{t("told.none")}</p>
          ) : (
            <SentList label={t("told.title")} alerts={alerts} />
          )
        }
      </Show>
    </Card>
  );
}
