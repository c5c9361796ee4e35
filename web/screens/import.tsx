/** Things as code: a document, or another program's files made into one, becomes a plan, and the plan, once it has been read, is done. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { ApiError, client, data, messageOf, type Schemas } from "../api/client.ts";
import { Card } from "../parts/card.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { download } from "../parts/download.ts";
import { CheckField, SelectField, TextField } from "../parts/field.tsx";
import { FieldError, faultOf } from "../parts/field-fault.ts";
import { useFormFault } from "../parts/form-fault.ts";
import { Icon } from "../parts/icon.tsx";
import { Working } from "../parts/working.tsx";
import { useDraft } from "../state/drafts.ts";
import { attempt, say } from "../state/notices.ts";
import { loadOverview } from "../state/project.ts";
import { canEdit } from "../state/session.ts";
import { t } from "../words/words.ts";
import { countWords, DESTROYING, MOST_SHOWN, Outcome, type Plan } from "./import-plan.tsx";
import { Converted, FilesField, type Sent, SOURCES, type Source, titleOf } from "./import-source.tsx";
import { SettingsHead } from "./settings.tsx";

interface Shown {
  readonly plan: Plan;
  readonly document: string;
}

const NOTHING_SENT: Sent = { text: "", files: [] };
const USUAL_FLAGS = { prune: false, adopt: true, asPort: false };

/** What is written and chosen, and the plan of it; what is written anew has no plan yet. */
function usePlan() {
  const source = useDraft<Source>("import source", "document", false).value;
  const draft = useDraft<Sent>("import", NOTHING_SENT);
  const sent = draft.value;
  const name = useDraft("import name", "", false).value;
  const flags = useDraft("import flags", USUAL_FLAGS, false).value;
  const converted = useSignal<Schemas["ConvertedImport"] | null>(null);
  const shown = useSignal<Shown | null>(null);
  const error = useSignal<string | null>(null);
  const busy = useSignal(false);
  const form = useRef<HTMLFormElement>(null);
  const fault = useFormFault(["name", "text"]);
  const asked = () => {
    const { prune, adopt } = flags.value;
    return { ...(name.value !== "" && { name: name.value }), prune, adopt };
  };
  const documentOf = async (): Promise<string> => {
    const from = source.value;
    if (from === "document") return sent.value.text;
    const { text, files } = sent.value;
    const what = files.length > 1 ? { files: [...files] } : { text };
    const body = { source: from, ...what, as_port: flags.value.asPort };
    converted.value = await data(client.POST("/import/convert", { body }));
    return converted.value.document;
  };
  const preview = async () => {
    if (busy.value) return;
    busy.value = true;
    [error.value, shown.value, converted.value] = [null, null, null];
    fault.clear();
    try {
      const document = await documentOf();
      const plan = await data(client.POST("/apply", { body: { ...asked(), document, dry_run: true } }));
      shown.value = { plan, document };
    } catch (reason) {
      const message = [messageOf(reason), ...faultsOf(reason)].join("\n");
      const isOfText = reason instanceof ApiError && OF_DOCUMENT.has(reason.status) && sent.value.files.length < 2;
      const found = isOfText ? new FieldError(faultOf(reason.message, ["name"]).field ?? "text", message) : null;
      if (found === null || !fault.refuse(found, form.current)) error.value = message;
    }
    busy.value = false;
  };
  const apply = async () => {
    const now = shown.value;
    if (now === null) return;
    const body = { ...asked(), document: now.document, expect: now.plan.hash, skip_refused: true };
    await data(client.POST("/apply", { body }));
    shown.value = null;
    draft.settle();
    say(t("import.done"));
    void loadOverview();
  };
  const write = (change: () => void) => {
    change();
    [shown.value, converted.value] = [null, null];
  };
  return { source, sent, name, flags, converted, shown, error, busy, form, fault, preview, apply, write };
}

/** With these the API speaks of what it was sent. */
const OF_DOCUMENT: ReadonlySet<number> = new Set([400, 413, 422]);

