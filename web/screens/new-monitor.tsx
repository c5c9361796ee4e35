/** One field first: what is pasted says the kind, the name and the fields; then it is tried, then saved. */
import { type Signal, signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ApiError, client, data, messageOf, type Schemas } from "../api/client.ts";
import { useOpen } from "../parts/dialog.tsx";
import { AreaField, SelectField, TextField } from "../parts/field.tsx";
import { type FormFault, useFormFault } from "../parts/form-fault.ts";
import { Icon } from "../parts/icon.tsx";
import { KeptNote } from "../parts/kept-note.tsx";
import {
  bodyOf,
  type FieldSpec,
  type FormValues,
  KIND_FIELDS,
  LOGINS,
  listOf,
  valuesOf,
} from "../parts/monitor-fields.ts";
import { COMMON, KindFields } from "../parts/monitor-form.tsx";
import { StatusWord } from "../parts/status.tsx";
import { Working } from "../parts/working.tsx";
import { detect, detectLine, detectList, NEW_KINDS, type NewKind } from "../state/detect.ts";
import { useDraft } from "../state/drafts.ts";
import { takeOver } from "../state/hand-over.ts";
import { say } from "../state/notices.ts";
import { loadOverview } from "../state/project.ts";
import { go, route } from "../state/route.ts";
import { milliseconds } from "../words/times.ts";
import { t } from "../words/words.ts";

type Create = Schemas["CreateMonitor"];
type Check = Schemas["ConfigCheck"];

/** A tried tunnel is given up after this, s. */
const TRY_TIMEOUT_S = 30;

interface Form {
  readonly kind: NewKind;
  readonly name: string;
  readonly values: FormValues;
  readonly tags: string;
}

const SUBSCRIPTION_URL: FieldSpec = { name: "url", label: "field.url", type: "text" };

const EMPTY: Form = { kind: "http", name: "", values: {}, tags: "" };

/** What has been pasted, and what was made of it and written since. */
interface Written {
  readonly pasted: string;
  readonly form: Form;
}

const BLANK: Written = { pasted: "", form: EMPTY };

/** What runs goes on when the screen is left, and is found here by who comes back: nothing is added twice. */
const busy = signal<"try" | "save" | null>(null);
/** While a list is added: the lines that are still to come, and how many there were. */
const left = signal<{ readonly lines: readonly string[]; readonly total: number } | null>(null);

/** What has been pasted and written so far, and what came of trying and saving it. */
function useWritten() {
  const element = useRef<HTMLFormElement>(null);
  const draft = useDraft("new", BLANK);
  const written = draft.value;
  const { pasted, form } = written.value;
  const isKept = useSignal(draft.wasKept);
  const error = useSignal<string | null>(null);
  const tried = useSignal<Check | null>(null);
  const list = left.value?.lines ?? detectList(pasted);
  const isOpen = useOpen();
  const fault = useFormFault(["name", ...specsOf(form.kind).map(({ name }) => name), "tags"]);
  const change = (next: Form) => (written.value = { ...written.value, form: next });
  const read = (text: string) => {
    [tried.value, error.value] = [null, null];
    fault.clear();
    written.value = { pasted: text, form: readForm(text, written.value.form) };
  };
  const anew = () => {
    [written.value, isKept.value] = [BLANK, false];
    read("");
  };
  const isCopy = useStart(written, read, isKept, error);
  const run = async (what: "try" | "save", act: () => Promise<void>) => {
    if (busy.value !== null) return;
    busy.value = what;
    error.value = null;
    fault.clear();
    try {
      await act();
    } catch (reason) {
      // Who has gone on to another screen is told there.
      if (!isOpen.current) say(messageOf(reason), true);
      // A list has its lines, and no fields.
      if (list !== null || !fault.refuse(reason, element.current)) error.value = messageOf(reason);
    }
    busy.value = null;
  };
  const save = async () => {
    const path = list === null ? await saveOne(form) : await saveWhole(list, form.tags, read);
    draft.settle();
    if (isOpen.current) go(path);
    else written.value = BLANK;
  };
  return { element, fault, pasted, form, error, tried, list, isCopy, isKept, anew, change, read, run, save, draft };
}

