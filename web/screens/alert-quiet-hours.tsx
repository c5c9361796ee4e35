/** Hours of the week in which rules that have them tell nothing but what is let through. */
import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Delete } from "../parts/delete.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { CheckField, SelectField, TextField } from "../parts/field.tsx";
import { type FormFault, useFormFault } from "../parts/form-fault.ts";
import { Icon } from "../parts/icon.tsx";
import { AddButton, EditAndDelete } from "../parts/icon-button.tsx";
import { listOf } from "../parts/monitor-fields.ts";
import { Empty, Show } from "../parts/states.tsx";
import { DAYS, Week } from "../parts/week.tsx";
import { ZoneField } from "../parts/zone-field.tsx";
import { say } from "../state/notices.ts";
import { canEdit } from "../state/session.ts";
import { withAt } from "../state/with-at.ts";
import { weekday } from "../words/times.ts";
import { list, t } from "../words/words.ts";
import { zoneName } from "../words/zone.ts";

type Hours = Schemas["QuietHours"]["quiet_hours"][number];
type Span = Hours["spans"][number];
/** A new one has no number yet. */
type Fresh = Omit<Hours, "id"> & { readonly id: number | null };

const NIGHT: Span = { days: [...DAYS], from: "22:00", to: "07:00" };
const MODES = ["hold", "drop"] as const;

export function QuietHours() {
  const editing = useSignal<number | "new" | null>(null);
  const deleting = useSignal<Hours | null>(null);
  const all = useResource((signal) => data(client.GET("/quiet-hours", { signal })), "quiet-hours");
  const put = async (version: number, quietHours: readonly Fresh[]) => {
    await data(client.PUT("/quiet-hours", { body: { version, quiet_hours: [...quietHours] } }));
    all.reload();
  };
  const add = canEdit.value && <AddButton label={t("quiet.add")} act={() => (editing.value = "new")} />;
  return (
    <Show resource={all} rows={3}>
      {({ version, quiet_hours: quietHours }) => (
        <>
          <List
            quietHours={quietHours}
            add={add}
            edit={(index) => (editing.value = index)}
            remove={(hours) => (deleting.value = hours)}
          />
          {deleting.value !== null && (
            <Delete
              what="quiet"
              name={deleting.value.name}
              close={() => (deleting.value = null)}
              act={() =>
                put(
                  version,
                  quietHours.filter(({ id }) => id !== deleting.value?.id),
                )
              }
            />
          )}
          {editing.value !== null && (
            <Edit
              hours={editing.value === "new" ? null : (quietHours[editing.value] ?? null)}
              close={() => (editing.value = null)}
              save={async (hours) => {
                const at = editing.value;
                await put(
                  version,
                  at === "new" ? [...quietHours, hours] : quietHours.map((one, index) => (index === at ? hours : one)),
                );
                say(t("act.saved", { name: hours.name }));
              }}
            />
          )}
        </>
      )}
    </Show>
  );
}

function List({ quietHours, add, edit, remove }: ListProps) {
  if (quietHours.length === 0)
    return (
      <Empty icon="moon" title={t("quiet.empty")}>
        <p>{t("quiet.emptyText")}</p>
        {add}
      </Empty>
    );
  return (
    <>
      <div class="tab-acts">{add}</div>
      <ul class="card lines" aria-label={t("alerts.quietHours")}>
        {quietHours.map((hours, index) => (
          <Line key={hours.id} hours={hours} edit={() => edit(index)} remove={() => remove(hours)} />
        ))}
      </ul>
    </>
  );
}

interface ListProps {
  readonly quietHours: readonly Hours[];
  readonly add: ComponentChildren;
  readonly edit: (index: number) => void;
  readonly remove: (hours: Hours) => void;
}

function Line({ hours, edit, remove }: { hours: Hours; edit: () => void; remove: () => void }) {
  const { name, timezone, spans, mode, let_through: through } = hours;
  const exceptions = [...through.severity.map((word) => t(`severity.${word}`)), ...through.tags];
  return (
    <li class="line">
      <Icon name="moon" />
      <div class="line-text">
        <b dir="auto">{name}</b> <span class="faint">{timezone}</span>
        {spans.map(({ days, from, to }, index) => (
          <p key={index}>
            {days.length === 7 ? t("quiet.everyDay") : list(days.map(weekday))} <bdi>{`${from}–${to}`}</bdi>
          </p>
        ))}
        <p class="faint">
          {t(`quiet.mode.${mode}`)}
          {exceptions.length > 0 && ` · ${t("quiet.through", { what: list(exceptions) })}`}
        </p>
      </div>
      {canEdit.value && (
        <div class="acts">
          <EditAndDelete name={name} edit={edit} remove={remove} />
        </div>
      )}
    </li>
  );
}

