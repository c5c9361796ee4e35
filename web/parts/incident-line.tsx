/** One incident in a list: what, since when, why, and the one act that it waits for. */
import { client, data, type Schemas } from "../api/client.ts";
import { shownName } from "../state/monitors.ts";
import { attempt } from "../state/notices.ts";
import { canEdit } from "../state/session.ts";
import { t } from "../words/words.ts";
import { Icon } from "./icon.tsx";
import { StatusMark } from "./status.tsx";
import { Clock, Lasting } from "./time.tsx";

type Row = Schemas["IncidentRow"];

export function IncidentLine({ incident, changed }: { incident: Row; changed: () => void }) {
  const { id, error_message: message, started_at, ended_at, acknowledged, status } = incident;
  const name = shownName(incident.server_name, incident.server_id);
  return (
    <li class="incident-line">
      <StatusMark status={status === "recovered" ? "healthy" : incident.error_type} />
      <div class="incident-text">
        <a href={`#/incidents/${id}`} dir="auto" title={name}>
          {shortened(name)}
        </a>
        <span class="faint">
          {" "}
          {ended_at !== null && (
            <>
              <Clock at={started_at} /> ·{" "}
            </>
          )}
          <Lasting from={started_at} to={ended_at} />
        </span>
        {acknowledged && (
          <span class="tag quiet">
            <Icon name="check" size={12} /> {t("incident.acknowledged")}
          </span>
        )}
        <p class="cut-2" dir="auto">
          {message}
        </p>
      </div>
      {status === "active" && !acknowledged && canEdit.value && (
        <button
          type="button"
          class="button small"
          aria-keyshortcuts="a"
          aria-label={t("incident.acknowledgeOf", { name })}
          onClick={() => void acknowledge(id, null).then((done) => done && changed())}
        >
          {t("incident.ack")}
        </button>
      )}
    </li>
  );
}

/** Letters of a name in a list: two lines on a phone. */
const MOST_LETTERS = 60;

function shortened(name: string): string {
  const letters = [...name];
  return letters.length <= MOST_LETTERS ? name : `${letters.slice(0, MOST_LETTERS - 1).join("")}…`;
}

export function acknowledge(id: string, note: string | null): Promise<boolean> {
  return attempt(
    () => data(client.POST("/incidents/{id}/acknowledge", { params: { path: { id } }, body: { note } })),
    t("incident.acknowledgedNow"),
  );
}