/** @returns the form with what the text says; as it was where the text says nothing */
function readForm(text: string, form: Form): Form {
  const found = detect(text);
  if (found === null) return form;
  const values = Object.fromEntries(Object.entries(found.fields).map(([name, value]) => [name, String(value)]));
  return { ...form, kind: found.kind, name: found.name, values };
}

/** Begins with what another screen hands over, or with a copy of another monitor. @returns whether it is a copy */
function useStart(
  written: Signal<Written>,
  read: (text: string) => void,
  isKept: Signal<boolean>,
  error: Signal<string | null>,
): Signal<boolean> {
  const isCopy = useSignal(false);
  useEffect(() => {
    const [text, from] = [takeOver(), route.peek().query.get("from")];
    if (text === "" && from === null) return;
    [written.value, isKept.value] = [BLANK, false];
    if (text !== "" || from === null) return read(text);
    copyOf(from).then(
      (form) => {
        written.value = { pasted: "", form };
        isCopy.value = true;
      },
      (reason: unknown) => {
        error.value = messageOf(reason);
      },
    );
  }, []);
  return isCopy;
}

/** What the API gives in place of a secret. */
const HIDDEN = "***";

/** @returns the fields of a new monitor of the kind */
function specsOf(kind: NewKind): readonly FieldSpec[] {
  if (kind === "subscription") return [SUBSCRIPTION_URL];
  return [...KIND_FIELDS[kind], ...(kind === "push" ? [] : COMMON)];
}

/** Another monitor's settings, but for its secrets, which the API never returns. */
async function copyOf(id: string): Promise<Form> {
  const view = await data(client.GET("/servers/{id}", { params: { path: { id } } }));
  const specs = specsOf(view.type);
  const record = view as unknown as Readonly<Record<string, unknown>>;
  const values = Object.entries(valuesOf(specs, record)).filter(([, text]) => text !== "" && !text.includes(HIDDEN));
  return {
    kind: view.type,
    name: t("new.copyOf", { name: view.name }),
    values: Object.fromEntries(values),
    tags: view.tags.join(", "),
  };
}

export function NewMonitor() {
  const { element, fault, pasted, form, error, tried, list, isCopy, isKept, anew, change, read, run, save, draft } =
    useWritten();
  const isTunnel = form.kind === "vpn";
  return (
    <div class="screen narrow">
      <h1>{t("new.title")}</h1>
      <form
        ref={element}
        class="card form"
        onSubmit={(event) => {
          event.preventDefault();
          void run("save", save);
        }}
      >
        {isKept.value && <KeptNote anew={anew} />}
        {isCopy.value ? <p class="hint">{t("new.secretsLeft")}</p> : <PasteField value={pasted} onValue={read} />}
        {list === null ? (
          <Details form={form} isRead={pasted !== ""} change={change} fault={fault} />
        ) : (
          <Listed lines={list} />
        )}
        <TextField
          label={`${t("field.tags")} ${t("field.optional")}`}
          hint={t("field.tagsHint")}
          error={fault.of("tags")}
          value={form.tags}
          onValue={(tags) => change({ ...form, tags })}
        />
        {error.value !== null && (
          <p class="form-error" role="alert">
            {error.value}
          </p>
        )}
        {tried.value !== null && <Tried check={tried.value} />}
        <Acts
          canTry={isTunnel && list === null}
          onTry={() =>
            void run("try", async () => {
              tried.value = null;
              tried.value = await tryOut(form);
            })
          }
          onCancel={() => {
            draft.settle();
            go("/monitors");
          }}
        />
      </form>
    </div>
  );
}

