/** The OpenAPI 3.1 document, made from the routes: what the server validates with and answers is what it says. */
import { dump } from "js-yaml";
import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from "zod-openapi";
import { addExamples } from "./document/body-examples.ts";
import { forClients } from "./document/clients.ts";
import type { JsonSchema } from "./document/examples.ts";
import { type HeadersByName, headersOf } from "./document/headers.ts";
import { addLinks } from "./document/links.ts";
import { refusalsOf } from "./document/refusals.ts";
import { wordsOf } from "./errors.ts";
import { WRONG_KEY_RETRY_S } from "./limits.ts";
import { type Route, type Shape, takesIdempotencyKey } from "./route.ts";
import { allowedMethods, fullPath, PREFLIGHT_S } from "./router.ts";
import * as schemas from "./schemas/index.ts";

const STATUS_WORDS: Readonly<Record<number, string>> = {
  200: "Done",
  202: "Still running",
  304: "Not changed since the version that the caller has",
  400: "Invalid or missing field, id, parameter or X-Project-Id",
  401: "Key missing, wrong, expired, switched off or no longer valid",
  402: "Region targeting needs Pro or above",
  403: "Role, plan or key does not allow it",
  404: "Not found",
  409: "Not possible in the present state",
  413: "A configuration field or the body is longer than its limit",
  422: "Configuration, protocol or address unusable",
  429: "Usage limit reached, or too many wrong keys from one address",
  500: "Internal failure",
  502: "Checker unreachable",
  503: "Not available right now",
};
const JSON_TYPE = "application/json";
const PROJECT_HEADER = z
  .string()
  .regex(/^(prj_)?[0-9]+$/)
  .describe("Project id, `prj_<n>` or `<n>`")
  .meta({ examples: ["prj_1"] });
const IDEMPOTENCY_KEY = z
  .string()
  .regex(/^[!-~]{1,255}$/)
  .optional()
  .describe(
    "Text of your choice: the same request with the same key gets the same answer for 24 hours, and is done once",
  )
  .meta({ examples: ["4f1c9a52-create-berlin-1"] });
/** What a heartbeat's address is called with; it takes any method, and OpenAPI has no word for that. */
const ANY_METHOD = ["get", "post", "put", "patch", "delete"];
const DESCRIPTION = `Watches VPN tunnels and uptime targets.

- Send the key as \`X-API-Key\`, or as \`Authorization: Bearer <key>\`. Most endpoints also want the project, as \`X-Project-Id\`.
- Ids are accepted with their prefix (\`srv_12\`) or as the bare number (\`12\`).
- Each GET answers HEAD too. A path that is not there answers 404, a method that is not there 405 with \`Allow\`; neither asks for a key.
- Lists have an \`ETag\`: sent back as \`If-None-Match\` it gives 304 while nothing changed. They may be compressed with gzip.
- Within v1 there are only additions: clients ignore fields they do not know, and words that a list does not have yet.`;

export interface DocumentOptions {
  readonly baseUrl: string;
  /** Where this document is published, as a page and as `openapi.yaml`. */
  readonly docsUrl: string;
  readonly version: string;
}

/** Closed: it has each field and word of this version, and no other. */
export function createOpenApi(routes: readonly Route[], { baseUrl, docsUrl, version }: DocumentOptions): JsonSchema {
  const shown = routes.filter((route) => route.hidden !== true);
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of shown) {
    const path = fullPath(route);
    for (const method of route.method === "*" ? ANY_METHOD : [route.method.toLowerCase()]) {
      paths[path] = { ...paths[path], [method]: operation(route, method) };
    }
  }
  for (const route of shown) {
    if (route.scope !== "public" || route.cors !== true) continue;
    const path = fullPath(route);
    const methods = shown.filter((other) => fullPath(other) === path).map(({ method }) => method);
    paths[path] = { ...paths[path], options: preflight(route, methods) };
  }
  const document = createDocument({
    openapi: "3.1.0",
    info: { title: "Sonde", version, description: DESCRIPTION },
    servers: [{ url: baseUrl }],
    externalDocs: { description: "This document as a page", url: docsUrl },
    security: [{ apiKey: [] }, { bearer: [] }],
    tags: [...new Set(shown.map((route) => route.group))].map((name) => ({ name })),
    paths: paths as ZodOpenApiPathsObject,
    components: {
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
        bearer: { type: "http", scheme: "bearer" },
      },
      responses: { NotFound: anywhere("notFound"), MethodNotAllowed: anywhere("methodNotAllowed") },
    },
  });
  const plain = JSON.parse(JSON.stringify(document)) as JsonSchema;
  addExamples(plain);
  addLinks(plain);
  return plain;
}

/** As it is published. */
export function documentText(
  routes: readonly Route[],
  options: () => DocumentOptions,
): { json(): string; yaml(): string } {
  let made: { readonly json: string; readonly yaml: string } | null = null;
  const make = () => {
    const document = forClients(createOpenApi(routes, options()));
    made = { json: JSON.stringify(document), yaml: dump(document, { lineWidth: -1, noRefs: true }) };
    return made;
  };
  return { json: () => (made ?? make()).json, yaml: () => (made ?? make()).yaml };
}

function operation(route: Route, method: string): ZodOpenApiOperationObject {
  const described = route.description === undefined ? {} : { description: route.description };
  const headerFields = {
    ...(route.scope === "project" && { "X-Project-Id": PROJECT_HEADER }),
    ...(takesIdempotencyKey(route) && { "Idempotency-Key": IDEMPOTENCY_KEY }),
  };
  const header = Object.keys(headerFields).length === 0 ? {} : { header: z.object(headerFields) };
  const path = route.params === undefined ? {} : { path: z.object(route.params) };
  const query = route.query === undefined ? {} : { query: queryObject(route.query) };
  const body = route.body;
  return {
    operationId: operationId(route, method),
    tags: [route.group],
    summary: route.summary,
    ...described,
    ...(route.scope === "public" && { security: [] }),
    requestParams: { ...header, ...path, ...query },
    ...(body !== undefined && {
      requestBody: { required: body.required, content: { [JSON_TYPE]: { schema: body.schema } } },
    }),
    responses: responses(route),
  };
}