/** @returns what is wrong with the document, a line each, where the API says so */
function faultsOf(reason: unknown): readonly string[] {
  const details = reason instanceof ApiError ? reason.details : null;
  const { errors } = (typeof details === "object" && details !== null ? details : {}) as { errors?: unknown };
  if (!Array.isArray(errors)) return [];
  return errors.slice(0, MOST_SHOWN).map((one: { path?: unknown; line?: unknown; message?: unknown }) => {
    const place = typeof one.line === "number" ? `${one.path} (${one.line})` : String(one.path);
    return `${place}: ${one.message}`;
  });
}

export function Import() {
  const plan = usePlan();
  const { source, sent, name, shown, converted, error, busy, form, fault, preview, apply, write } = plan;
  const asking = useSignal(false);
  return (
    <div class="screen narrow">
      <SettingsHead title="nav.import" />
      <p class="hint">{t("import.hint")}</p>
      <form
        ref={form}
        class="card form"
        onSubmit={(event) => {
          event.preventDefault();
          void preview();
        }}
      >
        <SelectField
          label={t("import.source")}
          value={source.value}
          options={SOURCES.map((word) => [word, titleOf(word)] as const)}
          onValue={(word) => write(() => (source.value = word))}
        />
        <FilesField
          source={source.value}
          sent={sent.value}
          refused={fault.of("text")}
          onSent={(next) => write(() => (sent.value = next))}
        />
        <TextField
          label={`${t("import.name")} ${t("field.optional")}`}
          hint={t("import.nameHint")}
          error={fault.of("name")}
          value={name.value}
          onValue={(word) => write(() => (name.value = word))}
        />
        <Flags plan={plan} />
        {error.value !== null && (
          <p class="form-error pre" role="alert" dir="auto">
            {error.value}
          </p>
        )}
        {busy.value && <Working text={t("import.reading")} />}
        <div class="dialog-acts">
          <button type="submit" class="button primary" aria-disabled={busy.value}>
            {t("import.preview")}
          </button>
        </div>
      </form>
      {converted.value !== null && <Converted converted={converted.value} />}
      {shown.value !== null && <Outcome plan={shown.value.plan} ask={() => (asking.value = true)} />}
      {canEdit.value && <ExportProject />}
      {asking.value && shown.value !== null && (
        <Apply plan={shown.value.plan} close={() => (asking.value = false)} apply={apply} />
      )}
    </div>
  );
}

/** What there is, as a document that could be applied elsewhere. */
function ExportProject() {
  const give = () =>
    attempt(async () => {
      const { document, secrets } = await data(client.GET("/export"));
      download("sonde.yaml", "text/yaml", document);
      say(t("import.exported", { n: secrets.length }));
    });
  return (
    <Card
      id="export"
      title={t("import.export")}
      beside={
        <button type="button" class="button small" onClick={() => void give()}>
          <Icon name="file-text" size={14} /> {t("import.document")}
        </button>
      }
    >
      <p class="hint">{t("import.exportHint")}</p>
    </Card>
  );
}

function Apply({ plan, close, apply }: { plan: Plan; close: () => void; apply: () => Promise<void> }) {
  return (
    <Confirm
      title={t("import.apply")}
      close={close}
      confirm={t("import.apply")}
      danger={plan.changes.some(({ act }) => DESTROYING.has(act))}
      act={apply}
    >
      <p>{countWords(plan)}</p>
    </Confirm>
  );
}

function Flags({ plan: { source, flags, write } }: { plan: ReturnType<typeof usePlan> }) {
  const all = ["adopt", "prune", "asPort"] as const;
  return (
    <div>
      {all
        .filter((flag) => flag !== "asPort" || source.value === "kuma")
        .map((flag) => (
          <CheckField
            key={flag}
            label={t(`import.${flag}`)}
            checked={flags.value[flag]}
            onChecked={(checked) => write(() => (flags.value = { ...flags.value, [flag]: checked }))}
          />
        ))}
    </div>
  );
}
