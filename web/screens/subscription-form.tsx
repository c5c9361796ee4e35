/** How a subscription is read, and how its servers are tested. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { client, data, type Schemas } from "../api/client.ts";
import { Confirm } from "../parts/dialog.tsx";
import { TextField } from "../parts/field.tsx";
import { FieldError } from "../parts/field-fault.ts";
import { useFormFault } from "../parts/form-fault.ts";
import { say } from "../state/notices.ts";
import { t } from "../words/words.ts";

type View = Schemas["Subscription"];
const NUMBERS = ["syncIntervalSec", "timeoutSeconds", "maxWorkers", "configAlertPercent"] as const;

interface Props {
  readonly view: View;
  readonly close: () => void;
  readonly changed: () => void;
}

export function EditSubscription({ view: latest, close, changed }: Props) {
  // As it was when the form was opened: only what is changed here is sent.
  const view = useRef(latest).current;
  const [url, name] = [useSignal(""), useSignal(view.name ?? "")];
  const numbers = useSignal<Readonly<Record<(typeof NUMBERS)[number], string>>>({
    syncIntervalSec: String(view.syncIntervalSec),
    timeoutSeconds: String(view.timeoutSeconds),
    maxWorkers: String(view.maxWorkers),
    configAlertPercent: String(view.configAlertPercent),
  });
  const fault = useFormFault(["url", "name", ...NUMBERS]);
  const act = async () => {
    const read = NUMBERS.map((field) => [field, wholeOf(field, numbers.value[field])] as const);
    const body = {
      ...(url.value.trim() !== "" && { url: url.value.trim() }),
      ...(name.value !== (view.name ?? "") && { name: name.value.trim() === "" ? null : name.value }),
      ...Object.fromEntries(read.filter(([field, value]) => value !== view[field])),
    };
    await data(client.PUT("/subscriptions/{id}", { params: { path: { id: String(view.id) } }, body }));
    say(t("act.saved", { name: name.value === "" ? t("subscription.unnamed", { n: view.id }) : name.value }));
    changed();
  };
  return (
    <Confirm title={t("subscription.editTitle")} close={close} confirm={t("act.save")} act={act} fault={fault}>
      <TextField
        label={`${t("field.name")} ${t("field.optional")}`}
        error={fault.of("name")}
        value={name.value}
        onValue={(text) => (name.value = text)}
      />
      <TextField
        label={t("field.url")}
        hint={t("field.kept")}
        error={fault.of("url")}
        autoComplete="off"
        value={url.value}
        onValue={(text) => (url.value = text)}
      />
      <div class="pair">
        {NUMBERS.map((field) => (
          <TextField
            key={field}
            label={t(`subscription.${field}`)}
            error={fault.of(field)}
            inputMode="numeric"
            required
            value={numbers.value[field]}
            onValue={(text) => (numbers.value = { ...numbers.value, [field]: text })}
          />
        ))}
      </div>
    </Confirm>
  );
}

/** @throws FieldError when it is no whole number: sent as it is, it would be read as another */
function wholeOf(field: string, text: string): number {
  if (!/^\d{1,9}$/.test(text.trim())) throw new FieldError(field, t("field.wholeNumber"));
  return Number(text);
}
