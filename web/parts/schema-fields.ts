/** A form out of a JSON Schema that the service sends: which fields there are, and the settings that were written into them. Pure. */

export interface SchemaField {
  readonly name: string;
  readonly label: string;
  readonly hint: string | null;
  readonly type: "text" | "area" | "number" | "flag" | "choice" | "list" | "pairs";
  readonly options: readonly string[];
  /** Goes in and never comes out. */
  readonly isSecret: boolean;
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  /** What an empty field means, as text. */
  readonly standard: string;
}

type Node = Readonly<Record<string, unknown>>;
export type Settings = Readonly<Record<string, unknown>>;
export type Written = Readonly<Record<string, string>>;

/** A form with more would be none. */
const MOST_FIELDS = 60;
/** From this length on a text has several lines. */
const LONG_TEXT = 1_000;
/** Addresses and tokens are long too, and have one line. */
const MANY_LINES = /template|body|text|message/;

const nodeOf = (value: unknown): Node =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Node) : {};
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textsOf = (value: unknown): readonly string[] =>
  listOf(value).filter((one): one is string => typeof one === "string");

/** @param schema of an object; of anything else there are no fields */
export function fieldsOf(schema: unknown): readonly SchemaField[] {
  const { properties, required } = nodeOf(schema);
  const needed = new Set(textsOf(required));
  return Object.entries(nodeOf(properties))
    .slice(0, MOST_FIELDS)
    .map(([name, value]) => fieldOf(name, nodeOf(value), needed.has(name)));
}

function fieldOf(name: string, node: Node, isNeeded: boolean): SchemaField {
  const branches = [...listOf(node.anyOf), ...listOf(node.oneOf)].map(nodeOf);
  const isNull = ({ type }: Node) => type === "null";
  const inner = branches.find((branch) => !isNull(branch)) ?? node;
  const standard = node.default ?? inner.default;
  const words = node.description ?? inner.description;
  const title = node.title ?? inner.title;
  const { type, options } = typeOf(name, inner, branches);
  return {
    name,
    label: typeof title === "string" && title !== "" ? title : labelOf(name),
    hint: typeof words === "string" && words !== "" ? words : null,
    type,
    options,
    isSecret: (node["x-secret"] ?? inner["x-secret"]) === true,
    isRequired: isNeeded && standard === undefined,
    isNullable: branches.some(isNull) || listOf(node.type).includes("null"),
    standard: valueText(standard),
  };
}

function typeOf(name: string, node: Node, branches: readonly Node[]): Pick<SchemaField, "type" | "options"> {
  const constants = textsOf(branches.map((branch) => branch.const));
  const options = constants.length > 0 ? constants : textsOf(node.enum);
  if (options.length > 0) return { type: "choice", options };
  const types = typeof node.type === "string" ? [node.type] : textsOf(node.type);
  if (types.includes("boolean")) return { type: "flag", options: [] };
  if (types.includes("integer") || types.includes("number")) return { type: "number", options: [] };
  if (types.includes("array")) return { type: "list", options: [] };
  if (types.includes("object")) return { type: "pairs", options: [] };
  const isLong = typeof node.maxLength === "number" && node.maxLength >= LONG_TEXT;
  return { type: isLong && MANY_LINES.test(name) ? "area" : "text", options: [] };
}

/** `thread_id` is read as "Thread id". */
function labelOf(name: string): string {
  const words = name.replaceAll("_", " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(String).join("\n");
  if (typeof value !== "object") return String(value);
  return Object.entries(value)
    .map(([name, one]) => `${name}: ${String(one)}`)
    .join("\n");
}

/** @returns what of the settings goes into the form */
export function writtenOf(fields: readonly SchemaField[], settings: Settings): Written {
  return Object.fromEntries(
    fields.map((field) => {
      const value = Object.hasOwn(settings, field.name) ? settings[field.name] : undefined;
      return [field.name, field.isSecret || value === undefined ? "" : valueText(value)];
    }),
  );
}

/**
 * @param kept names of secrets that the service has: left empty they stay
 * @returns the settings as the API takes them; what is empty and not needed is null or left out
 */
export function settingsOf(fields: readonly SchemaField[], written: Written, kept: readonly string[]): Settings {
  const settings: Record<string, unknown> = {};
  for (const field of fields) {
    const text = Object.hasOwn(written, field.name) ? (written[field.name] ?? "") : "";
    if (field.type === "flag") settings[field.name] = text === "" ? field.standard === "true" : text === "true";
    else if (text.trim() !== "") settings[field.name] = readValue(field, text);
    else if (field.isSecret && kept.includes(field.name)) continue;
    else if (field.isRequired) settings[field.name] = field.type === "list" ? [] : "";
    else if (field.isNullable) settings[field.name] = null;
  }
  return settings;
}

function readValue({ type }: SchemaField, text: string): unknown {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  // What is no number is left to the API's own words.
  if (type === "number") return /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text.trim();
  if (type === "list")
    return lines.flatMap((line) => line.split(",").map((part) => part.trim())).filter((part) => part !== "");
  if (type === "area") return text;
  if (type !== "pairs") return text.trim();
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.includes(":") ? line.indexOf(":") : line.length;
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
