/**
 * An example of any JSON schema of the document: what a schema brings itself (`examples`), else a value that its name suggests, else
 * one that its type allows. Tests hold every example against its own schema.
 */

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What fields of these names look like; taken where the schema takes them. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  name: "Berlin 1",
  server_name: "Berlin 1",
  project_name: "Production",
  organization_name: "Acme",
  email: "ada@test-site.org",
  interval: 180,
  timeout: 30,
  maxretries: 2,
  latency_ms: 41,
  connect_ms: 320,
  ping_ms: 41,
  region: "any",
  locations: ["any"],
  disabled_locations: [],
  tags: ["prod"],
  url: "https://www.test-site.org/",
  host: "www.test-site.org",
  domain: "test-site.org",
  port: 5432,
  keyword: "In stock",
  accepted_statuscodes: ["200-299"],
  days_remaining: 71,
  period: 86_400,
  grace: 3_600,
  version: "0.1.0",
  uptime: 86_400,
  message: "Monitoring paused",
  note: "Looking into it",
  error_message: "Handshake did not complete",
  location: "de",
  code: "any",
  config_count: 1,
  healthy_count: 1,
};
const TEXTS: readonly string[] = ["text", "1", "any", "GET", "a", "0".repeat(32)];

/** @param root the document, where `$ref` points into */
export function exampleOf(schema: JsonSchema, root: JsonSchema, name = ""): unknown {
  const {
    $ref: ref,
    examples,
    enum: values,
    anyOf,
    oneOf,
    allOf,
  } = schema as Readonly<Record<string, unknown[]>> & JsonSchema;
  if (typeof ref === "string") return exampleOf(resolve(ref, root), root, name);
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if ("const" in schema) return schema.const;
  if (Array.isArray(values)) return values[0];
  const union = anyOf ?? oneOf;
  if (Array.isArray(union)) return exampleOf(best(union as JsonSchema[]), root, name);
  if (Array.isArray(allOf)) return allExamples(allOf as JsonSchema[], root, name);
  return ofType(schema, root, name);
}

/** A union's value says most when it is not null. */
function best(options: readonly JsonSchema[]): JsonSchema {
  return options.find(({ type }) => type !== "null") ?? options[0] ?? {};
}

function allExamples(parts: readonly JsonSchema[], root: JsonSchema, name: string): unknown {
  const values = parts.map((part) => exampleOf(part, root, name));
  return values.every((value) => typeof value === "object" && value !== null)
    ? Object.assign({}, ...values)
    : values[0];
}

function ofType(schema: JsonSchema, root: JsonSchema, name: string): unknown {
  const type = Array.isArray(schema.type) ? schema.type.find((each) => each !== "null") : schema.type;
  const suggested = Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined;
  switch (type) {
    case "object":
      return objectOf(schema, root);
    case "array":
      if (Array.isArray(suggested)) return suggested;
      return schema.items === undefined ? [] : [exampleOf(schema.items as JsonSchema, root, singular(name))];
    case "integer":
    case "number":
      return numberOf(schema, typeof suggested === "number" ? suggested : undefined);
    case "boolean":
      return schema.default ?? true;
    case "string":
      return textOf(schema, typeof suggested === "string" ? suggested : undefined);
    default:
      return type === "null" ? null : {};
  }
}

function objectOf(schema: JsonSchema, root: JsonSchema): unknown {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
  const value: Record<string, unknown> = {};
  for (const [field, inner] of Object.entries(properties)) value[field] = exampleOf(inner, root, field);
  const others = schema.additionalProperties;
  if (Object.keys(value).length === 0 && typeof others === "object" && others !== null && "type" in withRef(others)) {
    const names = schema.propertyNames as JsonSchema | undefined;
    const key = names === undefined || !Array.isArray(names.enum) ? "any" : String(names.enum[0]);
    value[key] = exampleOf(others as JsonSchema, root);
  }
  return value;
}

/** A reference counts as typed. */
function withRef(schema: object): object {
  return "$ref" in schema || "anyOf" in schema ? { type: "" } : schema;
}

function numberOf(schema: JsonSchema, suggested: number | undefined): number {
  const min = Number(schema.minimum ?? Number.NEGATIVE_INFINITY);
  const max = Number(schema.maximum ?? Number.POSITIVE_INFINITY);
  if (typeof schema.default === "number") return schema.default;
  const fits = [suggested, 1, min, max].find((value) => value !== undefined && value >= min && value <= max);
  return fits ?? 1;
}

function textOf(schema: JsonSchema, suggested: string | undefined): string {
  if (typeof schema.default === "string") return schema.default;
  if (schema.format === "date-time") return "2026-11-21T06:10:00.000Z";
  if (schema.format === "date") return "2026-11-21";
  if (schema.format === "email") return "ada@test-site.org";
  if (schema.format === "uri") return "https://www.test-site.org/";
  const pattern = typeof schema.pattern === "string" ? new RegExp(schema.pattern, "u") : /^/;
  return [suggested, ...TEXTS].find((text) => text !== undefined && pattern.test(text)) ?? "text";
}

function singular(name: string): string {
  return name.endsWith("s") ? name.slice(0, -1) : name;
}

/** `#/components/schemas/Monitor` in the document. */
export function resolve(ref: string, root: JsonSchema): JsonSchema {
  let found: unknown = root;
  for (const part of ref.split("/").slice(1)) {
    found = (found as Record<string, unknown>)[part.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return found as JsonSchema;
}
