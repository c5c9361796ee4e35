/** Things as code: what a document says becomes a plan, and the plan, once it has been read, is done. */
import { useSignal } from "@preact/signals";
import { ApiError, client, data, messageOf, type Schemas } from "../api/client.ts";
import { Confirm } from "../parts/dialog.tsx";
import { Field, TextField } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { say } from "../state/notices.ts";
import { loadOverview } from "../state/project.ts";
import { canEdit } from "../state/session.ts";
import { t } from "../words/words.ts";
import { SettingsHead } from "./settings.tsx";

type Plan = Schemas["DocumentPlan"];
type Change = Plan["changes"][number];

/** The API takes no more, bytes. */
const MOST_BYTES = 1 << 20;

/** A plan of thousands is read in the document. */
const MOST_SHOWN = 300;

interface Shown {
  readonly plan: Plan;
  readonly document: string;
}

/** What is written, and the plan of it; what is written anew has no plan yet. */
function usePlan() {
  const [text, name] = [useSignal(""), useSignal("")];
  const prune = useSignal(false);
  const shown = useSignal<Shown | null>(null);
  const error = useSignal<string | null>(null);
  const busy = useSignal(false);
  const asked = () => ({ ...(name.value !== "" && { name: name.value }), prune: prune.value });
  const preview = async () => {
    if (busy.value) return;
    busy.value = true;
    error.value = null;
    shown.value = null;
    try {
      const document = text.value;
      const plan = await data(client.POST("/apply", { body: { ...asked(), document, dry_run: true } }));
      shown.value = { plan, document };
    } catch (reason) {
      error.value = [messageOf(reason), ...faultsOf(reason)].join("\n");
    }
    busy.value = false;
  };
  const apply = async () => {
    const now = shown.value;
    if (now === null) return;
    const body = { ...asked(), document: now.document, expect: now.plan.hash, skip_refused: true };
    await data(client.POST("/apply", { body }));
    shown.value = null;
    say(t("import.done"));
    void loadOverview();
  };
  const write = (change: () => void) => {
    change();
    shown.value = null;
  };
  return { text, name, prune, shown, error, busy, preview, apply, write };
}

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
  const { text, name, prune, shown, error, busy, preview, apply, write } = usePlan();
  const asking = useSignal(false);
  return (
    <div class="screen narrow">
      <SettingsHead title="nav.import" />
      <p class="hint">{t("import.hint")}</p>
      <form
        class="card form"
        onSubmit={(event) => {
          event.preventDefault();
          void preview();
        }}
      >
        <Text value={text.value} onValue={(word) => write(() => (text.value = word))} />
        <TextField
          label={`${t("import.name")} ${t("field.optional")}`}
          hint={t("import.nameHint")}
          value={name.value}
          onValue={(word) => write(() => (name.value = word))}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={prune.value}
            onChange={(event) => write(() => (prune.value = event.currentTarget.checked))}
          />
          {t("import.prune")}
        </label>
        {error.value !== null && (
          <p class="form-error pre" role="alert" dir="auto">
            {error.value}
          </p>
        )}
        <div class="dialog-acts">
          <button type="submit" class="button primary" aria-disabled={busy.value}>
            {t("import.preview")}
          </button>
        </div>
      </form>
      {shown.value !== null && <Outcome plan={shown.value.plan} ask={() => (asking.value = true)} />}
      {asking.value && shown.value !== null && (
        <Confirm
          title={t("import.apply")}
          close={() => (asking.value = false)}
          confirm={t("import.apply")}
          danger={shown.value.plan.changes.some(({ act }) => DESTROYING.has(act))}
          act={apply}
        >
          <p>{countWords(shown.value.plan)}</p>
        </Confirm>
      )}
    </div>
  );
}

