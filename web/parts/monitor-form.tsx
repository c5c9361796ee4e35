/** The fields of a monitor, for a new one and for a change. */

import { type Key, t } from "../words/words.ts";
import { AreaField, CheckField, SelectField, TextField } from "./field.tsx";
import type { FormFault } from "./form-fault.ts";
import { type FieldSpec, type FormValues, isOptional } from "./monitor-fields.ts";

/** What a choice of nothing means, where it does not mean never. */
const EMPTY_CHOICE: Readonly<Record<string, Key>> = {
  record_type: "field.bothAddresses",
  protocol: "field.protocolRead",
};

export function KindFields({
  specs,
  values,
  onValue,
  keepsSecrets,
  fault,
}: {
  specs: readonly FieldSpec[];
  values: FormValues;
  onValue: (name: string, value: string) => void;
  /** An empty secret stays what it is. */
  keepsSecrets: boolean;
  fault: FormFault;
}) {
  return (
    <>
      {specs.map((spec) => (
        <OneField
          key={spec.name}
          spec={spec}
          value={values[spec.name] ?? ""}
          isOptional={isOptional(spec, values)}
          onValue={(value) => onValue(spec.name, value)}
          keepsSecrets={keepsSecrets}
          error={fault.of(spec.name)}
        />
      ))}
    </>
  );
}

function OneField({
  spec: { name, label, type, hint, options, isOnByDefault },
  value,
  isOptional,
  onValue,
  keepsSecrets,
  error,
}: {
  spec: FieldSpec;
  value: string;
  /** The label says that it may stay empty. */
  isOptional: boolean;
  onValue: (value: string) => void;
  keepsSecrets: boolean;
  error: string | null;
}) {
  const isKept = keepsSecrets && (type === "secret" || type === "area");
  const words = isKept ? t("field.kept") : hint === undefined ? undefined : t(hint);
  const text = `${t(label)}${isOptional && !isKept ? ` ${t("field.optional")}` : ""}`;
  const hinted = { error, hint: words };
  if (type === "choice" && options !== undefined) {
    const choices = options.map(([word, text]) => [word, choiceText(name, word, text)] as const);
    return (
      <SelectField label={t(label)} {...hinted} value={chosenOf(options, value)} options={choices} onValue={onValue} />
    );
  }
  if (type === "flag") {
    const isOn = isOnByDefault === true ? value !== "false" : value === "true";
    return <Flag label={t(label)} isOn={isOn} onValue={onValue} />;
  }
  if (type === "area" || type === "headers" || type === "lines" || type === "records")
    return <AreaField label={text} {...hinted} rows={4} spellcheck={false} value={value} onValue={onValue} />;
  return (
    <TextField
      label={text}
      {...hinted}
      value={value}
      onValue={onValue}
      autoComplete="off"
      spellcheck={false}
      inputMode={type === "number" ? "numeric" : "text"}
    />
  );
}

function choiceText(name: string, word: string, text: string): string {
  if (word === "") return t(EMPTY_CHOICE[name] ?? "field.never");
  return name.endsWith("_expiration") ? t("field.daysBefore", { n: Number(word) }) : text;
}

/** A browser shows nothing for a value that is no choice. */
function chosenOf(options: readonly (readonly [string, string])[], value: string): string {
  return options.some(([word]) => word === value) ? value : (options[0]?.[0] ?? "");
}

function Flag({ label, isOn, onValue }: { label: string; isOn: boolean; onValue: (value: string) => void }) {
  return <CheckField label={label} checked={isOn} onChecked={(checked) => onValue(String(checked))} />;
}

/** What every kind that is checked by schedule has. */
export const COMMON: readonly FieldSpec[] = [
  { name: "interval", label: "field.interval", type: "number", hint: "field.seconds", optional: true },
  { name: "timeout", label: "field.timeout", type: "number", hint: "field.seconds", optional: true },
  { name: "maxretries", label: "field.retries", type: "number", hint: "field.retriesHint", optional: true },
];
