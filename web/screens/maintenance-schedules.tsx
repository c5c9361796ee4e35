/** Schedules of maintenance: once, on days of the week, or by a cron pattern, for monitors that a selector names when a turn comes. */
import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { Delete } from "../parts/delete.tsx";
import { Icon } from "../parts/icon.tsx";
import { EditAndDelete } from "../parts/icon-button.tsx";
import { subscriptions } from "../parts/selector-field.tsx";
import { Moment } from "../parts/time.tsx";
import { attempt } from "../state/notices.ts";
import { type ApiSelector, selectorText } from "../state/selector-text.ts";
import { canEdit } from "../state/session.ts";
import { weekday } from "../words/times.ts";
import { list, t } from "../words/words.ts";

export type Schedule = Schemas["MaintenanceSchedule"];

export function Schedules({
  schedules,
  edit,
  changed,
}: {
  schedules: readonly Schedule[];
  edit: (schedule: Schedule) => void;
  changed: () => void;
}) {
  const deleting = useSignal<Schedule | null>(null);
  const removed = deleting.value;
  return (
    <>
      <ul class="card lines" aria-label={t("maintenance.schedules")}>
        {schedules.map((schedule) => (
          <Line
            key={schedule.id}
            schedule={schedule}
            edit={() => edit(schedule)}
            remove={() => (deleting.value = schedule)}
            changed={changed}
          />
        ))}
      </ul>
      {removed !== null && (
        <Delete
          what="maintenance"
          name={removed.title}
          close={() => (deleting.value = null)}
          act={() => data(client.DELETE("/maintenances/{id}", { params: { path: { id: removed.id } } })).then(changed)}
        />
      )}
    </>
  );
}

interface LineProps {
  readonly schedule: Schedule;
  readonly edit: () => void;
  readonly remove: () => void;
  readonly changed: () => void;
}

function Line({ schedule, edit, remove, changed }: LineProps) {
  const { id, title: name, state, next_starts_at: next, select, announce } = schedule;
  const line = selectorText(select as ApiSelector, subscriptions());
  const end = () =>
    void attempt(
      () => data(client.POST("/maintenances/{id}/end", { params: { path: { id } } })),
      t("maintenance.ended", { name }),
    ).then((done) => done && changed());
  return (
    <li class="line">
      <Icon name="calendar-clock" />
      <div class="line-text">
        <b dir="auto">{name}</b> <span class={`tag state-${state}`}>{t(`maintenance.state.${state}`)}</span>
        <p>
          <When schedule={schedule} />
        </p>
        <p class="faint">
          {line === "" ? t("maintenance.allMonitors") : <bdi>{line}</bdi>}
          {announce && ` · ${t("maintenance.announced")}`}
          {next !== null && (
            <>
              {" · "}
              {t("maintenance.next")} <Moment at={next} />
            </>
          )}
        </p>
      </div>
      {canEdit.value && (
        <div class="acts">
          {state === "active" && (
            <button type="button" class="button small" aria-label={t("maintenance.endOf", { name })} onClick={end}>
              {t("maintenance.end")}
            </button>
          )}
          <EditAndDelete name={name} edit={edit} remove={remove} />
        </div>
      )}
    </li>
  );
}

function When({ schedule: { schedule, timezone } }: { schedule: Schedule }) {
  if (schedule.type === "once")
    return (
      <>
        <Moment at={schedule.starts_at} /> – <Moment at={schedule.ends_at} />
      </>
    );
  const minutes = t("maintenance.lasts", { n: schedule.minutes });
  return (
    <>
      {schedule.type === "cron" ? (
        <code>{schedule.cron}</code>
      ) : (
        <>
          {schedule.days.length === 7 ? t("quiet.everyDay") : list(schedule.days.map(weekday))}{" "}
          <bdi>{schedule.from}</bdi>
        </>
      )}
      {` · ${minutes} · ${timezone}`}
    </>
  );
}
