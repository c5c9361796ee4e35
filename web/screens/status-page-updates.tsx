/** What the readers of a status page are told beside incidents. */
import { useSignal } from "@preact/signals";
import { client, data } from "../api/client.ts";
import { Field, SelectField, TextField } from "../parts/field.tsx";
import { attempt } from "../state/notices.ts";
import { canEdit } from "../state/session.ts";
import { t } from "../words/words.ts";

const LEVELS = ["info", "maintenance", "warning", "outage", "resolved"] as const;
type Level = (typeof LEVELS)[number];

export function PageUpdates({ id }: { id: string }) {
  const level = useSignal<Level>("info");
  const [title, text] = [useSignal(""), useSignal("")];
  if (!canEdit.value) return null;
  const post = async () => {
    if (title.value.trim() === "") return;
    const body = { level: level.value, title: title.value, text: text.value };
    const params = { path: { id } };
    const done = await attempt(
      () => data(client.POST("/status-pages/{id}/updates", { params, body })),
      t("page.updatePosted"),
    );
    if (done) [title.value, text.value] = ["", ""];
  };
  return (
    <section class="card form" aria-labelledby="updates">
      <h2 id="updates">{t("page.update")}</h2>
      <div class="pair">
        <SelectField
          label={t("page.level")}
          value={level.value}
          options={LEVELS.map((word) => [word, t(`page.level.${word}`)] as const)}
          onValue={(word) => (level.value = word)}
        />
        <TextField label={t("page.updateTitle")} value={title.value} onValue={(word) => (title.value = word)} />
      </div>
      <Field label={t("page.updateText")} hint={t("page.textHint")}>
        {(attributes) => (
          <textarea
            dir="auto"
            {...attributes}
            rows={3}
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        )}
      </Field>
      <div>
        <button type="button" class="button" onClick={() => void post()}>
          {t("note.post")}
        </button>
      </div>
    </section>
  );
}
