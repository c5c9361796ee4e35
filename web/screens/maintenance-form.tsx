/** A schedule of maintenance, new or changed. */
import { type Signal, useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { Confirm } from "../parts/dialog.tsx";
import { CheckField, SelectField, TextField } from "../parts/field.tsx";
import { FieldError } from "../parts/field-fault.ts";
import { type FormFault, useFormFault } from "../parts/form-fault.ts";
import { listOf } from "../parts/monitor-fields.ts";
import { readSelector, SelectorField, subscriptions } from "../parts/selector-field.tsx";
import { DAYS, Week } from "../parts/week.tsx";
import { ZoneField } from "../parts/zone-field.tsx";
import { say } from "../state/notices.ts";
import { serviceNow, shown } from "../state/project.ts";
import { type ApiSelector, selectorText } from "../state/selector-text.ts";
import { t } from "../words/words.ts";
import { instantOf, localText, zoneName } from "../words/zone.ts";
import type { Schedule } from "./maintenance-schedules.tsx";

const HOUR_MS = 3_600_000;
const REPEATS = ["once", "weekly", "cron"] as const;

interface Form {
  readonly title: string;
  readonly repeat: (typeof REPEATS)[number];
  /** As `<input type=datetime-local>` has them, in the reader's zone. */
  readonly starts: string;
  readonly ends: string;
  readonly days: readonly number[];
  /** `HH:MM` in the schedule's zone. */
  readonly from: string;
  readonly cron: string;
  readonly minutes: string;
  readonly timezone: string;
  readonly tags: string;
  /** Instead of tags: monitors, as a filter says them. */
  readonly line: string;
  readonly text: string;
  readonly announce: boolean;
}

function formOf(schedule: Schedule | null, line: string): Form {
  const fresh: Form = {
    ...{ title: "", repeat: "once", days: [...DAYS], from: "02:00", cron: "0 2 * * 2", minutes: "60" },
    ...{ starts: localText(serviceNow()), ends: localText(serviceNow() + HOUR_MS), tags: "", line, text: "" },
    ...{ timezone: zoneName(), announce: false },
  };
  if (schedule === null) return fresh;
  const { title, text, announce, timezone, schedule: turns } = schedule;
  const select = schedule.select as ApiSelector;
  const onlyTags = Object.keys(select).length === 1 ? select.any_tag : undefined;
  return {
    ...fresh,
    ...{ title, text, announce, timezone, repeat: turns.type },
    ...(onlyTags === undefined ? { line: selectorText(select, subscriptions()) } : { tags: onlyTags.join(", ") }),
    ...(turns.type === "once"
      ? { starts: localText(Date.parse(turns.starts_at)), ends: localText(Date.parse(turns.ends_at)) }
      : { minutes: String(turns.minutes) }),
    ...(turns.type === "weekly" && { days: turns.days, from: turns.from }),
    ...(turns.type === "cron" && { cron: turns.cron }),
  };
}

const isoOf = (text: string): string => new Date(instantOf(text)).toISOString();

function turnsOf({ repeat, starts, ends, days, from, cron, minutes }: Form): Schemas["MaintenanceTurns"] {
  if (repeat === "once") return { type: "once", starts_at: isoOf(starts), ends_at: isoOf(ends) };
  return repeat === "weekly"
    ? { type: "weekly", days: [...days], from, minutes: Number(minutes) }
    : { type: "cron", cron, minutes: Number(minutes) };
}

/** @throws FieldError when nothing is named */
function selectOf({ tags, line }: Form): Readonly<Record<string, unknown>> {
  const words = listOf(tags).map((tag) => tag.toLowerCase());
  if (words.length > 0) return { any_tag: words };
  if (line.trim() === "") throw new FieldError("tags", t("maintenance.needsTag"));
  return { ...readSelector(line, "select") };
}

/** As the API names them; what it says of the selector is about the tags, or the line that stands in for them. */
const NAMES = ["title", "text", "timezone", "starts_at", "ends_at", "from", "cron", "minutes"];

export function EditMaintenance({
  schedule,
  line,
  close,
  changed,
}: {
  schedule: Schedule | null;
  /** Which monitors a new one is for, as a filter says them. */
  line: string;
  close: () => void;
  changed: () => void;
}) {
  const form = useSignal(formOf(schedule, line));
  const fault = useFormFault([...NAMES, "select"]);
  const act = async () => {
    const { title, text, timezone, announce } = form.value;
    const body = { title, text, timezone, announce, select: selectOf(form.value), schedule: turnsOf(form.value) };
    if (schedule === null)
      await data(client.POST("/maintenances", { body: body as Schemas["CreateMaintenanceSchedule"] }));
    else await data(client.PUT("/maintenances/{id}", { params: { path: { id: schedule.id } }, body }));
    say(t("act.saved", { name: title }));
    changed();
  };
  const set = (change: Partial<Form>) => (form.value = { ...form.value, ...change });
  const { title, repeat } = form.value;
  return (
    <Confirm
      title={t(schedule === null ? "maintenance.add" : "maintenance.edit")}
      close={close}
      confirm={t("act.save")}
      act={act}
      fault={fault}
    >
      <TextField
        label={t("page.title")}
        error={fault.of("title")}
        required
        value={title}
        onValue={(word) => set({ title: word })}
      />
      <SelectField
        label={t("maintenance.repeat")}
        value={repeat}
        options={REPEATS.map((word) => [word, t(`maintenance.repeat.${word}`)] as const)}
        onValue={(word) => set({ repeat: word })}
      />
      <Turns form={form} fault={fault} />
      <Which form={form} fault={fault} />
      <ForReaders form={form} fault={fault} />
    </Confirm>
  );
}

interface PartProps {
  readonly form: Signal<Form>;
  readonly fault: FormFault;
}

function ForReaders({ form, fault }: PartProps) {
  const { text, announce } = form.value;
  const set = (change: Partial<Form>) => (form.value = { ...form.value, ...change });
  return (
    <>
      <TextField
        label={`${t("maintenance.text")} ${t("field.optional")}`}
        error={fault.of("text")}
        value={text}
        onValue={(word) => set({ text: word })}
      />
      <CheckField
        label={t("maintenance.announce")}
        checked={announce}
        onChecked={(checked) => set({ announce: checked })}
      />
    </>
  );
}

function Turns({ form, fault }: PartProps) {
  const { repeat, starts, ends, days, from, cron, minutes, timezone } = form.value;
  const set = (change: Partial<Form>) => (form.value = { ...form.value, ...change });
  const field = (name: "starts" | "ends", value: string) => (
    <TextField
      label={t(`maintenance.${name}`)}
      hint={zoneName()}
      error={fault.of(`${name}_at`)}
      type="datetime-local"
      required
      value={value}
      onValue={(text) => set({ [name]: text })}
    />
  );
  if (repeat === "once")
    return (
      <div class="pair">
        {field("starts", starts)}
        {field("ends", ends)}
      </div>
    );
  return (
    <>
      {repeat === "weekly" && <Days days={days} onDays={(next) => set({ days: next })} />}
      <div class="pair">
        {repeat === "weekly" ? (
          <TextField
            label={t("maintenance.starts")}
            error={fault.of("from")}
            type="time"
            required
            value={from}
            onValue={(text) => set({ from: text })}
          />
        ) : (
          <TextField
            label={t("maintenance.cron")}
            error={fault.of("cron")}
            dir="ltr"
            required
            value={cron}
            onValue={(text) => set({ cron: text })}
          />
        )}
        <TextField
          label={t("maintenance.minutes")}
          error={fault.of("minutes")}
          type="number"
          min={1}
          required
          value={minutes}
          onValue={(text) => set({ minutes: text })}
        />
      </div>
      <ZoneField error={fault.of("timezone")} value={timezone} onValue={(text) => set({ timezone: text })} />
    </>
  );
}

function Days(props: Parameters<typeof Week>[0]) {
  return (
    <fieldset class="checks">
      <legend>{t("maintenance.days")}</legend>
      <Week {...props} />
    </fieldset>
  );
}

function Which({ form, fault }: PartProps) {
  const { tags, line } = form.value;
  const refused = fault.of("select");
  return (
    <>
      <TextField
        label={t("field.tags")}
        hint={t("maintenance.tagsHint")}
        error={fault.of("tags") ?? (tags.trim() === "" ? null : refused)}
        list="tags"
        value={tags}
        onValue={(text) => (form.value = { ...form.value, tags: text })}
      />
      <datalist id="tags">
        {(shown.value?.columns.tags ?? []).map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      {tags.trim() === "" && (
        <SelectorField
          label={t("maintenance.monitors")}
          error={refused}
          value={line}
          onValue={(text) => (form.value = { ...form.value, line: text })}
        />
      )}
    </>
  );
}
