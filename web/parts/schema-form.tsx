/** Draws the fields of a JSON Schema that the service sends. */
import { schema } from "../words/en/schema.ts";
import { t } from "../words/words.ts";
import { AreaField, CheckField, SelectField, TextField } from "./field.tsx";
import type { FormFault } from "./form-fault.ts";
import type { SchemaField, Written } from "./schema-fields.ts";

interface FormProps {
  readonly fields: readonly SchemaField[];
  readonly written: Written;
  readonly onValue: (name: string, value: string) => void;
  /** Names of secrets that the service has. */
  readonly kept: readonly string[];
  readonly fault: FormFault;
}

/** What must be written first; the rest is there for those who ask. */
export function SchemaForm({ fields, ...rest }: FormProps) {
  const isFirst = ({ isRequired, isSecret, type }: SchemaField) => isRequired || isSecret || type === "choice";
  const rare = fields.filter((field) => !isFirst(field));
  const isShort = rare.length <= 3;
  return (
    <>
      <Fields fields={isShort ? fields : fields.filter(isFirst)} {...rest} />
      {!isShort && (
        <details>
          <summary>{t("new.more")}</summary>
          <Fields fields={rare} {...rest} />
        </details>
      )}
    </>
  );
}

function Fields({ fields, written, onValue, kept, fault }: FormProps) {
  return (
    <>
      {fields.map((field) => (
        <OneField
          key={field.name}
          field={field}
          value={written[field.name] ?? ""}
          onValue={(value) => onValue(field.name, value)}
          isKept={kept.includes(field.name)}
          error={fault.of(field.name)}
        />
      ))}
    </>
  );
}

interface OneProps {
  readonly field: SchemaField;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly isKept: boolean;
  readonly error: string | null;
}

const MANY_LINES: ReadonlySet<SchemaField["type"]> = new Set(["area", "list", "pairs"]);

function OneField({ field, value, onValue, isKept, error }: OneProps) {
  const { type, options, isRequired, isSecret, standard } = field;
  const label = labelOf(field);
  const text = isRequired || isKept || type === "flag" || type === "choice" ? label : `${label} ${t("field.optional")}`;
  const hint = <Hint field={field} isKept={isKept} />;
  if (type === "flag") return <Flag field={field} value={value} onValue={onValue} />;
  if (type === "choice")
    return (
      <SelectField
        label={text}
        hint={hint}
        error={error}
        value={value === "" ? standard : value}
        options={options.map((word) => [word, word] as const)}
        onValue={onValue}
      />
    );
  if (MANY_LINES.has(type))
    return (
      <AreaField
        label={text}
        hint={hint}
        error={error}
        rows={type === "area" ? 5 : 2}
        spellcheck={false}
        value={value}
        onValue={onValue}
      />
    );
  return (
    <TextField
      label={text}
      hint={hint}
      error={error}
      value={value}
      onValue={onValue}
      // A password's field would offer to keep it in the browser.
      class={isSecret ? "hidden-text" : ""}
      placeholder={standard === "" ? " " : standard}
      autoComplete="off"
      spellcheck={false}
      inputMode={type === "number" ? "numeric" : "text"}
    />
  );
}

function Hint({ field: { hint, type }, isKept }: { field: SchemaField; isKept: boolean }) {
  const goesOn = isKept || type === "list" || type === "pairs";
  return (
    <>
      <span dir="auto">{goesOn && hint?.endsWith(".") === false ? `${hint}.` : hint}</span>
      {type === "list" && ` ${t("schema.list")}`}
      {type === "pairs" && ` ${t("schema.pairs")}`}
      {isKept && ` ${t("field.kept")}`}
    </>
  );
}

/** The page's own word for a field that it knows. Its hint is the service's. */
function labelOf({ name, label }: SchemaField): string {
  const key = `schema.${name}`;
  return Object.hasOwn(schema, key) ? t(key as keyof typeof schema) : label;
}

function Flag({ field, value, onValue }: Omit<OneProps, "isKept" | "error">) {
  const { hint, standard } = field;
  return (
    <div class="field">
      <CheckField
        label={labelOf(field)}
        checked={(value === "" ? standard : value) === "true"}
        onChecked={(checked) => onValue(String(checked))}
      />
      {hint !== null && (
        <p class="hint" dir="auto">
          {hint}
        </p>
      )}
    </div>
  );
}