function Text({ value, onValue }: { value: string; onValue: (text: string) => void }) {
  const tooLong = useSignal(false);
  const read = async (input: HTMLInputElement) => {
    const file = input.files?.[0];
    if (file === undefined) return;
    tooLong.value = file.size > MOST_BYTES;
    if (!tooLong.value) onValue(await file.text());
    input.value = "";
  };
  return (
    <>
      <Field label={t("import.text")} error={tooLong.value ? t("import.tooLong") : null}>
        {(attributes) => (
          <textarea
            dir="auto"
            {...attributes}
            class="paste"
            rows={10}
            required
            spellcheck={false}
            value={value}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
        )}
      </Field>
      <label class="button file">
        <Icon name="file-text" size={16} /> {t("import.file")}
        <input type="file" class="sr-only" onChange={(event) => void read(event.currentTarget)} />
      </label>
    </>
  );
}

const ACT_ICONS: Readonly<Record<Change["act"], string>> = {
  create: "plus",
  adopt: "link",
  change: "pencil",
  replace: "refresh-cw",
  remove: "trash-2",
  release: "info",
};
/** What was there before is gone after them. */
const DESTROYING: ReadonlySet<string> = new Set(["replace", "remove"]);

function countWords({ changes }: Plan): string {
  const countOf = (...acts: readonly Change["act"][]) => changes.filter(({ act }) => acts.includes(act)).length;
  return t("import.counts", {
    created: countOf("create"),
    updated: countOf("change", "adopt", "replace"),
    deleted: countOf("remove"),
  });
}

function Outcome({ plan, ask }: { plan: Plan; ask: () => void }) {
  const { changes, refused } = plan;
  return (
    <section class="card" aria-labelledby="plan">
      <header class="card-head">
        <h2 id="plan">{t("import.plan")}</h2>
        <span class="faint">{countWords(plan)}</span>
      </header>
      {changes.length === 0 && <p>{t("import.nothing")}</p>}
      <ul class="lines" aria-label={t("import.plan")}>
        {changes.slice(0, MOST_SHOWN).map(({ act, kind, key, name, fields, note }) => (
          <li class="line" key={`${act} ${kind} ${key}`}>
            <span class={DESTROYING.has(act) ? "s-down" : ""}>
              <Icon name={ACT_ICONS[act]} size={16} />
            </span>
            <div class="line-text">
              <span class="faint">{`${t(`import.act.${act}`)} · ${kind}`}</span> <b dir="auto">{name}</b>{" "}
              {name !== key && <code>{key}</code>}
              {fields.map((field) => (
                <p class="faint" dir="auto" key={field.field}>
                  {changeText(field)}
                </p>
              ))}
              {note !== undefined && <p dir="auto">{note}</p>}
            </div>
          </li>
        ))}
      </ul>
      {changes.length > MOST_SHOWN && <p class="hint">{t("import.more", { n: changes.length - MOST_SHOWN })}</p>}
      {refused.length > 0 && (
        <>
          <h3>{t("import.refused", { n: refused.length })}</h3>
          <ul class="plain-list">
            {refused.slice(0, MOST_SHOWN).map(({ path, line, message }) => (
              <li key={path} dir="auto">
                <b>{line === null ? path : `${path} (${line})`}</b>: {message}
              </li>
            ))}
          </ul>
        </>
      )}
      {changes.length > 0 && canEdit.value && (
        <div class="dialog-acts">
          <button type="button" class="button primary" onClick={ask}>
            {t("import.apply")}
          </button>
        </div>
      )}
    </section>
  );
}

/** Values of a long text are in the document. */
const MOST_VALUE = 60;

function changeText({ field, from, to, secret }: Change["fields"][number]): string {
  if (secret === true) return `${field}: ***`;
  const text = (value: unknown) => {
    const json = value === undefined ? "–" : JSON.stringify(value);
    return json.length > MOST_VALUE ? `${json.slice(0, MOST_VALUE)}…` : json;
  };
  return from === undefined ? `${field}: ${text(to)}` : `${field}: ${text(from)} → ${text(to)}`;
}