function Edit({
  hours,
  close,
  save,
}: {
  hours: Hours | null;
  close: () => void;
  save: (hours: Fresh) => Promise<void>;
}) {
  const name = useSignal(hours?.name ?? "");
  const zone = useSignal(hours?.timezone ?? zoneName());
  const spans = useSignal<readonly Span[]>(hours?.spans ?? [NIGHT]);
  const mode = useSignal<(typeof MODES)[number]>(hours?.mode ?? "hold");
  const critical = useSignal(hours?.let_through.severity.includes("critical") ?? true);
  const tags = useSignal(hours?.let_through.tags.join(", ") ?? "");
  const clocks = spans.value.flatMap((_, at) => [`spans.${at}.from`, `spans.${at}.to`]);
  const fault = useFormFault(["name", "timezone", "tags", ...clocks]);
  const act = () => {
    const others = hours?.let_through.severity.filter((word) => word !== "critical") ?? [];
    return save({
      id: hours?.id ?? null,
      name: name.value,
      timezone: zone.value,
      spans: [...spans.value],
      mode: mode.value,
      let_through: { severity: critical.value ? ["critical", ...others] : others, tags: [...listOf(tags.value)] },
    });
  };
  return (
    <Confirm
      title={t(hours === null ? "quiet.add" : "quiet.editTitle")}
      close={close}
      confirm={t("act.save")}
      act={act}
      fault={fault}
    >
      <TextField
        label={t("field.name")}
        error={fault.of("name")}
        required
        value={name.value}
        onValue={(text) => (name.value = text)}
      />
      <ZoneField error={fault.of("timezone")} value={zone.value} onValue={(text) => (zone.value = text)} />
      <Spans spans={spans} fault={fault} />
      <SelectField
        label={t("quiet.mode")}
        value={mode.value}
        options={MODES.map((word) => [word, t(`quiet.mode.${word}`)] as const)}
        onValue={(word) => (mode.value = word)}
      />
      <Exceptions critical={critical} tags={tags} error={fault.of("tags")} />
    </Confirm>
  );
}

/** What is told at once all the same. */
function Exceptions({ critical, tags, error }: ExceptionsProps) {
  return (
    <>
      <CheckField
        label={t("quiet.letCritical")}
        checked={critical.value}
        onChecked={(checked) => (critical.value = checked)}
      />
      <TextField
        label={t("quiet.letTags")}
        hint={t("field.tagsHint")}
        error={error}
        value={tags.value}
        onValue={(text) => (tags.value = text)}
      />
    </>
  );
}

interface ExceptionsProps {
  readonly critical: Signal<boolean>;
  readonly tags: Signal<string>;
  readonly error: string | null;
}

function Spans({ spans, fault }: { spans: Signal<readonly Span[]>; fault: FormFault }) {
  const set = (at: number, span: Span | null) => (spans.value = withAt(spans.value, at, span));
  return (
    <>
      {spans.value.map((span, index) => (
        <fieldset class="checks" key={index}>
          <legend>{t("quiet.span", { n: index + 1 })}</legend>
          <Week days={span.days} onDays={(days) => set(index, { ...span, days })} />
          <div class="pair">
            <TextField
              label={t("quiet.from")}
              error={fault.of(`spans.${index}.from`)}
              type="time"
              required
              value={span.from}
              onValue={(from) => set(index, { ...span, from })}
            />
            <TextField
              label={t("quiet.to")}
              error={fault.of(`spans.${index}.to`)}
              type="time"
              required
              value={span.to}
              onValue={(to) => set(index, { ...span, to })}
            />
          </div>
          {spans.value.length > 1 && (
            <div>
              <button type="button" class="button small" onClick={() => set(index, null)}>
                {t("quiet.spanRemove")}
              </button>
            </div>
          )}
        </fieldset>
      ))}
      <div>
        <AddButton small label={t("quiet.spanAdd")} act={() => (spans.value = [...spans.value, NIGHT])} />
      </div>
    </>
  );
}
