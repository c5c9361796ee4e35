/** One incident: what is wrong, why, what has happened since, and the two acts a person needs at four in the morning. */
import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useReloadOn, useResource } from "../api/resource.ts";
import { Card } from "../parts/card.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { AreaField, CheckField, SelectField } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { acknowledge } from "../parts/incident-line.tsx";
import { SharedHosts } from "../parts/shared-hosts.tsx";
import { ShowOne } from "../parts/states.tsx";
import { StatusMark } from "../parts/status.tsx";
import { Lasting, Moment } from "../parts/time.tsx";
import { useThingTitle } from "../parts/title.ts";
import { Why } from "../parts/why.tsx";
import { useDraft } from "../state/drafts.ts";
import { shownName } from "../state/monitors.ts";
import { attempt, say } from "../state/notices.ts";
import { incidentState } from "../state/project.ts";
import { canEdit } from "../state/session.ts";
import { timeOf } from "../words/times.ts";
import { t } from "../words/words.ts";
import { Report } from "./incident-report.tsx";
import { Told } from "./incident-told.tsx";
import type { ScreenProps } from "./screen.ts";

type IncidentView = Schemas["Incident"];
type EventType = Schemas["IncidentEvent"]["type"];
const RELOAD_MS = 15_000;
const MOST_EVENTS = 200;
/** Of those that may share its host. */
const MOST_OPEN = 100;

const LIST = { path: "/incidents", title: "nav.incidents" } as const;

export function Incident({ params: { id = "" } }: ScreenProps) {
  const path = { id };
  const incident = useResource(
    async (signal) => {
      const [view, events] = await Promise.all([
        data(client.GET("/incidents/{id}", { params: { path }, signal })),
        data(client.GET("/incidents/{id}/events", { params: { path, query: { limit: MOST_EVENTS } }, signal })),
      ]);
      return { view, events: events.events };
    },
    id,
    RELOAD_MS,
  );
  useReloadOn(incident, incidentState.value);
  return (
    <div class="screen narrow">
      <ShowOne resource={incident} rows={8} list={LIST}>
        {({ view, events }) => (
          <>
            <Head view={view} changed={incident.reload} />
            {view.status === "active" && <Others id={id} changed={incident.reload} />}
            <LastFailure view={view} />
            <Told id={id} />
            <Report view={view} changed={incident.reload} />
            {canEdit.value && <NoteForm id={id} changed={incident.reload} />}
            <Timeline events={events} id={id} changed={incident.reload} />
          </>
        )}
      </ShowOne>
    </div>
  );
}

/** What else is wrong at the same host. */
function Others({ id, changed }: { id: string; changed: () => void }) {
  const open = useResource(
    (signal) => data(client.GET("/incidents", { params: { query: { status: "active", limit: MOST_OPEN } }, signal })),
    "open beside",
  );
  useReloadOn(open, incidentState.value);
  const { value } = open.state.value;
  if (value === null) return null;
  const again = () => {
    open.reload();
    changed();
  };
  return <SharedHosts incidents={value.incidents} only={id} changed={again} />;
}

function Head({ view, changed }: { view: IncidentView; changed: () => void }) {
  const isOpen = view.status === "active";
  const title = t(isOpen ? `incident.${view.error_type}` : "incident.recovered", {
    name: shownName(view.server_name, view.server_id),
  });
  useThingTitle(title);
  return (
    <header class="incident-head">
      <h1 class="with-mark">
        <StatusMark status={isOpen ? view.error_type : "healthy"} size={24} />
        <span>{title}</span>
      </h1>
      <p class="sub">
        <a href={`#/monitors/${view.server_id}`}>{t("incident.toMonitor")}</a>
        <span>{t(`severity.${view.severity}`)}</span>
        <Lasting from={view.started_at} to={view.ended_at} />
        <Moment at={view.started_at} />
        {view.locations.length > 0 && <span>{view.locations.join(", ")}</span>}
      </p>
      {view.acknowledged && (
        <p class="tag quiet">
          <Icon name="check" size={14} />
          {t("incident.acknowledgedBy", { name: view.acknowledged_by?.name ?? "–" })}
        </p>
      )}
      {isOpen && canEdit.value && <Acts view={view} changed={changed} />}
    </header>
  );
}

function Acts({ view, changed }: { view: IncidentView; changed: () => void }) {
  const note = useSignal("");
  const retest = async () => {
    const done = await attempt(() =>
      data(client.POST("/incidents/{id}/retest", { params: { path: { id: view.id } } })),
    );
    if (!done) return;
    say(t("incident.retesting"));
    changed();
  };
  return (
    <div class="acts big">
      {!view.acknowledged && (
        <>
          <button
            type="button"
            class="button primary"
            aria-keyshortcuts="a"
            onClick={() => void acknowledge(view.id, note.value.trim() === "" ? null : note.value).then(changed)}
          >
            <Icon name="check" size={16} /> {t("incident.acknowledge")}
          </button>
          <input
            type="text"
            class="grow"
            maxLength={500}
            aria-label={t("incident.ackNote")}
            placeholder={t("incident.ackNote")}
            value={note.value}
            onInput={(event) => (note.value = event.currentTarget.value)}
          />
        </>
      )}
      {view.type !== "push" && (
        <button type="button" class="button" aria-keyshortcuts="t" onClick={() => void retest()}>
          <Icon name="refresh-cw" size={16} /> {t("incident.retest")}
        </button>
      )}
    </div>
  );
}

