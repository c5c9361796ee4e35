/** A rule, new or changed. */
import { type Signal, useSignal } from "@preact/signals";
import { ALERT_EVENTS } from "../../model/alerting-rule.ts";
import { Confirm } from "../parts/dialog.tsx";
import { CheckField, CheckFields, SelectField, TextField } from "../parts/field.tsx";
import { type FormFault, useFormFault } from "../parts/form-fault.ts";
import { Icon } from "../parts/icon.tsx";
import { AddButton } from "../parts/icon-button.tsx";
import { numberOf } from "../parts/monitor-fields.ts";
import { readSelector, SelectorField, subscriptions } from "../parts/selector-field.tsx";
import { type ApiSelector, selectorText } from "../state/selector-text.ts";
import { withAt } from "../state/with-at.ts";
import { t } from "../words/words.ts";
import { type Choices, GROUPINGS, groupWord, type Rule } from "./alert-rule-words.ts";

const SEVERITIES = ["critical", "warning"] as const;

/** What a new rule begins with. */
const FRESH: Rule = {
  id: 0,
  name: "",
  active: true,
  continue: false,
  match: { events: null, select: null, severity: null },
  channels: null,
  delay_s: 0,
  group_by: "host",
  wait_s: 30,
  interval_s: 300,
  repeat_s: null,
  repeat_growth: 2,
  recovered: true,
  quiet_hours: null,
  escalation: [],
  template: null,
};

interface Step {
  readonly after: string;
  readonly channels: readonly string[];
}

interface Filled {
  readonly name: Signal<string>;
  readonly select: Signal<string>;
  readonly events: Signal<readonly string[]>;
  readonly severity: Signal<readonly string[]>;
  /** Null: every active one. */
  readonly channels: Signal<readonly string[] | null>;
  readonly numbers: Signal<Readonly<Record<string, string>>>;
  readonly group: Signal<string>;
  readonly quiet: Signal<string>;
  readonly flags: Signal<Readonly<Record<"active" | "recovered" | "continue", boolean>>>;
  readonly steps: Signal<readonly Step[]>;
}

const NUMBERS = ["delay_s", "wait_s", "interval_s", "repeat_s"] as const;

function useFilled(rule: Rule): Filled {
  const { events, select, severity } = rule.match;
  return {
    name: useSignal(rule.name),
    select: useSignal(select === null ? "" : selectorText(select as ApiSelector, subscriptions())),
    events: useSignal<readonly string[]>(events ?? []),
    severity: useSignal<readonly string[]>(severity ?? []),
    channels: useSignal<readonly string[] | null>(rule.channels),
    numbers: useSignal<Readonly<Record<string, string>>>(
      Object.fromEntries(NUMBERS.map((name) => [name, rule[name] === null ? "" : String(rule[name])])),
    ),
    group: useSignal(rule.group_by),
    quiet: useSignal(rule.quiet_hours === null ? "" : String(rule.quiet_hours)),
    flags: useSignal({ active: rule.active, recovered: rule.recovered, continue: rule.continue }),
    steps: useSignal<readonly Step[]>(
      rule.escalation.map(({ after_s: after, channels }) => ({ after: String(after), channels })),
    ),
  };
}

const orNull = <T,>(items: readonly T[]): readonly T[] | null => (items.length === 0 ? null : items);

function ruleOf(before: Rule, filled: Filled): Rule {
  const numbers = filled.numbers.value;
  const line = filled.select.value.trim();
  const rule = {
    ...before,
    ...filled.flags.value,
    name: filled.name.value,
    match: {
      events: orNull(filled.events.value),
      select: line === "" ? null : readSelector(line, "select"),
      severity: orNull(filled.severity.value),
    },
    channels: filled.channels.value,
    delay_s: numberOf(numbers.delay_s || "0"),
    wait_s: numberOf(numbers.wait_s || "0"),
    interval_s: numberOf(numbers.interval_s || "0"),
    repeat_s: (numbers.repeat_s ?? "").trim() === "" ? null : numberOf(numbers.repeat_s ?? ""),
    group_by: filled.group.value,
    quiet_hours: filled.quiet.value === "" ? null : Number(filled.quiet.value),
    escalation: filled.steps.value.map(({ after, channels }) => ({
      after_s: numberOf(after),
      channels,
      unless: "acknowledged",
    })),
  };
  return rule as unknown as Rule;
}

interface Props {
  /** Null: a new one. */
  readonly rule: Rule | null;
  readonly choices: Choices;
  readonly close: () => void;
  readonly save: (rule: Rule) => Promise<void>;
}

export function EditRule({ rule, choices, close, save }: Props) {
  const filled = useFilled(rule ?? FRESH);
  const steps = filled.steps.value.map((_, at) => `escalation.${at}.after_s`);
  const fault = useFormFault(["name", "select", ...NUMBERS, ...steps]);
  return (
    <Confirm
      title={t(rule === null ? "rule.add" : "rule.editTitle")}
      close={close}
      confirm={t("act.save")}
      act={() => save(ruleOf(rule ?? FRESH, filled))}
      fault={fault}
    >
      <TextField
        label={t("field.name")}
        error={fault.of("name")}
        required
        maxLength={120}
        value={filled.name.value}
        onValue={(text) => (filled.name.value = text)}
      />
      <SelectorField
        label={t("rule.which")}
        error={fault.of("select")}
        value={filled.select.value}
        onValue={(line) => (filled.select.value = line)}
      />
      <CheckFields
        legend={t("rule.events")}
        hint={t("rule.eventsHint")}
        options={ALERT_EVENTS.map((event) => [event, t(`rule.event.${event}`)] as const)}
        chosen={filled.events.value}
        onChosen={(events) => (filled.events.value = events)}
      />
      <ChannelChoice chosen={filled.channels} choices={choices} />
      <NumberField name="delay_s" filled={filled} fault={fault} />
      <More filled={filled} choices={choices} fault={fault} />
    </Confirm>
  );
}

