/** Acts on the monitors that are selected: each asks first, and says how many it is about and which stay as they are. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { client, data, messageOf, type Schemas } from "../api/client.ts";
import { say } from "../state/notices.ts";
import { loadOverview } from "../state/project.ts";
import { chooseAll, chosenIds, hiddenChosen } from "../state/selection.ts";
import { type Key, t } from "../words/words.ts";
import { Confirm } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { FieldError } from "./field-fault.ts";
import { type FormFault, useFormFault } from "./form-fault.ts";
import { Icon } from "./icon.tsx";
import { listOf, numberOf } from "./monitor-fields.ts";

type Act = "pause" | "resume" | "delete" | "check" | "edit" | "tag";
type Body = Schemas["BulkAct"];
type Outcome = Schemas["BulkOutcome"];
/** What a change of many may set, by the API's names. */
const SET = ["interval", "timeout", "maxretries", "tags", "tags_add", "tags_remove"];
/** Reasons that are shown. */
const MOST_SHOWN = 5;

const ACTS: readonly { readonly act: Act; readonly icon: string; readonly label: Key; readonly title: Key }[] = [
  { act: "check", icon: "zap", label: "monitor.checkNow", title: "bulk.checkTitle" },
  { act: "pause", icon: "pause", label: "act.pause", title: "bulk.pauseTitle" },
  { act: "resume", icon: "play", label: "act.resume", title: "bulk.resumeTitle" },
  { act: "edit", icon: "pencil", label: "act.edit", title: "bulk.editTitle" },
  { act: "tag", icon: "tag", label: "bulk.tag", title: "bulk.tagTitle" },
  { act: "delete", icon: "trash-2", label: "act.delete", title: "bulk.deleteTitle" },
];

/** Nothing while nothing is selected. */
export function BulkBar() {
  const asked = useSignal<Act | null>(null);
  const count = chosenIds.value.size;
  const chosen = ACTS.find(({ act }) => act === asked.value);
  if (count === 0) return null;
  return (
    <section class="bulk" aria-label={t("bulk.label")}>
      <span role="status">
        <b>{t("bulk.count", { n: count })}</b>
        {hiddenChosen.value > 0 && ` · ${t("bulk.hidden", { n: hiddenChosen.value })}`}
      </span>
      {ACTS.map(({ act, icon, label }) => (
        <button type="button" class="button small" key={act} onClick={() => (asked.value = act)}>
          <Icon name={icon} size={16} /> {t(label)}
        </button>
      ))}
      <button type="button" class="button small" onClick={() => chooseAll(false)}>
        {t("bulk.none")}
      </button>
      {chosen !== undefined && (
        <BulkDialog act={chosen.act} title={chosen.title} label={chosen.label} close={() => (asked.value = null)} />
      )}
    </section>
  );
}

function BulkDialog({ act, title, label, close }: { act: Act; title: Key; label: Key; close: () => void }) {
  const ids = [...chosenIds.peek()];
  const values = {
    interval: useSignal(""),
    timeout: useSignal(""),
    retries: useSignal(""),
    added: useSignal(""),
    removed: useSignal(""),
  };
  const select = { ids };
  const fault = useFormFault(SET);
  const body = (): Body => {
    if (act !== "edit" && act !== "tag") return { select, action: act };
    const { interval, timeout, retries, added, removed } = values;
    const set = {
      ...(interval.value !== "" && { interval: numberOf(interval.value) }),
      ...(timeout.value !== "" && { timeout: numberOf(timeout.value) }),
      ...(retries.value !== "" && { maxretries: numberOf(retries.value) }),
      ...(added.value !== "" && { tags_add: [...listOf(added.value)] }),
      ...(removed.value !== "" && { tags_remove: [...listOf(removed.value)] }),
    };
    if (Object.keys(set).length === 0)
      throw new FieldError(act === "edit" ? "interval" : "tags_add", t("bulk.nothingSet"));
    return { select, action: "set", set: set as NonNullable<Body["set"]> };
  };
  const run = async () => {
    const { changed, refused } = await data(client.POST("/servers/bulk", { body: body() }));
    const first = refused[0];
    const why =
      first === undefined ? "" : ` ${t("bulk.refused", { n: refused.length })} ${first.name}: ${first.message}`;
    say(`${t("bulk.done", { n: changed })}${why}`, first !== undefined);
    void loadOverview();
  };
  const isSet = act === "edit" || act === "tag";
  return (
    <Confirm
      title={t(title)}
      close={close}
      confirm={isSet ? t("act.save") : t(label)}
      danger={act === "delete"}
      act={run}
      fault={fault}
    >
      {act === "edit" && <Times values={values} fault={fault} />}
      {act === "tag" && <Tags values={values} fault={fault} />}
      {isSet ? <p>{t("bulk.matches", { n: ids.length })}</p> : <Preview body={{ ...body(), dry_run: true }} />}
      {act === "delete" && <p>{t("bulk.deleteText")}</p>}
    </Confirm>
  );
}

interface Values {
  readonly interval: Signal<string>;
  readonly timeout: Signal<string>;
  readonly retries: Signal<string>;
  readonly added: Signal<string>;
  readonly removed: Signal<string>;
}

interface SetProps {
  readonly values: Values;
  readonly fault: FormFault;
}

function Times({ values, fault }: SetProps) {
  return (
    <>
      {(["interval", "timeout"] as const).map((name) => (
        <TextField
          key={name}
          label={t(`field.${name}`)}
          hint={`${t("field.seconds")}. ${t("bulk.intervalHint")}`}
          error={fault.of(name)}
          inputMode="numeric"
          value={values[name].value}
          onValue={(text) => (values[name].value = text)}
        />
      ))}
      <TextField
        label={t("field.retries")}
        hint={t("bulk.intervalHint")}
        error={fault.of("maxretries")}
        inputMode="numeric"
        value={values.retries.value}
        onValue={(text) => (values.retries.value = text)}
      />
    </>
  );
}

function Tags({ values: { added, removed }, fault }: SetProps) {
  return (
    <>
      <TextField
        label={t("bulk.addTags")}
        hint={t("field.tagsHint")}
        error={fault.of("tags") ?? fault.of("tags_add")}
        value={added.value}
        onValue={(text) => (added.value = text)}
      />
      <TextField
        label={t("bulk.removeTags")}
        hint={t("field.tagsHint")}
        error={fault.of("tags_remove")}
        value={removed.value}
        onValue={(text) => (removed.value = text)}
      />
    </>
  );
}

/** What the service says would be. */
function Preview({ body }: { body: Body }) {
  const outcome = useSignal<Outcome | null>(null);
  const error = useSignal<string | null>(null);
  useEffect(() => {
    data(client.POST("/servers/bulk", { body })).then(
      (answer) => {
        outcome.value = answer;
      },
      (reason: unknown) => {
        error.value = messageOf(reason);
      },
    );
    // The dialog is about what was selected when it was opened.
  }, []);
  if (error.value !== null) return <p class="form-error">{error.value}</p>;
  if (outcome.value === null) return <p class="hint">{t("state.loading")}</p>;
  const { matched, changed, refused } = outcome.value;
  return (
    <>
      <p>
        {t("bulk.matches", { n: matched })} {t("bulk.changes", { n: changed })}
      </p>
      {refused.length > 0 && (
        <>
          <p>{t("bulk.refused", { n: refused.length })}</p>
          <ul class="plain-list">
            {refused.slice(0, MOST_SHOWN).map(({ id, name, message }) => (
              <li key={id} dir="auto">
                {name}: {message}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
