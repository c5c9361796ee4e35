/** Rules in their order: the first that matches tells, unless it goes on. */
import { useSignal } from "@preact/signals";
import { client, data } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Delete } from "../parts/delete.tsx";
import { Icon } from "../parts/icon.tsx";
import { AddButton, EditAndDelete, IconButton } from "../parts/icon-button.tsx";
import { subscriptions } from "../parts/selector-field.tsx";
import { Show } from "../parts/states.tsx";
import { attempt } from "../state/notices.ts";
import { type ApiSelector, selectorText } from "../state/selector-text.ts";
import { canEdit } from "../state/session.ts";
import { seconds } from "../words/times.ts";
import { list, t } from "../words/words.ts";
import { Preview } from "./alert-preview.tsx";
import { EditRule } from "./alert-rule-form.tsx";
import { type Choices, groupWord, type Rule } from "./alert-rule-words.ts";

/** A new rule has no number yet; the default rule of a project that had none becomes one like others. */
async function putRules(version: number, rules: readonly Rule[]): Promise<void> {
  const numbered = rules.map((rule) => ({ ...rule, id: rule.id === 0 ? null : rule.id }));
  await data(client.PUT("/alert-rules", { body: { version, rules: numbered } }));
}

export function Rules() {
  const editing = useSignal<number | "new" | null>(null);
  const deleting = useSignal<number | null>(null);
  const all = useResource(async (signal) => {
    const [rules, { channels }, { quiet_hours: quietHours }] = await Promise.all([
      data(client.GET("/alert-rules", { signal })),
      data(client.GET("/channels", { signal })),
      data(client.GET("/quiet-hours", { signal })),
    ]);
    return { list: rules, choices: { channels, quietHours } };
  }, "alert-rules");
  const put = async (version: number, rules: readonly Rule[]) => {
    await putRules(version, rules);
    all.reload();
  };
  return (
    <Show resource={all} rows={4}>
      {({ list: { version, rules }, choices }) => (
        <>
          <Top add={() => (editing.value = "new")} />
          <RuleLines
            version={version}
            rules={rules}
            choices={choices}
            changed={all.reload}
            edit={(index) => (editing.value = index)}
            remove={(index) => (deleting.value = index)}
          />
          <Preview />
          {editing.value !== null && (
            <EditRule
              rule={editing.value === "new" ? null : (rules[editing.value] ?? null)}
              choices={choices}
              close={() => (editing.value = null)}
              save={(rule) => put(version, withRule(rules, editing.value, rule))}
            />
          )}
          {deleting.value !== null && (
            <Delete
              what="rule"
              name={rules[deleting.value]?.name ?? ""}
              close={() => (deleting.value = null)}
              act={() =>
                put(
                  version,
                  rules.filter((_, index) => index !== deleting.value),
                )
              }
            />
          )}
        </>
      )}
    </Show>
  );
}

/** A new one goes first: behind one that takes everything it would tell of nothing. */
function withRule(rules: readonly Rule[], at: number | "new" | null, rule: Rule): readonly Rule[] {
  return at === "new" ? [rule, ...rules] : rules.map((one, index) => (index === at ? rule : one));
}

function Top({ add }: { add: () => void }) {
  return (
    <div class="tab-acts">
      <p class="hint grow">{t("rule.hint")}</p>
      {canEdit.value && <AddButton label={t("rule.add")} act={add} />}
    </div>
  );
}

interface LinesProps {
  readonly version: number;
  readonly rules: readonly Rule[];
  readonly choices: Choices;
  readonly changed: () => void;
  readonly edit: (index: number) => void;
  readonly remove: (index: number) => void;
}

function RuleLines({ version, rules, choices, changed, edit, remove }: LinesProps) {
  const move = (from: number, to: number) => {
    const next = [...rules];
    next.splice(to, 0, ...next.splice(from, 1));
    void attempt(() => putRules(version, next)).then(changed);
  };
  return (
    <ol class="card lines" aria-label={t("alerts.rules")}>
      {rules.map((rule, index) => (
        <li class="line rule" key={`${rule.id} ${index}`}>
          <span class="rule-number">{index + 1}</span>
          <div class="line-text">
            <b dir="auto">{rule.name}</b>
            {!rule.active && <span class="tag quiet">{t("rule.off")}</span>}
            <RuleWords rule={rule} choices={choices} />
          </div>
          {canEdit.value && (
            <div class="acts">
              <IconButton
                icon="arrow-up"
                label={t("rule.upOf", { name: rule.name })}
                disabled={index === 0}
                act={() => move(index, index - 1)}
              />
              <IconButton
                icon="arrow-down"
                label={t("rule.downOf", { name: rule.name })}
                disabled={index === rules.length - 1}
                act={() => move(index, index + 1)}
              />
              <EditAndDelete name={rule.name} edit={() => edit(index)} remove={() => remove(index)} />
            </div>
          )}
        </li>
      ))}
    </ol>
  );
}

/** @returns names; what is gone stays an id */
function channelNames(ids: readonly string[] | null, { channels }: Choices): string {
  if (ids === null) return t("rule.everyChannel");
  return list(ids.map((id) => channels.find((channel) => channel.id === id)?.name ?? id));
}

/** The rule as a person would say it: when, to whom, how often. */
function RuleWords({ rule, choices }: { rule: Rule; choices: Choices }) {
  const { events, select, severity } = rule.match;
  const line = select === null ? "" : selectorText(select as ApiSelector, subscriptions());
  const quiet = choices.quietHours.find(({ id }) => id === rule.quiet_hours)?.name;
  const parts = [
    events === null ? t("rule.anyEvent") : list(events.map((event) => t(`rule.event.${event}`))),
    ...(severity === null ? [] : [list(severity.map((word) => t(`severity.${word}`)))]),
  ];
  const often = [
    t("rule.groupedBy", { group: groupWord(rule.group_by) }),
    ...(rule.repeat_s === null ? [] : [t("rule.repeats", { duration: seconds(rule.repeat_s) })]),
    ...(quiet === undefined ? [] : [t("rule.quiet", { name: quiet })]),
    ...(rule.continue ? [t("rule.goesOn")] : []),
  ];
  return (
    <>
      <p>
        {parts.join(" · ")} {line !== "" && <code dir="auto">{line}</code>}
        {rule.delay_s > 0 && ` · ${t("rule.after", { duration: seconds(rule.delay_s) })}`}{" "}
        <Icon name="arrow-right" size={14} /> <b>{channelNames(rule.channels, choices)}</b>
      </p>
      <p class="faint">{often.join(" · ")}</p>
      {rule.escalation.map((step) => (
        <p class="faint" key={step.after_s}>
          {t("rule.escalates", { duration: seconds(step.after_s), channels: channelNames(step.channels, choices) })}
        </p>
      ))}
    </>
  );
}