/** What most rules leave as it is. */
function More({ filled, choices, fault }: { filled: Filled; choices: Choices; fault: FormFault }) {
  const groups = [...new Set([...GROUPINGS, filled.group.value])];
  return (
    <details>
      <summary>{t("new.more")}</summary>
      <CheckFields
        legend={t("rule.severity")}
        hint={t("rule.severityHint")}
        options={SEVERITIES.map((word) => [word, t(`severity.${word}`)] as const)}
        chosen={filled.severity.value}
        onChosen={(severity) => (filled.severity.value = severity)}
      />
      <div class="pair">
        <SelectField
          label={t("rule.group")}
          value={filled.group.value}
          options={groups.map((word) => [word, groupWord(word)] as const)}
          onValue={(word) => (filled.group.value = word)}
        />
        <SelectField
          label={t("alerts.quietHours")}
          value={filled.quiet.value}
          options={[
            ["", t("rule.noQuiet")] as const,
            ...choices.quietHours.map(({ id, name }) => [String(id), name] as const),
          ]}
          onValue={(word) => (filled.quiet.value = word)}
        />
        {(["wait_s", "interval_s", "repeat_s"] as const).map((name) => (
          <NumberField key={name} name={name} filled={filled} fault={fault} />
        ))}
      </div>
      <Steps steps={filled.steps} choices={choices} fault={fault} />
      {(["recovered", "continue", "active"] as const).map((flag) => (
        <CheckField
          key={flag}
          label={t(`rule.flag.${flag}`)}
          checked={filled.flags.value[flag]}
          onChecked={(checked) => (filled.flags.value = { ...filled.flags.value, [flag]: checked })}
        />
      ))}
    </details>
  );
}

interface NumberProps {
  readonly name: (typeof NUMBERS)[number];
  readonly filled: Filled;
  readonly fault: FormFault;
}

function NumberField({ name, filled: { numbers }, fault }: NumberProps) {
  return (
    <TextField
      label={t(`rule.${name}`)}
      hint={t(`rule.${name}Hint`)}
      error={fault.of(name)}
      inputMode="numeric"
      value={numbers.value[name] ?? ""}
      onValue={(text) => (numbers.value = { ...numbers.value, [name]: text })}
    />
  );
}

function ChannelChoice({ chosen, choices }: { chosen: Signal<readonly string[] | null>; choices: Choices }) {
  // Stays while every channel is chosen, for who comes back to some.
  const some = useSignal<readonly string[]>(chosen.value ?? []);
  const isAll = chosen.value === null;
  return (
    <>
      <SelectField
        label={t("rule.to")}
        value={isAll ? "all" : "some"}
        options={[
          ["all", t("rule.everyChannel")],
          ["some", t("rule.someChannels")],
        ]}
        onValue={(word) => (chosen.value = word === "all" ? null : some.value)}
      />
      {!isAll && (
        <CheckFields
          legend={t("alerts.channels")}
          options={choices.channels.map(({ id, name }) => [String(id), name] as const)}
          chosen={some.value}
          onChosen={(ids) => {
            some.value = ids;
            chosen.value = ids;
          }}
        />
      )}
    </>
  );
}

/** Who is told later, when it is neither over nor acknowledged. */
function Steps({ steps, choices, fault }: { steps: Signal<readonly Step[]>; choices: Choices; fault: FormFault }) {
  const set = (at: number, step: Step | null) => (steps.value = withAt(steps.value, at, step));
  return (
    <fieldset class="checks">
      <legend>{t("rule.escalation")}</legend>
      {steps.value.map((step, index) => (
        <div class="step" key={index}>
          <TextField
            label={t("rule.stepAfter")}
            error={fault.of(`escalation.${index}.after_s`)}
            inputMode="numeric"
            value={step.after}
            onValue={(after) => set(index, { ...step, after })}
          />
          <SelectField
            label={t("rule.stepTo")}
            value={step.channels[0] ?? ""}
            options={choices.channels.map(({ id, name }) => [String(id), name] as const)}
            onValue={(id) => set(index, { ...step, channels: [id, ...step.channels.slice(1)] })}
          />
          <button
            type="button"
            class="icon-button"
            aria-label={t("rule.stepRemove", { n: index + 1 })}
            onClick={() => set(index, null)}
          >
            <Icon name="x" size={16} />
          </button>
        </div>
      ))}
      {choices.channels.length > 0 && (
        <AddButton
          small
          label={t("rule.stepAdd")}
          act={() =>
            (steps.value = [...steps.value, { after: "900", channels: [String(choices.channels[0]?.id ?? "")] }])
          }
        />
      )}
    </fieldset>
  );
}
