/** Which answer's ids lead where: for readers, and for tests that walk from one endpoint to the next. */
import { type JsonSchema, resolve } from "./examples.ts";

interface Operation {
  operationId: string;
  parameters?: readonly { in: string; name: string; schema: JsonSchema }[];
  responses: Record<string, { content?: Record<string, { schema?: JsonSchema }>; links?: Record<string, unknown> }>;
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** An id that an answer holds. */
interface Source {
  readonly schema: JsonSchema;
  /** Where in the answer (RFC 6901, in a runtime expression of OpenAPI). */
  readonly pointer: string;
}

/** Changes the document in place. */
export function addLinks(document: JsonSchema): void {
  const paths = document.paths as Paths;
  for (const [path, operations] of Object.entries(paths)) {
    for (const operation of Object.values(operations)) {
      const answer = operation.responses["200"];
      const schema = answer?.content?.["application/json"]?.schema;
      const source = schema === undefined || path.includes("{") ? undefined : idOf(schema, document);
      if (answer === undefined || source === undefined) continue;
      const links = linksFrom(source, path, paths);
      if (Object.keys(links).length > 0) answer.links = links;
    }
  }
}

/** The answer's own id, or that of the first row of its list. */
function idOf(schema: JsonSchema, document: JsonSchema): Source | undefined {
  const properties = propertiesOf(schema, document);
  if (properties.id !== undefined) return { schema: properties.id, pointer: "/id" };
  for (const [name, inner] of Object.entries(properties)) {
    const id = inner.items === undefined ? undefined : propertiesOf(inner.items as JsonSchema, document).id;
    if (id !== undefined) return { schema: id, pointer: `/${name}/0/id` };
  }
  return undefined;
}

function propertiesOf(schema: JsonSchema, document: JsonSchema): Readonly<Record<string, JsonSchema>> {
  const whole = typeof schema.$ref === "string" ? resolve(schema.$ref, document) : schema;
  return (whole.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
}

function linksFrom({ schema, pointer }: Source, from: string, paths: Paths): Record<string, unknown> {
  const links: Record<string, unknown> = {};
  for (const [path, operations] of Object.entries(paths)) {
    for (const { operationId, parameters } of Object.values(operations)) {
      const id = parameters?.find((parameter) => parameter.in === "path");
      if (id === undefined || !(path.startsWith(`${from}/{`) || takes(id.schema, schema))) continue;
      links[operationId] = { operationId, parameters: { [`path.${id.name}`]: `$response.body#${pointer}` } };
    }
  }
  return links;
}

/** `^(srv_)?[0-9]+$` takes what `^srv_[0-9]+$` gives. */
function takes(wanted: JsonSchema, given: JsonSchema): boolean {
  const prefix = /^\^([a-z]+_)\[/.exec(String(given.pattern ?? ""))?.[1];
  return prefix !== undefined && String(wanted.pattern ?? "").includes(`(${prefix})`);
}
