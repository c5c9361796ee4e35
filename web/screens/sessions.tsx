/** Where the signed-in person is signed in, and how to end what is no longer theirs. */
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Card } from "../parts/card.tsx";
import { Icon } from "../parts/icon.tsx";
import { Show } from "../parts/states.tsx";
import { Ago, Moment } from "../parts/time.tsx";
import { attempt } from "../state/notices.ts";
import { exactly, timeOf } from "../words/times.ts";
import { t } from "../words/words.ts";

type Session = Schemas["SessionEntry"];

export function Sessions() {
  const list = useResource((signal) => data(client.GET("/sessions", { signal })), "sessions");
  const end = async ({ id, device }: Session) => {
    const request = () => data(client.DELETE("/sessions/{id}", { params: { path: { id: String(id) } } }));
    if (await attempt(request, t("sessions.ended", { name: device }))) list.reload();
  };
  const endOthers = async () => {
    const request = () => data(client.DELETE("/sessions", { params: { query: { others: "1" } } }));
    if (await attempt(request, t("sessions.othersEnded"))) list.reload();
  };
  const others = (list.state.value.value?.total ?? 0) - 1;
  return (
    <Card
      id="sessions"
      title={t("sessions.title")}
      beside={
        others > 0 && (
          <button type="button" class="button small" onClick={() => void endOthers()}>
            {t("sessions.endOthers")}
          </button>
        )
      }
    >
      <Show resource={list} rows={2}>
        {({ sessions }) => (
          <ul class="lines" aria-label={t("sessions.title")}>
            {sessions.map((session) => (
              <Line key={session.id} session={session} end={() => void end(session)} />
            ))}
          </ul>
        )}
      </Show>
    </Card>
  );
}

function Line({ session: { device, address, via, current, seen_at: seen, created_at: began }, end }: LineProps) {
  return (
    <li class="line">
      <Icon name="monitor" />
      <div class="line-text">
        <b dir="auto">{device}</b> {current && <span class="tag quiet">{t("sessions.this")}</span>}
        <p class="faint">
          {/* Where it began is an address, which runs from left to right. */}
          <bdi>{address}</bdi> · {t(`sessions.via.${via}`)} · {t("sessions.began")} <Moment at={began} /> ·{" "}
          {t("sessions.seen")} <Ago at={seen} />
        </p>
      </div>
      {!current && (
        <button
          type="button"
          class="button small"
          aria-label={t("sessions.endOf", { name: device, since: exactly(timeOf(began)) })}
          onClick={end}
        >
          {t("sessions.end")}
        </button>
      )}
    </li>
  );
}

interface LineProps {
  readonly session: Session;
  readonly end: () => void;
}
