/** Schedules of maintenance: once, on days of the week, or by a cron pattern, for monitors that a selector names when a turn comes. */
import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { Confirm } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { subscriptions } from "../parts/selector-field.tsx";
import { Moment } from "../parts/time.tsx";
import { attempt, say } from "../state/notices.ts";
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
      {deleting.value !== null && (
        <Delete schedule={deleting.value} close={() => (deleting.value = null)} changed={changed} />
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
          <button type="button" class="button small" aria-label={t("act.editOf", { name })} onClick={edit}>
            <Icon name="pencil" size={14} />
          </button>
          <button type="button" class="button small" aria-label={t("act.deleteOf", { name })} onClick={remove}>
            <Icon name="trash-2" size={14} />
          </button>
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

function Delete({
  schedule: { id, title: name },
  close,
  changed,
}: {
  schedule: Schedule;
  close: () => void;
  changed: () => void;
}) {
  return (
    <Confirm
      title={t("maintenance.deleteTitle")}
      close={close}
      confirm={t("act.delete")}
      danger
      act={async () => {
        await data(client.DELETE("/maintenances/{id}", { params: { path: { id } } }));
        say(t("maintenance.deleted", { name }));
        changed();
      }}
    >
      <p>{t("maintenance.deleteText", { name })}</p>
    </Confirm>
  );
}
