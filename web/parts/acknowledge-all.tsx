/** Many incidents are acknowledged by one act, with one note. */
import { useSignal } from "@preact/signals";
import { useState } from "preact/hooks";
import { client, data } from "../api/client.ts";
import { say } from "../state/notices.ts";
import { t } from "../words/words.ts";
import { Confirm } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { Icon } from "./icon.tsx";

/** @param ids of incidents that are not acknowledged yet */
export function AcknowledgeAll({ ids, changed }: { ids: readonly string[]; changed: () => void }) {
  const asking = useSignal(false);
  return (
    <>
      {ids.length > 1 && (
        <button type="button" class="button small" onClick={() => (asking.value = true)}>
          <Icon name="check-check" size={14} /> {t("incidents.acknowledgeAll", { n: ids.length })}
        </button>
      )}
      {asking.value && <Asked ids={ids} close={() => (asking.value = false)} changed={changed} />}
    </>
  );
}

/** @param ids as they were when the dialog was opened are those that it is about */
function Asked({ ids, close, changed }: { ids: readonly string[]; close: () => void; changed: () => void }) {
  const note = useSignal("");
  const [asked] = useState(ids);
  return (
    <Confirm
      title={t("incidents.acknowledgeMany")}
      close={close}
      confirm={t("incident.acknowledge")}
      act={async () => {
        const body = { ids: [...asked], note: note.value.trim() === "" ? null : note.value };
        const { acknowledged } = await data(client.POST("/incidents/acknowledge", { body }));
        say(t("incidents.acknowledged", { n: acknowledged }));
        changed();
      }}
    >
      <p>{t("incidents.acknowledgeText", { n: asked.length })}</p>
      <TextField
        label={t("incident.ackNote")}
        maxLength={500}
        value={note.value}
        onValue={(text) => (note.value = text)}
      />
    </Confirm>
  );
}