function Acts({ canTry, onTry, onCancel }: { canTry: boolean; onTry: () => void; onCancel: () => void }) {
  const isBusy = busy.value !== null;
  return (
    <>
      {isBusy && <Adding />}
      <div class="dialog-acts">
        <button type="button" class="button" onClick={onCancel}>
          {t("act.cancel")}
        </button>
        {canTry && (
          <button type="button" class="button" aria-disabled={isBusy} onClick={onTry}>
            <Icon name="zap" size={16} /> {t(busy.value === "try" ? "new.trying" : "new.try")}
          </button>
        )}
        <button type="submit" class="button primary" aria-disabled={isBusy}>
          {t("act.save")}
        </button>
      </div>
    </>
  );
}

/** How far a list has come; of one monitor only that it is under way. */
function Adding() {
  if (left.value === null) return <Working />;
  const { lines, total } = left.value;
  const n = total - lines.length;
  return (
    <div class="progress-line">
      <progress aria-label={t("new.adding")} max={total} value={n} />
      <span>{t("check.done", { n, total })}</span>
    </div>
  );
}

function PasteField({ value, onValue }: { value: string; onValue: (text: string) => void }) {
  return (
    <AreaField
      label={t("new.what")}
      hint={t("new.whatHint")}
      class="paste"
      rows={value.includes("\n") ? 8 : 2}
      spellcheck={false}
      autoComplete="off"
      placeholder={t("new.placeholder")}
      value={value}
      onValue={onValue}
    />
  );
}

interface DetailsProps {
  readonly form: Form;
  /** What was pasted says which of a tunnel's fields count. */
  readonly isRead: boolean;
  readonly change: (form: Form) => void;
  readonly fault: FormFault;
}

function Details({ form, isRead, change, fault }: DetailsProps) {
  const kinds = NEW_KINDS.map((kind) => [kind, t(`kind.${kind}`)] as const);
  const specs = specsOf(form.kind);
  const set = (name: string, value: string) => change({ ...form, values: { ...form.values, [name]: value } });
  const asked = form.kind === "vpn" ? tunnelFields(form.values, isRead) : null;
  const seen = specs.filter(({ name, optional }) => (asked === null ? optional !== true : asked.has(name)));
  const hidden = specs.filter((spec) => !seen.includes(spec));
  return (
    <>
      <div class="pair">
        <SelectField
          label={t("new.kind")}
          value={form.kind}
          options={kinds}
          onValue={(kind) => change({ ...form, kind })}
        />
        <TextField
          label={t("field.name")}
          error={fault.of("name")}
          value={form.name}
          onValue={(name) => change({ ...form, name })}
          required
        />
      </div>
      <KindFields specs={seen} values={form.values} onValue={set} keepsSecrets={false} fault={fault} />
      {hidden.length > 0 && (
        <details>
          <summary>{t("new.more")}</summary>
          <KindFields specs={hidden} values={form.values} onValue={set} keepsSecrets={false} fault={fault} />
        </details>
      )}
    </>
  );
}

/** A tunnel's fields are all optional: a link or a file, or for two protocols a login; and what was pasted into one of them must be seen. */
function tunnelFields(values: FormValues, isRead: boolean): ReadonlySet<string> {
  const written = ["protocol", ...Object.keys(values)];
  if (isRead) return new Set(written);
  const { protocol = "" } = values;
  const asked = LOGINS.has(protocol) ? ["host", "username", "password"] : ["url", "config"];
  return new Set([...written, ...asked]);
}

