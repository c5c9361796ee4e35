/** Settings with secrets: what is shown of them, what is sealed, and the whole again. Of an object each value is a secret, its names are not. Pure. */
import { HIDDEN } from "./web-address.ts";

type Settings = Readonly<Record<string, unknown>>;

/** As every user may see them, and as they are stored. */
export function hideSecrets(settings: Settings, secretFields: readonly string[]): Settings {
  return mapFields(settings, secretFields, (value) => (isNothing(value) ? value : mapValues(value, () => HIDDEN)));
}

/** What is to be sealed: the secret fields that have a value. */
export function secretsOf(settings: Settings, secretFields: readonly string[]): Settings {
  return Object.fromEntries(
    secretFields.filter((field) => !isNothing(settings[field])).map((field) => [field, settings[field]]),
  );
}

/** The first secret field in which something stands for a secret that is kept. */
export function hiddenField(settings: Settings, secretFields: readonly string[]): string | undefined {
  return secretFields.find((field) => hidesSomething(settings[field]));
}

/** With the secrets that are kept; what none is kept for stays hidden. @param secrets of secretsOf() */
export function restoreSecrets(settings: Settings, secretFields: readonly string[], secrets: Settings): Settings {
  return mapFields(settings, secretFields, (value, field) =>
    hidesSomething(value)
      ? mapValues(value, (one, name) => (one === HIDDEN ? keptOf(secrets[field], name) : one))
      : value,
  );
}

function keptOf(kept: unknown, name: string | null): unknown {
  if (name === null) return typeof kept === "string" ? kept : HIDDEN;
  if (typeof kept !== "object" || kept === null) return HIDDEN;
  // Names of headers have no case.
  const found = Object.entries(kept).find(([one]) => one.toLowerCase() === name.toLowerCase());
  return found?.[1] ?? HIDDEN;
}

function hidesSomething(value: unknown): boolean {
  return value === HIDDEN || (typeof value === "object" && value !== null && Object.values(value).includes(HIDDEN));
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined;
}

function mapFields(
  settings: Settings,
  fields: readonly string[],
  change: (value: unknown, field: string) => unknown,
): Settings {
  const present = fields.filter((field) => Object.hasOwn(settings, field));
  if (present.length === 0) return settings;
  return { ...settings, ...Object.fromEntries(present.map((field) => [field, change(settings[field], field)])) };
}

/** @param change is given the value's name; null: the value stands alone */
function mapValues(value: unknown, change: (one: unknown, name: string | null) => unknown): unknown {
  if (typeof value !== "object" || value === null) return change(value, null);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(one, name)]));
}
