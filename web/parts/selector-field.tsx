/** Which monitors are meant, written like a filter; the field says how many they are now. */
import { parseFilter } from "../state/filter.ts";
import { select } from "../state/monitors.ts";
import { revision, shown } from "../state/project.ts";
import { type ApiSelector, type NamedSubscription, selectorOf } from "../state/selector-text.ts";
import { t } from "../words/words.ts";
import { TextField } from "./field.tsx";
import { FieldError } from "./field-fault.ts";

export function subscriptions(): readonly NamedSubscription[] {
  return shown.value?.columns.subscriptions.map(({ id, name }) => ({ id, name: name ?? "" })) ?? [];
}

/**
 * @param field that has the line, by the API's name
 * @throws FieldError when the line is no selector
 */
export function readSelector(line: string, field: string): ApiSelector {
  const outcome = selectorOf(line, subscriptions());
  if ("fault" in outcome) throw new FieldError(field, t(`selector.fault.${outcome.fault}`));
  return outcome.selector;
}

export function SelectorField({
  label,
  error,
  value,
  onValue,
}: {
  label: string;
  /** What was refused of the line; what the line says wrong is seen by itself. */
  error: string | null;
  value: string;
  onValue: (line: string) => void;
}) {
  revision.value;
  const outcome = selectorOf(value, subscriptions());
  const n = shown.value === null ? 0 : [...select(shown.value.entries, parseFilter(value))].length;
  return (
    <TextField
      label={label}
      hint={`${t("selector.hint")} ${t("selector.matches", { n })}`}
      error={"fault" in outcome ? t(`selector.fault.${outcome.fault}`) : error}
      placeholder="tag:prod kind:vless"
      autoComplete="off"
      spellcheck={false}
      value={value}
      onValue={onValue}
    />
  );
}