/** The newest failure of the monitor with its details; the incident's own message until it is there. */
function LastFailure({ view }: { view: IncidentView }) {
  const failures = useResource(
    (signal) =>
      data(
        client.GET("/results/server/{id}", {
          params: {
            path: { id: view.server_id },
            query: { period: "7d", status: view.error_type, limit: 1, explain: "1" },
          },
          signal,
        }),
      ),
    `why ${view.id} ${view.ended_at}`,
  );
  const row = failures.state.value.value?.results[0];
  const isOfThis = row !== undefined && timeOf(row.tested_at) >= timeOf(view.started_at) - 600_000;
  return (
    <Card id="why" title={t("why.title")}>
      <Why message={view.error_message} explain={isOfThis ? row.explain : undefined} />
    </Card>
  );
}

const PHASES = ["", "investigating", "identified", "monitoring", "resolved"] as const;
type Phase = (typeof PHASES)[number];
const MAX_NOTE = 5_000;

function NoteForm({ id, changed }: { id: string; changed: () => void }) {
  const [text, isPublic] = [useDraft(`note ${id}`, "").value, useSignal(false)];
  const phase = useSignal<Phase>("");
  const post = async (event: Event) => {
    event.preventDefault();
    if (text.value.trim() === "") return;
    const body = { text: text.value, phase: phase.value === "" ? null : phase.value, public: isPublic.value };
    const done = await attempt(() => data(client.POST("/incidents/{id}/notes", { params: { path: { id } }, body })));
    if (!done) return;
    text.value = "";
    changed();
  };
  return (
    <form class="card note-form" onSubmit={post}>
      <AreaField
        label={t("note.text")}
        rows={2}
        maxLength={MAX_NOTE}
        value={text.value}
        onValue={(written) => (text.value = written)}
      />
      <div class="note-acts">
        <SelectField
          label={t("note.phase")}
          value={phase.value}
          options={PHASES.map((word) => [word, t(word === "" ? "note.noPhase" : `note.phase.${word}`)] as const)}
          onValue={(word) => (phase.value = word)}
        />
        <CheckField
          label={t("note.public")}
          checked={isPublic.value}
          onChecked={(checked) => (isPublic.value = checked)}
        />
        <button type="submit" class="button">
          {t("note.post")}
        </button>
      </div>
    </form>
  );
}

interface NoteData {
  readonly text?: string;
  readonly phase?: Exclude<Phase, ""> | null;
  readonly public?: boolean;
}

/** What a note says, in the place of an event's message. */
function Note({ note, remove }: { note: NoteData; remove: () => void }) {
  return (
    <div class="note">
      <p class="note-text" dir="auto">
        {note.text}
      </p>
      <p class="faint">
        {note.phase !== null && note.phase !== undefined && t(`note.phase.${note.phase}`)}
        {note.public === true && ` · ${t("note.isPublic")}`}
        {canEdit.value && (
          <button type="button" class="button small" onClick={remove}>
            {t("act.delete")}
          </button>
        )}
      </p>
    </div>
  );
}

const EVENT_ICONS: Readonly<Record<string, string>> = {
  opened: "siren",
  acknowledged: "check",
  recovered: "circle-check",
  retest_queued: "refresh-cw",
  retest_finished: "refresh-cw",
  alert_sent: "bell",
  alert_failed: "triangle-alert",
  monitor_paused: "pause",
  monitor_resumed: "play",
  location_changed: "map-pin",
  note: "file-text",
};

function EventLine({ type, said }: { type: Exclude<EventType, "note">; said: string | null }) {
  return (
    <p>
      {t(`event.${type}`)}
      {said !== null && (
        <>
          : <bdi>{said}</bdi>
        </>
      )}
    </p>
  );
}

/** What an event adds to its type; null where the API's message is the type once more. */
function saidOf(type: EventType, message: string, more: Readonly<Record<string, unknown>>): string | null {
  switch (type) {
    case "opened":
      return typeof more.error_message === "string" ? more.error_message : message;
    case "level_changed":
      return t("status.down");
    case "location_changed":
      return LOCATION_STATES.has(String(more.status)) ? t(`region.${more.status as "up"}`) : message;
    case "alert_sent":
    case "alert_failed":
      // "Alert sent by ntfy (Phone)": the way and its name.
      return /\bby (\w+(?: \(.*\))?)/.exec(message)?.[1] ?? message;
    case "retest_finished":
      return message;
    default:
      return null;
  }
}

const LOCATION_STATES: ReadonlySet<string> = new Set(["up", "down", "degraded"]);

function Timeline({
  events,
  id: incidentId,
  changed,
}: {
  events: readonly Schemas["IncidentEvent"][];
  id: string;
  changed: () => void;
}) {
  const deleting = useSignal<string | null>(null);
  const remove = async (note: string) => {
    const path = { id: incidentId, note };
    await data(client.DELETE("/incidents/{id}/notes/{note}", { params: { path } }));
    changed();
  };
  return (
    <Card id="timeline" title={t("incident.timeline")}>
      <ol class="timeline" aria-label={t("incident.timeline")}>
        {events.map(({ id, type, at, message, actor, location, data: more }) => (
          <li key={id}>
            <span class="timeline-mark">
              <Icon name={EVENT_ICONS[type] ?? "info"} size={16} />
            </span>
            <div>
              {type === "note" ? (
                <Note note={more} remove={() => (deleting.value = id)} />
              ) : (
                <EventLine type={type} said={saidOf(type, message, more)} />
              )}
              <p class="faint">
                <Moment at={at} />
                {actor.name !== null && ` · ${actor.name}`}
                {location !== null && ` · ${location}`}
              </p>
            </div>
          </li>
        ))}
      </ol>
      {deleting.value !== null && (
        <Confirm
          title={t("note.deleteTitle")}
          close={() => (deleting.value = null)}
          confirm={t("act.delete")}
          danger
          act={() => remove(deleting.value ?? "")}
        >
          <p>{t("note.deleteText")}</p>
        </Confirm>
      )}
    </Card>
  );
}
