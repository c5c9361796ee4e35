/** A form's field: label, hint and error belong together, also for those who cannot see them. */
import type { ComponentChildren, JSX, Ref } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | null | undefined;
  readonly children: (attributes: {
    id: string;
    "aria-describedby"?: string;
    "aria-invalid"?: "true";
  }) => ComponentChildren;
}

export function Field({ label, hint, error = null, children }: FieldProps) {
  const id = useId();
  const described = [hint === undefined ? null : `${id}-hint`, error === null ? null : `${id}-error`].filter(
    (one) => one !== null,
  );
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(described.length > 0 && { "aria-describedby": described.join(" ") }),
        ...(error !== null && { "aria-invalid": "true" as const }),
      })}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== null && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

/** What each field has beside the attributes of its element. */
interface Written {
  label: string;
  hint?: ComponentChildren;
  error?: string | null | undefined;
  value: string;
  onValue: (text: string) => void;
}

type InputProps = Omit<JSX.InputHTMLAttributes<HTMLInputElement>, "id" | "value" | "onInput"> & Written;
type AreaProps = Omit<JSX.TextareaHTMLAttributes<HTMLTextAreaElement>, "id" | "value" | "onInput"> &
  Written & { field?: Ref<HTMLTextAreaElement> };

export function TextField({ label, hint, error, value, onValue, ...rest }: InputProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => (
        <input
          type="text"
          dir="auto"
          {...rest}
          {...attributes}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** A text of several lines. */
export function AreaField({ label, hint, error, value, onValue, field, ...rest }: AreaProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => (
        <textarea
          dir="auto"
          {...rest}
          {...attributes}
          {...(field !== undefined && { ref: field })}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface CheckProps {
  readonly label: ComponentChildren;
  readonly checked: boolean;
  readonly disabled?: boolean;
  readonly onChecked: (checked: boolean) => void;
}

export function CheckField({ label, checked, disabled = false, onChecked }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChecked(event.currentTarget.checked)}
      />
      {label}
    </label>
  );
}

interface CheckFieldsProps<T extends string> {
  readonly legend: string;
  readonly hint?: string;
  readonly options: readonly (readonly [T, ComponentChildren])[];
  readonly chosen: readonly T[];
  readonly onChosen: (chosen: readonly T[]) => void;
  /** Scrolls within its frame. */
  readonly tall?: boolean;
}

/** Several of the options, a box for each. */
export function CheckFields<T extends string>({
  legend,
  hint,
  options,
  chosen,
  onChosen,
  tall = false,
}: CheckFieldsProps<T>) {
  const others = (word: T) => chosen.filter((one) => one !== word);
  return (
    <fieldset class={tall ? "checks tall" : "checks"}>
      <legend>{legend}</legend>
      {hint !== undefined && <p class="hint">{hint}</p>}
      {options.map(([word, label]) => (
        <CheckField
          key={word}
          label={<span dir="auto">{label}</span>}
          checked={chosen.includes(word)}
          onChecked={(checked) => onChosen(checked ? [...others(word), word] : others(word))}
        />
      ))}
    </fieldset>
  );
}

export function SelectField<T extends string>({
  label,
  hint,
  error,
  value,
  options,
  onValue,
}: {
  label: string;
  hint?: ComponentChildren;
  error?: string | null | undefined;
  value: T;
  options: readonly (readonly [T, string])[];
  onValue: (value: T) => void;
}) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => (
        <select {...attributes} value={value} onChange={(event) => onValue(event.currentTarget.value as T)}>
          {options.map(([word, text]) => (
            <option key={word} value={word}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
