import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { settingsOf, UPTIME_KINDS } from "../engine/contract/registry.ts";
import { TUNNEL_PROTOCOLS } from "../model/kind.ts";
import { PERIODS } from "../model/result.ts";
import { MONITOR_STATUSES, REGIONAL_STATUSES, ROW_STATUSES } from "../model/status.ts";
import { ERROR_CATEGORIES, VERDICTS } from "../model/verdict.ts";
import { validate } from "../testkit/api/document.suite.ts";
import { routes } from "./endpoints/index.ts";
import { createBody, updateBody } from "./monitors/bodies.ts";
import { createOpenApi, schemaOf } from "./openapi.ts";
import { fullPath } from "./router.ts";

interface Content {
  readonly schema: object;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly description?: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly headers?: Readonly<Record<string, object>>;
        readonly content?: Readonly<Record<string, Content>>;
        readonly links?: Readonly<Record<string, { readonly operationId: string }>>;
      }
    >
  >;
}
type Schema = Readonly<Record<string, unknown>>;

const document = createOpenApi(routes, {
  baseUrl: "http://127.0.0.1:8080",
  docsUrl: "http://127.0.0.1:8080/docs",
  version: "0.1.0",
});
const paths = document.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
const components = (document.components as { schemas: Readonly<Record<string, Schema>> }).schemas;
const shown = routes.filter((route) => route.hidden !== true);
const operations = Object.entries(paths).flatMap(([path, byMethod]) =>
  Object.entries(byMethod).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
);
/** Every body of the document with a place to find it by. */
const bodies = operations.flatMap(({ name, operation: { requestBody, responses } }) => [
  ...Object.entries(requestBody?.content ?? {}).map(([type, content]) => ({ name: `${name} body ${type}`, content })),
  ...Object.entries(responses).flatMap(([status, { content }]) =>
    Object.entries(content ?? {}).map(([type, one]) => ({ name: `${name} ${status} ${type}`, content: one })),
  ),
]);

/** Every enum or const found anywhere in a JSON schema. */
function enumsIn(node: unknown, found: string[] = []): string[] {
  if (Array.isArray(node)) for (const each of node) enumsIn(each, found);
  else if (typeof node === "object" && node !== null) {
    for (const [key, value] of Object.entries(node)) {
      if (key === "enum") found.push(JSON.stringify(value));
      else if (key === "const") found.push(JSON.stringify([value]));
      else if (key !== "examples") enumsIn(value, found);
    }
  }
  return found;
}

/** Every list of values that a zod schema allows anywhere, read from the schema itself and not from its JSON form. */
function valuesIn(schema: unknown, found: string[] = [], seen = new Set<unknown>()): string[] {
  if (!(schema instanceof z.ZodType) || seen.has(schema)) return found;
  seen.add(schema);
  const into = (inner: unknown): unknown => valuesIn(inner, found, seen);
  if (schema instanceof z.ZodEnum) found.push(JSON.stringify(schema.options));
  else if (schema instanceof z.ZodLiteral) found.push(JSON.stringify([...schema.values]));
  else if (schema instanceof z.ZodObject) for (const each of Object.values(schema.shape)) into(each);
  else if (schema instanceof z.ZodArray) into(schema.element);
  else if (schema instanceof z.ZodTuple) for (const each of schema.def.items) into(each);
  else if (schema instanceof z.ZodUnion) for (const each of schema.options) into(each);
  else if (schema instanceof z.ZodIntersection) for (const each of [schema.def.left, schema.def.right]) into(each);
  else if (schema instanceof z.ZodRecord) for (const each of [schema.keyType, schema.valueType]) into(each);
  else if (schema instanceof z.ZodPipe) into(schema.in);
  else if (schema instanceof z.ZodLazy || schema instanceof z.ZodReadonly) into(schema.unwrap());
  else if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    into(schema.unwrap());
  }
  return found;
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)].sort();

