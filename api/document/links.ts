/** Which answer's ids lead where: for readers, and for tests that walk from one endpoint to the next. */
import { type JsonSchema, resolve } from "./examples.ts";

interface Operation {
  operationId: string;
  parameters?: readonly { in: string; name: string; schema: JsonSchema }[];
  responses: Record<string, { content?: Record<string, { schema?: JsonSchema }>; links?: Record<string, unknown> }>;
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** Changes the document in place. */
export function addLinks(document: JsonSchema): void {
  const paths = document.paths as Paths;
  for (const [path, operations] of Object.entries(paths)) {
    for (const operation of Object.values(operations)) {
      const answer = operation.responses["200"];
      const schema = answer?.content?.["application/json"]?.schema;
      // Of what was just made: a list may be empty, and then there is no id to follow.
      const id = schema === undefined || path.includes("{") ? undefined : propertiesOf(schema, document).id;
      if (answer === undefined || id === undefined) continue;
      const links = linksFrom(id, path, paths);
      if (Object.keys(links).length > 0) answer.links = links;
    }
  }
}

function propertiesOf(schema: JsonSchema, document: JsonSchema): Readonly<Record<string, JsonSchema>> {
  const whole = typeof schema.$ref === "string" ? resolve(schema.$ref, document) : schema;
  return (whole.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
}

function linksFrom(made: JsonSchema, from: string, paths: Paths): Record<string, unknown> {
  const links: Record<string, unknown> = {};
  for (const [path, operations] of Object.entries(paths)) {
    for (const { operationId, parameters } of Object.values(operations)) {
      const id = parameters?.find((parameter) => parameter.in === "path");
      if (id === undefined || !(path.startsWith(`${from}/{`) || takes(id.schema, made))) continue;
      links[operationId] = { operationId, parameters: { [`path.${id.name}`]: "$response.body#/id" } };
    }
  }
  return links;
}

/** `^(srv_)?[0-9]+$` takes what `^srv_[0-9]+$` gives. */
function takes(wanted: JsonSchema, offered: JsonSchema): boolean {
  const prefix = /^\^([a-z]+_)\[/.exec(String(offered.pattern ?? ""))?.[1];
  return prefix !== undefined && String(wanted.pattern ?? "").includes(`(${prefix})`);
}
