import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { validate } from "../../testkit/api/document.suite.ts";
import { routes } from "../endpoints/index.ts";
import { createOpenApi } from "../openapi.ts";
import { forClients } from "./clients.ts";
import type { JsonSchema } from "./examples.ts";

interface Body {
  readonly schema: JsonSchema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, Body>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Body>> }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

const closed = createOpenApi(routes, {
  baseUrl: "http://127.0.0.1:8080",
  docsUrl: "http://127.0.0.1:8080/docs",
  version: "0.1.0",
});
const published = forClients(closed);
const { paths, components } = published as unknown as Document;
const operations = Object.values(paths).flatMap((byMethod) => Object.values(byMethod));
const requests = operations.flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}));
const answers = operations.flatMap(({ responses }) =>
  Object.values(responses).flatMap(({ content }) => Object.entries(content ?? {})),
);
const jsonAnswers = answers.filter(([type]) => type === "application/json").map(([, body]) => body);

/** Every schema in it, and in what it refers to; the names of those are collected. */
function schemasIn(node: unknown, names = new Set<string>(), found: JsonSchema[] = []): JsonSchema[] {
  if (typeof node !== "object" || node === null) return found;
  if (Array.isArray(node)) {
    for (const each of node) schemasIn(each, names, found);
    return found;
  }
  const schema = node as JsonSchema;
  found.push(schema);
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.split("/").at(-1) ?? "";
    if (!names.has(name)) {
      names.add(name);
      schemasIn(components.schemas[name], names, found);
    }
  }
  for (const value of Object.values((schema.properties ?? {}) as JsonSchema)) schemasIn(value, names, found);
  for (const key of ["items", "additionalProperties", "anyOf", "oneOf", "allOf"]) schemasIn(schema[key], names, found);
  return found;
}

const namesInRequests = new Set<string>();
const namesInAnswers = new Set<string>();
const inRequests = requests.flatMap(({ schema }) => schemasIn(schema, namesInRequests));
const inAnswers = jsonAnswers.flatMap(({ schema }) => schemasIn(schema, namesInAnswers));

/** Programs call these: none goes, and none changes. */
const RELEASED =
  "whoami listOrganizations listProjects getUsage listMonitors createMonitor getMonitor updateMonitor deleteMonitor listMonitorHistory searchMonitors listResults listFailures listMonitorResults listIncidents getIncident listIncidentEvents acknowledgeIncident retestIncident listSubscriptions createSubscription getSubscription updateSubscription deleteSubscription syncSubscription testMonitor testMonitors checkConfig checkConfigWithoutKey listKeys createKey revokeKey getHealth getDeepHealth listRegions getMetrics sendHeartbeat getDocument".split(
    " ",
  );

describe("the published document", () => {
  it("is OpenAPI 3.1, and the closed one stays as it was", async () => {
    expect(await validate({ ...published })).toEqual([]);
    expect(inAnswers.length).toBeGreaterThan(300);
    expect(
      createOpenApi(routes, {
        baseUrl: "http://127.0.0.1:8080",
        docsUrl: "http://127.0.0.1:8080/docs",
        version: "0.1.0",
      }),
    ).toEqual(closed);
  });

  it("keeps the names that were released", () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids).toEqual(expect.arrayContaining(RELEASED));
    for (const id of ids) expect(id).toMatch(/^[a-z]+(?:[A-Z][a-z]+)*$/);
  });

  it("lets answers grow: fields and words that are not in it", () => {
    for (const schema of inAnswers) {
      expect(Object.keys(schema)).not.toContain("default");
      if (schema.properties !== undefined) expect(schema.additionalProperties).toBe(true);
      for (const [key, value] of Object.entries(schema)) {
        expect([key, value]).not.toEqual(["enum", expect.anything()]);
        expect([key, value]).not.toEqual(["const", expect.any(String)]);
        expect([key, value]).not.toEqual(["propertyNames", expect.anything()]);
      }
    }
    const words = inAnswers.find((schema) => Array.isArray(schema["x-extensible-enum"]));
    expect(words?.description).toMatch(/later versions may add others$/);
  });

  it("keeps what may be sent: its words, and no field that must be sent because it has a default", () => {
    expect(inRequests.some((schema) => Array.isArray(schema.enum))).toBe(true);
    expect(inRequests.filter((schema) => "default" in schema)).toEqual([]);
    expect([...namesInRequests].filter((name) => namesInAnswers.has(name))).toEqual([]);
  });

  it("names every body", () => {
    for (const { schema } of [...requests, ...jsonAnswers]) {
      const options = (schema.anyOf ?? [schema]) as readonly JsonSchema[];
      for (const option of options) {
        expect(Object.keys(option).length === 0 || typeof option.$ref === "string" ? "" : option).toBe("");
      }
    }
  });

  it("says how wide numbers are, and has no choice between two values of one type", () => {
    for (const schema of [...inRequests, ...inAnswers]) {
      if (schema.type === "number") expect(schema.format).toBe("double");
      if (schema.type === "integer" && schema.enum === undefined && schema.const === undefined) {
        const isSmall = typeof schema.maximum === "number" && schema.maximum < 2 ** 31;
        expect([schema, schema.format]).toEqual([schema, isSmall ? undefined : "int64"]);
      }
      const types = ((schema.anyOf ?? []) as readonly JsonSchema[]).map(({ type }) => String(type));
      const scalars = types.filter((type) => !["undefined", "object", "array"].includes(type));
      expect([schema, scalars]).toEqual([schema, [...new Set(scalars)]]);
    }
  });

  it("has only examples of requests that are valid", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const { schema, examples } of requests) {
      const check = ajv.compile({ ...schema, components });
      for (const { value } of Object.values(examples ?? {})) expect([check(value), check.errors]).toEqual([true, null]);
    }
  });

  it("leaves out what no generator has a type for", () => {
    expect(Object.keys(paths)).not.toContain("/openapi.yaml");
    expect(Object.keys(paths)).toContain("/openapi.json");
    expect(answers.filter(([type]) => type !== "application/json" && !type.startsWith("text/"))).toEqual([]);
  });
});
