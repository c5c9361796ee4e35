/** Gives every body of the document an example: one per status, one per kind of request. */
import { exampleOf, type JsonSchema, resolve } from "./examples.ts";

interface Content {
  schema?: JsonSchema;
  examples?: Record<string, { value: unknown }>;
}
interface Operation {
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, { content?: Record<string, Content> }>;
}

/** Changes the document in place; examples that are there stay. */
export function addExamples(document: JsonSchema): void {
  const paths = document.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  for (const operations of Object.values(paths)) {
    for (const { requestBody, responses } of Object.values(operations)) {
      for (const content of Object.values(requestBody?.content ?? {})) addRequestExamples(content, document);
      for (const { content } of Object.values(responses)) {
        const json = content?.["application/json"];
        if (json?.schema !== undefined) {
          json.examples ??= { example: { value: exampleOf(json.schema, document) } };
        }
      }
    }
  }
}

/** Of a body of several kinds one for each. */
function addRequestExamples(content: Content, document: JsonSchema): void {
  const { schema } = content;
  if (schema === undefined || content.examples !== undefined) return;
  const whole = typeof schema.$ref === "string" ? resolve(schema.$ref, document) : schema;
  const kinds = Array.isArray(whole.examples) || !Array.isArray(whole.anyOf) ? [] : (whole.anyOf as JsonSchema[]);
  if (kinds.length === 0) {
    content.examples = { example: { value: exampleOf(schema, document) } };
    return;
  }
  content.examples = Object.fromEntries(
    kinds.map((kind, index) => [nameOf(kind, document) ?? `example${index + 1}`, { value: exampleOf(kind, document) }]),
  );
}

/** Of the kind `http`: what its field `type` says. */
function nameOf(schema: JsonSchema, document: JsonSchema): string | undefined {
  const whole = typeof schema.$ref === "string" ? resolve(schema.$ref, document) : schema;
  const { type } = (whole.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
  return typeof type?.const === "string" ? type.const : undefined;
}