function Listed({ lines }: { lines: readonly string[] }) {
  return (
    <div class="field">
      <p>{t("new.list", { n: lines.length })}</p>
      <ul class="plain-list listed">
        {lines.map((line) => {
          const found = detectLine(line);
          return (
            <li key={line}>
              <span class="tag quiet">
                {found?.kind === "vpn" ? String(found.fields.protocol ?? "vpn") : found?.kind}
              </span>{" "}
              <span class="cut" dir="auto">
                {found?.name}
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function Tried({ check }: { check: Check }) {
  return (
    <div class="tried" role="status">
      <StatusWord status={check.status} class="strong" />
      {check.latency_ms !== null && <span class="number">{milliseconds(check.latency_ms)}</span>}
      {check.error_message !== null && <span dir="auto">{check.error_message}</span>}
    </div>
  );
}

function create(
  kind: Exclude<NewKind, "subscription">,
  name: string,
  values: FormValues,
  tags: string,
): Promise<unknown> {
  const read = kind === "vpn" ? withProtocol(values) : values;
  const body = {
    type: kind,
    name,
    ...bodyOf(specsOf(kind), read, false),
    ...(tags.trim() !== "" && { tags: listOf(tags) }),
  };
  return data(client.POST("/servers", { body: body as unknown as Create }));
}

/** Where no protocol is chosen, the link or the file says it. */
function withProtocol(values: FormValues): FormValues {
  const { protocol = "", url = "", config = "" } = values;
  const found = protocol === "" ? detect(url.trim() === "" ? config : url) : null;
  return found?.kind === "vpn" ? { ...values, protocol: String(found.fields.protocol ?? "") } : values;
}

/** @returns the screen of what was made */
async function saveOne({ kind, name, values, tags }: Form): Promise<string> {
  if (kind === "subscription") {
    await data(
      client.POST("/subscriptions", { body: { url: values.url ?? "", name: name.trim() === "" ? null : name } }),
    );
    say(t("new.savedSubscription", { name }));
    return "/subscriptions";
  }
  const made = (await create(kind, name, values, tags)) as Schemas["Monitor"];
  say(t("new.saved", { name: made.name }));
  void loadOverview();
  return `/monitors/${made.id}`;
}

/**
 * @param read takes the lines that were not added
 * @returns the screen of what was made
 */
async function saveWhole(lines: readonly string[], tags: string, read: (text: string) => void): Promise<string> {
  try {
    await saveList(lines, tags);
    return "/monitors";
  } finally {
    // What was added is not added once more.
    const rest = left.value?.lines ?? [];
    left.value = null;
    if (rest.length > 0) read(rest.join("\n"));
  }
}

/** One after the other, so that a limit of the plan is met at the line where it is reached. */
async function saveList(lines: readonly string[], tags: string): Promise<void> {
  for (const [index, line] of lines.entries()) {
    const found = detectLine(line);
    if (found === null || found.kind === "subscription") continue;
    const { kind } = found;
    const values = Object.fromEntries(Object.entries(found.fields).map(([field, value]) => [field, String(value)]));
    left.value = { lines: lines.slice(index), total: lines.length };
    await whenAllowed(() => create(kind, found.name, values, tags)).catch((error: unknown) => {
      throw new Error(t("new.listStopped", { n: index, line, message: messageOf(error) }));
    });
  }
  left.value = { lines: [], total: lines.length };
  say(t("new.savedList", { n: lines.length }));
  void loadOverview();
}

/** A limit of more requests in a minute is none of the plan, s. */
const LONGEST_WAIT_S = 60;

/** A list may have more lines than a minute allows requests. */
async function whenAllowed(ask: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const waitS = await ask().then(
      () => null,
      (error: unknown) => {
        const { status, retryAfterS } = error instanceof ApiError ? error : { status: 0, retryAfterS: null };
        if (status !== 429 || retryAfterS === null || retryAfterS > LONGEST_WAIT_S) throw error;
        return retryAfterS;
      },
    );
    if (waitS === null) return;
    await new Promise((resolve) => setTimeout(resolve, waitS * 1_000));
  }
}

/** Nothing is stored. */
async function tryOut({ values: written }: Form): Promise<Check> {
  const {
    url = "",
    config = "",
    protocol = "",
    host = "",
    username = "",
    password = "",
    psk = "",
  } = withProtocol(written);
  const text = url !== "" ? url : config;
  const body = {
    ...(text !== "" && { config: text }),
    ...(protocol !== "" && url === "" && { protocol }),
    ...(text === "" && host !== "" && { host }),
    ...(username !== "" && { username }),
    ...(password !== "" && { password }),
    ...(psk !== "" && { psk }),
    timeout: TRY_TIMEOUT_S,
  };
  return data(client.POST("/check", { body: body as Schemas["CheckConfig"] }));
}