function queryObject(query: NonNullable<Route["query"]>) {
  return z.object(Object.fromEntries(Object.entries(query).map(([name, { schema }]) => [name, schema])));
}

function responses(route: Route): ZodOpenApiResponsesObject {
  const refusals = refusalsOf(route);
  const answers: Record<string, ZodOpenApiResponseObject> = {};
  for (const [code, shape] of Object.entries(route.responses)) {
    const status = Number(code);
    const content = typeof shape === "string" ? textContent(shape) : { [JSON_TYPE]: { schema: schemaOf(shape) } };
    const description = status === 200 ? route.summary : (STATUS_WORDS[status] ?? "Answer");
    answers[code] = { description, headers: headers(headersOf(route, status)), ...(content !== null && { content }) };
  }
  for (const status of [...new Set([...refusals.keys(), ...(route.errors ?? [])])].sort()) {
    answers[String(status)] ??= {
      description: STATUS_WORDS[status] ?? "Error",
      headers: headers(headersOf(route, status)),
      content: { [JSON_TYPE]: errorContent(route, status, refusals.get(status) ?? [STATUS_WORDS[status] ?? "Error"]) },
    };
  }
  return answers as ZodOpenApiResponsesObject;
}

const byName: Readonly<Record<Shape["shape"], z.ZodType>> = schemas;

/** What a shape of a route's answers stands for. */
export function schemaOf({ shape }: Shape): z.ZodType {
  return byName[shape];
}

/** An empty media type: no body at all. */
function textContent(mediaType: string) {
  const [type = ""] = mediaType.split(";");
  return type === "" ? null : { [type]: { schema: type.startsWith("text/") ? { type: "string" as const } : {} } };
}

function errorContent(route: Route, status: number, messages: readonly string[]) {
  const examples: Record<string, { value: unknown }> = {};
  for (const message of messages) {
    const retry = status === 429 ? { retry_after: WRONG_KEY_RETRY_S } : {};
    examples[nameOf(message)] = { value: { error: true, code: status, message, ...retry } };
  }
  if (status !== 429 || route.scope === "public") return { schema: schemas.errorOf(status), examples };
  for (const value of USAGE_LIMIT_EXAMPLES) examples[nameOf(value.error)] = { value };
  return { schema: z.union([schemas.errorOf(status), schemas.usageLimitError]), examples };
}

const USAGE_LIMIT_EXAMPLES = [
  { error: "Rate limit exceeded", message: "Per-minute limit of 60 requests exceeded", retry_after: 60 },
  { error: "Daily limit exceeded", message: "Daily limit of 25000 requests exceeded", retry_after: 3_600 },
  { error: "Monthly limit exceeded", message: "Monthly limit of 250000 requests exceeded" },
];

/** `invalidServerId`: an example's name, of at most six words. */
function nameOf(message: string): string {
  const words = message.split(/[^a-z0-9]+/i).filter((word) => word !== "");
  return words
    .slice(0, 6)
    .map((word, index) => (index === 0 ? word.toLowerCase() : capitalised(word)))
    .join("");
}

function headers(byName: HeadersByName): NonNullable<ZodOpenApiResponseObject["headers"]> {
  return Object.fromEntries(
    Object.entries(byName).map(([name, { description, schema, required }]) => {
      const { $schema: _, ...plain } = z.toJSONSchema(schema);
      return [name, { description, required, schema: plain as Record<string, unknown> }];
    }),
  );
}

const TEXT = z.string();
const ALLOW = { description: "The methods that are there", schema: TEXT, required: true };

function anywhere(name: "notFound" | "methodNotAllowed"): ZodOpenApiResponseObject {
  const [status, message] = wordsOf(name);
  return {
    description: name === "notFound" ? "No such path" : "The path has no such method",
    ...(status === 405 && { headers: headers({ Allow: ALLOW }) }),
    content: {
      [JSON_TYPE]: {
        schema: schemas.errorOf(status),
        examples: { [name]: { value: { error: true, code: status, message } } },
      },
    },
  };
}

function preflight(route: Route, methods: readonly string[]): ZodOpenApiOperationObject {
  const allow = z.literal(allowedMethods(methods, true));
  return {
    operationId: `preflight${capitalised(route.operationId)}`,
    tags: [route.group],
    summary: "What pages of other origins may send",
    security: [],
    responses: {
      204: {
        description: "Methods and headers that are allowed",
        headers: headers({
          Allow: { ...ALLOW, schema: allow },
          "Access-Control-Allow-Origin": { description: "Any page may ask", schema: z.literal("*"), required: true },
          "Access-Control-Allow-Methods": { description: "As Allow", schema: allow, required: true },
          "Access-Control-Allow-Headers": { description: "Headers a page may set", schema: TEXT, required: true },
          "Access-Control-Max-Age": {
            description: "Seconds this may be kept",
            schema: z.literal(Number(PREFLIGHT_S)),
            required: true,
          },
        }),
      },
    },
  };
}

/** A route of any method stands under several, and an id names one of them: `sendHeartbeat`, `sendHeartbeatByPost`. */
function operationId({ method, operationId: id }: Route, shown: string): string {
  return method === "*" && shown !== ANY_METHOD[0] ? `${id}By${capitalised(shown)}` : id;
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
