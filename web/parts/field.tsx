/** A form's field: label, hint and error belong together, also for those who cannot see them. */
import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | null;
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

type InputProps = Omit<JSX.InputHTMLAttributes<HTMLInputElement>, "id" | "value" | "onInput"> & {
  label: string;
  hint?: ComponentChildren;
  error?: string | null;
  value: string;
  onValue: (text: string) => void;
};

export function TextField({ label, hint, error, value, onValue, ...rest }: InputProps) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })} {...(error !== undefined && { error })}>
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

export function SelectField<T extends string>({
  label,
  hint,
  error = null,
  value,
  options,
  onValue,
}: {
  label: string;
  hint?: ComponentChildren;
  error?: string | null;
  value: T;
  options: readonly (readonly [T, string])[];
  onValue: (value: T) => void;
}) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })} error={error}>
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
