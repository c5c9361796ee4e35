/** What was sent by which channel, and whether it arrived. */
import { useSignal } from "@preact/signals";
import { client, data } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { SelectField } from "../parts/field.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { t } from "../words/words.ts";
import { SentList } from "./alert-sent.tsx";

const RELOAD_MS = 20_000;

export function Deliveries() {
  const channels = useResource((signal) => data(client.GET("/channels", { signal })), "channels");
  const chosen = useSignal("");
  return (
    <Show resource={channels} rows={4}>
      {({ channels: rows }) => {
        const [first] = rows;
        if (first === undefined)
          return (
            <Empty icon="bell" title={t("channel.empty")}>
              <p>{t("channel.emptyText")}</p>
            </Empty>
          );
        const id = rows.find((one) => String(one.id) === chosen.value)?.id ?? first.id;
        return (
          <>
            <SelectField
              label={t("delivery.channel")}
              value={String(id)}
              options={rows.map((one) => [String(one.id), one.name] as const)}
              onValue={(word) => (chosen.value = word)}
            />
            <OfChannel key={id} id={String(id)} />
          </>
        );
      }}
    </Show>
  );
}

function OfChannel({ id }: { id: string }) {
  const list = useResource(
    (signal) => data(client.GET("/channels/{id}/deliveries", { params: { path: { id } }, signal })),
    id,
    RELOAD_MS,
  );
  return (
    <Show resource={list} rows={4}>
      {({ alerts }) =>
        alerts.length === 0 ? (
          <p class="hint">{t("delivery.empty")}</p>
        ) : (
          <div class="card">
            <SentList label={t("alerts.deliveries")} alerts={alerts} />
          </div>
        )
      }
    </Show>
  );
}
