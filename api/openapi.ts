/** The OpenAPI 3.1 document, made from the routes: what the server validates with and answers is what it says. */
import { dump } from "js-yaml";
import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponsesObject } from "zod-openapi";
import { createDocument } from "zod-openapi";
import type { Route } from "./route.ts";
import { fullPath } from "./router.ts";
import * as schemas from "./schemas/index.ts";

const ERROR_WORDS: Readonly<Record<number, string>> = {
  400: "Invalid or missing field, id, parameter or X-Project-Id",
  401: "Key missing, wrong, expired, switched off or no longer valid",
  403: "Role, plan or key does not allow it",
  404: "Not found",
  409: "Not possible in the present state",
  413: "A configuration field is longer than its limit",
  422: "Configuration, protocol or address unusable",
  429: "Usage limit reached, or too many wrong keys from one address",
  500: "Internal failure",
  503: "Not available right now",
};
const PROJECT_HEADER = z
  .string()
  .regex(/^(prj_)?[0-9]+$/)
  .describe("Project id, `prj_<n>` or `<n>`");

export interface DocumentOptions {
  readonly baseUrl: string;
  readonly version: string;
}

export function createOpenApi(routes: readonly Route[], { baseUrl, version }: DocumentOptions) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of routes) {
    if (route.hidden === true) continue;
    const methods = route.method === "*" ? ["get", "post"] : [route.method.toLowerCase()];
    for (const method of methods) {
      paths[fullPath(route)] = { ...paths[fullPath(route)], [method]: operation(route, method) };
    }
  }
  return createDocument({
    openapi: "3.1.0",
    info: { title: "Sonde", version, description: "Watches VPN tunnels and uptime targets." },
    servers: [{ url: baseUrl }],
    security: [{ apiKey: [] }, { bearer: [] }],
    tags: [...new Set(routes.filter((route) => route.hidden !== true).map((route) => route.group))].map((name) => ({
      name,
    })),
    paths: paths as ZodOpenApiPathsObject,
    components: {
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
        bearer: { type: "http", scheme: "bearer" },
      },
    },
  });
}

export function documentText(
  routes: readonly Route[],
  options: () => DocumentOptions,
): { json(): string; yaml(): string } {
  let made: { readonly json: string; readonly yaml: string } | null = null;
  const make = () => {
    const document = createOpenApi(routes, options());
    const json = JSON.stringify(document);
    made = { json, yaml: dump(JSON.parse(json), { lineWidth: -1, noRefs: true }) };
    return made;
  };
  return { json: () => (made ?? make()).json, yaml: () => (made ?? make()).yaml };
}

function operation(route: Route, method: string): ZodOpenApiOperationObject {
  const described = route.description === undefined ? {} : { description: route.description };
  const header = route.scope === "project" ? { header: z.object({ "X-Project-Id": PROJECT_HEADER }) } : {};
  const path = route.params === undefined ? {} : { path: z.object(route.params) };
  const query = route.query === undefined ? {} : { query: queryObject(route.query) };
  const body = route.body;
  return {
    operationId: operationId(method, route.path),
    tags: [route.group],
    summary: route.summary,
    ...described,
    ...(route.scope === "public" && { security: [] }),
    requestParams: { ...header, ...path, ...query },
    ...(body !== undefined && {
      requestBody: { required: body.required, content: { "application/json": { schema: body.schema } } },
    }),
    responses: responses(route),
  };
}

function queryObject(query: NonNullable<Route["query"]>) {
  return z.object(Object.fromEntries(Object.entries(query).map(([name, { schema }]) => [name, schema])));
}

function responses(route: Route): ZodOpenApiResponsesObject {
  const answers: Record<string, object> = {};
  for (const [status, shape] of Object.entries(route.responses)) {
    const content = typeof shape === "string" ? { [shape]: {} } : { "application/json": { schema: shape } };
    answers[status] = {
      description: status === "200" ? route.summary : (ERROR_WORDS[Number(status)] ?? "Answer"),
      content,
    };
  }
  const everywhere = route.scope === "public" ? [] : [401, 429, 500, 503];
  for (const status of [...(route.errors ?? []), ...everywhere]) {
    const schema = status === 429 ? z.union([schemas.error, schemas.usageLimitError]) : schemas.error;
    answers[String(status)] ??= {
      description: ERROR_WORDS[status] ?? "Error",
      content: { "application/json": { schema } },
    };
  }
  return answers as ZodOpenApiResponsesObject;
}

/** `getServersIdHistory`. */
function operationId(method: string, path: string): string {
  const words = path.split(/[^a-z]+/i).filter((word) => word !== "");
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}
