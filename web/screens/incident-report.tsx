/** What readers are told afterwards: a title, and why it happened. */
import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { Card } from "../parts/card.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { AreaField, CheckField, TextField } from "../parts/field.tsx";
import { canEdit } from "../state/session.ts";
import { t } from "../words/words.ts";

const MAX_TITLE = 200;
const MAX_TEXT = 20_000;

type View = Schemas["Incident"];

/** Nothing for who may not write it, while it is not written. */
export function Report({ view, changed }: { view: View; changed: () => void }) {
  const writing = useSignal(false);
  const report = view.report ?? null;
  if (report === null && !canEdit.value) return null;
  return (
    <Card
      id="report"
      title={t("report.title")}
      beside={
        canEdit.value && (
          <button type="button" class="button small" onClick={() => (writing.value = true)}>
            {t(report === null ? "report.write" : "act.edit")}
          </button>
        )
      }
    >
      {report !== null ? (
        <>
          {report.title !== null && <b dir="auto">{report.title}</b>}
          <p class="note-text" dir="auto">
            {report.postmortem}
          </p>
          {report.public && <p class="faint">{t("note.isPublic")}</p>}
        </>
      ) : (
        <p class="hint">{t("report.none")}</p>
      )}
      {writing.value && <Write view={view} close={() => (writing.value = false)} changed={changed} />}
    </Card>
  );
}

function Write({ view: { id, report }, close, changed }: { view: View; close: () => void; changed: () => void }) {
  const title = useSignal(report?.title ?? "");
  const text = useSignal(report?.postmortem ?? "");
  const isPublic = useSignal(report?.public ?? false);
  const orNull = (one: string) => (one.trim() === "" ? null : one);
  return (
    <Confirm
      title={t("report.title")}
      close={close}
      confirm={t("act.save")}
      act={async () => {
        const body = { title: orNull(title.value), postmortem: orNull(text.value), public: isPublic.value };
        await data(client.PUT("/incidents/{id}/report", { params: { path: { id } }, body }));
        changed();
      }}
    >
      <TextField
        label={t("report.heading")}
        hint={t("report.headingHint")}
        maxLength={MAX_TITLE}
        value={title.value}
        onValue={(one) => (title.value = one)}
      />
      <AreaField
        label={t("report.text")}
        hint={t("report.textHint")}
        rows={8}
        maxLength={MAX_TEXT}
        value={text.value}
        onValue={(written) => (text.value = written)}
      />
      <CheckField
        label={t("note.public")}
        checked={isPublic.value}
        onChecked={(checked) => (isPublic.value = checked)}
      />
    </Confirm>
  );
}
