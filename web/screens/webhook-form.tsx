/** A webhook, new or changed: where it is told, and what. */
import { useSignal } from "@preact/signals";
import { EVENT_TYPES, type EventType } from "../../model/event.ts";
import { client, data, type Schemas } from "../api/client.ts";
import { Confirm } from "../parts/dialog.tsx";
import { CheckField, CheckFields, TextField } from "../parts/field.tsx";
import { useFormFault } from "../parts/form-fault.ts";
import { say } from "../state/notices.ts";
import { t } from "../words/words.ts";

/** It is sent whatever was chosen. */
const CHOSEN: readonly EventType[] = EVENT_TYPES.filter((type) => type !== "webhook.test");

export function EditWebhook({
  webhook,
  close,
  changed,
  made,
}: {
  webhook: Schemas["Webhook"] | null;
  close: () => void;
  changed: () => void;
  made: (secret: string) => void;
}) {
  const url = useSignal("");
  const all = useSignal(webhook === null || webhook.events === null);
  const events = useSignal<readonly EventType[]>(webhook?.events ?? []);
  const fault = useFormFault(["url"]);
  const act = async () => {
    if (!all.value && events.value.length === 0) throw new Error(t("webhook.needsEvents"));
    const chosen = all.value ? null : [...events.value];
    if (webhook === null) {
      const { secret } = await data(client.POST("/webhooks", { body: { url: url.value, events: chosen } }));
      made(secret);
    } else {
      const body = { events: chosen, ...(url.value !== "" && { url: url.value }) };
      await data(client.PUT("/webhooks/{id}", { params: { path: { id: String(webhook.id) } }, body }));
      say(t("act.saved", { name: webhook.url }));
    }
    changed();
  };
  const title = t(webhook === null ? "webhook.add" : "webhook.edit");
  return (
    <Confirm title={title} close={close} confirm={t("act.save")} act={act} fault={fault}>
      <TextField
        label={t("field.url")}
        hint={webhook === null ? t("webhook.urlHint") : t("webhook.urlKept", { url: webhook.url })}
        error={fault.of("url")}
        type="url"
        dir="ltr"
        required={webhook === null}
        value={url.value}
        onValue={(text) => (url.value = text)}
      />
      <CheckField label={t("webhook.allEvents")} checked={all.value} onChecked={(checked) => (all.value = checked)} />
      {!all.value && (
        <CheckFields
          tall
          legend={t("webhook.events")}
          options={CHOSEN.map((type) => [type, <code key={type}>{type}</code>])}
          chosen={events.value}
          onChosen={(next) => (events.value = next)}
        />
      )}
    </Confirm>
  );
}
