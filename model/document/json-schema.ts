/** The description of documents as JSON Schema (2020-12), which editors complete and check by. Pure. */
import { KEY, LONGEST_KEY } from "./document.ts";
import { type DocumentWords, documentShape, type ObjectShape, type Shape } from "./shape.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** As parseDuration() reads them. */
const DURATION = "^\\s*(?:[0-9]{1,9}[smhdw]){1,5}\\s*$";
/** What stands for something that only the machine of `sonde apply` has; `$${` is none. */
const PLACEHOLDER = "\\$\\{(?:env|file):";

export function documentJsonSchema(words: DocumentWords): JsonSchema {
  const root = objectSchema(documentShape(words));
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A document of sonde apply",
    ...root,
    properties: {
      ...(root.properties as JsonSchema),
      sonde: { const: 1, description: "Version of the form" },
      name: { ...KEY_SCHEMA, type: "string", description: "Whose things these are" },
    },
  };
}

const KEY_SCHEMA = { pattern: KEY.source, maxLength: LONGEST_KEY } as const;

function schemaOf(shape: Shape): JsonSchema {
  const described = shape.about === undefined ? {} : { description: shape.about };
  const schema = { ...described, ...valueSchema(shape) };
  // A section that is empty in YAML is nothing.
  const isNullable = shape.nullable === true || shape.type === "things";
  return isNullable && shape.type !== "any" ? { ...described, anyOf: [valueSchema(shape), { type: "null" }] } : schema;
}

function valueSchema(shape: Shape): JsonSchema {
  switch (shape.type) {
    case "any":
      return {};
    case "text":
      if (shape.words === undefined) return { type: "string" };
      return { anyOf: [{ enum: shape.words }, { type: "string", pattern: PLACEHOLDER }] };
    case "seconds":
      return { anyOf: [{ type: "number" }, { type: "string", pattern: `${DURATION}|${PLACEHOLDER}` }] };
    case "list":
      return { type: "array", items: schemaOf(shape.of) };
    case "things":
      return { type: "object", propertyNames: KEY_SCHEMA, additionalProperties: schemaOf(shape.of) };
    case "object":
      return objectSchema(shape);
    default:
      return { type: shape.type };
  }
}

function objectSchema({ fields, required = [], isOpen }: ObjectShape): JsonSchema {
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOf(field)])),
    required,
    additionalProperties: isOpen === true,
  };
}
