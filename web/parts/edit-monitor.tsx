import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { client, data, type Schemas } from "../api/client.ts";
import { say } from "../state/notices.ts";
import { loadOverview } from "../state/project.ts";
import { t } from "../words/words.ts";
import { Confirm } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { useFormFault } from "./form-fault.ts";
import { bodyOf, type FieldSpec, type FormValues, KIND_FIELDS, listOf, valuesOf } from "./monitor-fields.ts";
import { COMMON, KindFields } from "./monitor-form.tsx";

type View = Schemas["Monitor"];
type Update = Schemas["UpdateMonitor"];

/** The API does not tell all of them: what is left empty stays as it is. */
const SCHEDULE: readonly FieldSpec[] = COMMON.map(({ name, label, type, hint }) => {
  if (name === "interval" && hint !== undefined) return { name, label, type, hint };
  return { name, label, type, hint: "field.kept", isRare: true };
});

export function EditMonitor({ view: latest, close, changed }: { view: View; close: () => void; changed: () => void }) {
  // As it was when the form was opened: what another person changes meanwhile would look like a change made here, and be taken back.
  const view = useRef(latest).current;
  const specs = [...KIND_FIELDS[view.type], ...(view.type === "push" ? [] : SCHEDULE)];
  const record = view as unknown as Readonly<Record<string, unknown>>;
  const before = valuesOf(specs, record);
  const name = useSignal(view.name);
  const tags = useSignal(view.tags.join(", "));
  const values = useSignal<FormValues>(before);
  const fault = useFormFault(["name", ...specs.map(({ name: one }) => one), "tags"]);
  const save = async () => {
    // Only what was changed: what the form does not know stays as it is.
    const written = specs.filter((spec) => (values.value[spec.name] ?? "") !== (before[spec.name] ?? ""));
    const body = {
      ...(name.value !== view.name && { name: name.value }),
      ...(tags.value !== view.tags.join(", ") && { tags: listOf(tags.value) }),
      ...bodyOf(written, values.value, true),
    } as Update;
    await data(client.PUT("/servers/{id}", { params: { path: { id: view.id } }, body }));
    say(t("act.saved", { name: name.value }));
    changed();
    void loadOverview();
  };
  const rare = specs.filter(({ isRare }) => isRare === true);
  const filling = {
    values: values.value,
    onValue: (field: string, text: string) => (values.value = { ...values.value, [field]: text }),
    keepsSecrets: true,
    fault,
  };
  return (
    <Confirm title={t("monitor.editTitle")} close={close} confirm={t("act.save")} act={save} fault={fault}>
      <TextField
        label={t("field.name")}
        error={fault.of("name")}
        value={name.value}
        onValue={(text) => (name.value = text)}
      />
      <KindFields specs={specs.filter(({ isRare }) => isRare !== true)} {...filling} />
      {rare.length > 0 && (
        <details>
          <summary>{t("new.more")}</summary>
          <KindFields specs={rare} {...filling} />
        </details>
      )}
      <TextField
        label={t("field.tags")}
        hint={t("field.tagsHint")}
        error={fault.of("tags")}
        value={tags.value}
        onValue={(text) => (tags.value = text)}
      />
    </Confirm>
  );
}