/** Objects of a schema, and of what it refers to, that have named fields. */
function objectsIn(node: unknown, found: Schema[] = [], seen = new Set<unknown>()): Schema[] {
  if (typeof node !== "object" || node === null || seen.has(node)) return found;
  seen.add(node);
  const { $ref: ref, type, properties } = node as Schema;
  if (typeof ref === "string") return objectsIn(components[ref.split("/").at(-1) ?? ""], found, seen);
  if (type === "object" && properties !== undefined) found.push(node as Schema);
  for (const [key, value] of Object.entries(node)) if (key !== "examples") objectsIn(value, found, seen);
  return found;
}

describe("the OpenAPI document", () => {
  it("is OpenAPI 3.1", async () => {
    expect(document.openapi).toBe("3.1.0");
    expect(await validate(document)).toEqual([]);
  });

  it("has every route but the hidden ones, with unlike operation ids", () => {
    for (const route of routes) {
      const operation = paths[fullPath(route)]?.[route.method === "*" ? "get" : route.method.toLowerCase()];
      expect([route.path, operation !== undefined]).toEqual([route.path, route.hidden !== true]);
    }
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(operations)("$name: has every status, header and parameter that its scope brings", ({ name, operation }) => {
    const [method = "", path = ""] = name.split(" ");
    if (method === "options") return;
    const route = shown.find(
      (one) => fullPath(one) === path && (one.method === "*" || one.method.toLowerCase() === method),
    );
    const { responses, parameters = [] } = operation;
    const statuses = Object.keys(responses);
    expect(statuses).toContain("500");
    if (route?.body !== undefined) expect(statuses).toEqual(expect.arrayContaining(["400", "413"]));
    // Of a workspace that is not the caller's it is not told whether it exists.
    const missing = path.includes("/organizations/") ? "403" : "404";
    if (path.includes("{id}")) expect(statuses).toEqual(expect.arrayContaining(["400", missing]));
    for (const parameter of path.match(/(?<=\{)\w+(?=\})/g) ?? []) {
      expect(parameters).toContainEqual(expect.objectContaining({ in: "path", name: parameter }));
    }
    if (route === undefined || route.scope === "public") return;
    expect(statuses).toEqual(expect.arrayContaining(["401", "403", "429", "500", "503"]));
    for (const [status, { headers }] of Object.entries(responses)) {
      expect(Object.keys(headers ?? {})).toContain("Cache-Control");
      const limits = Object.keys(headers ?? {}).filter((header) => header.startsWith("X-RateLimit-"));
      expect([status, limits.length]).toEqual([status, status === "401" ? 0 : 3]);
    }
    if (route.scope !== "project") return;
    expect(statuses).toEqual(expect.arrayContaining(["400", "404"]));
    expect(parameters).toContainEqual(expect.objectContaining({ in: "header", name: "X-Project-Id" }));
  });

  it("closes every answer, and says which fields are always there", () => {
    for (const { name, operation } of operations) {
      for (const { content } of Object.values(operation.responses)) {
        for (const schema of objectsIn(content)) {
          const closed = schema.additionalProperties === false || schema.unevaluatedProperties === false;
          expect([name, Object.keys(schema.properties as object), closed, Array.isArray(schema.required)]).toEqual([
            name,
            Object.keys(schema.properties as object),
            true,
            true,
          ]);
        }
      }
    }
  });

  it("has examples of every JSON body, and each is valid", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    let count = 0;
    for (const { name, content } of bodies.filter((one) => one.name.endsWith("application/json"))) {
      const validator = ajv.compile({ ...content.schema, components: document.components });
      const examples = Object.entries(content.examples ?? {});
      if (name.includes("openapi.json")) continue;
      expect([name, examples.length]).not.toEqual([name, 0]);
      for (const [title, { value }] of examples) {
        const isValid = validator(value);
        expect([name, title, isValid, isValid ? null : validator.errors]).toEqual([name, title, true, null]);
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(300);
  });

  it("keeps every enum of the schemas, no value more or less", () => {
    const inSchemas = shown
      .flatMap((route): unknown[] => [
        ...Object.values(route.responses).map((shape) => (typeof shape === "string" ? shape : schemaOf(shape))),
        ...Object.values(route.query ?? {}).map(({ schema }) => schema),
        ...Object.values(route.params ?? {}),
        ...(route.body === undefined ? [] : [route.body.schema]),
      ])
      .concat(createBody, updateBody, ...UPTIME_KINDS.map((kind) => settingsOf(kind)))
      .flatMap((schema) => valuesIn(schema));
    const ofErrors = [
      '["Rate limit exceeded","Daily limit exceeded","Monthly limit exceeded"]',
      "[true]",
      ...unique(bodies.map(({ name }) => name.split(" ")[2] ?? ""))
        .filter((status) => Number(status) >= 400)
        .concat("405")
        .map((status) => `[${status}]`),
    ];
    const { paths: _, ...rest } = document;
    const inDocument = [
      ...enumsIn(rest),
      ...operations.flatMap(({ operation: { responses, ...request } }) => [
        ...enumsIn(request),
        ...Object.values(responses).flatMap(({ content }) => enumsIn(content)),
      ]),
    ];
    expect(unique(inDocument)).toEqual(unique([...inSchemas, ...ofErrors]).filter((one) => inDocument.includes(one)));
    expect(unique([...inSchemas, ...ofErrors]).filter((one) => !inDocument.includes(one))).toEqual([]);
    expect(unique(inSchemas).length).toBeGreaterThan(15);
  });

  it("has the lists of the model, word for word", () => {
    const property = (component: string, ...path: string[]): unknown => {
      let found: unknown = components[component];
      for (const name of path) {
        const { $ref: ref } = found as { $ref?: string };
        if (ref !== undefined) found = components[ref.split("/").at(-1) ?? ""];
        found = (found as Record<string, unknown>)[name];
      }
      return found;
    };
    const ofMonitor = (field: string) => property("Monitor", "properties", field, "enum");
    expect(ofMonitor("status")).toEqual([...MONITOR_STATUSES]);
    expect(ofMonitor("aggregate_status")).toEqual([...MONITOR_STATUSES]);
    expect(ofMonitor("type")).toEqual(["vpn", ...UPTIME_KINDS]);
    expect(ofMonitor("protocol")).toEqual([...TUNNEL_PROTOCOLS, ...UPTIME_KINDS]);
    expect(property("RegionalStatus", "properties", "status", "enum")).toEqual([...REGIONAL_STATUSES]);
    expect(property("RegionalStatus", "properties", "error_category", "enum")).toEqual([...ERROR_CATEGORIES]);
    expect(property("CheckResult", "properties", "status", "enum")).toEqual([...ROW_STATUSES]);
    expect(property("Explain", "properties", "verdict", "enum")).toEqual([...VERDICTS]);
    const period = paths["/api/v1/results"]?.get?.parameters?.find(({ name }) => name === "period");
    expect(period).toMatchObject({ schema: { enum: [...PERIODS], default: "24h" } });
  });

  it("links only to operations that are there", () => {
    const ids = new Set(operations.map(({ operation }) => operation.operationId));
    const linked = operations.flatMap(({ operation }) =>
      Object.values(operation.responses).flatMap(({ links }) => Object.values(links ?? {})),
    );
    for (const { operationId } of linked) expect(ids).toContain(operationId);
    expect(linked.length).toBeGreaterThan(5);
  });

  it("names the fields of each kind that its own schema reads", () => {
    const of = (name: string) => components[name] as { properties?: object; required?: string[] } | undefined;
    for (const kind of UPTIME_KINDS)
      expect(of(`Create${kind.charAt(0).toUpperCase()}${kind.slice(1)}`)?.required).toContain("name");
    expect(of("CreateHttp")?.required).toEqual(["type", "name", "url"]);
    expect(Object.keys(of("CreateKeyword")?.properties ?? {})).toEqual(
      expect.arrayContaining([
        "keyword",
        "invert_keyword",
        "accepted_statuscodes",
        "ssl_expiration",
        "interval",
        "tags",
      ]),
    );
    expect(of("CreatePush")?.required).toEqual(["type", "name", "period"]);
    expect(Object.keys(of("CreatePush")?.properties ?? {})).not.toContain("interval");
  });
});
