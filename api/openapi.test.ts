import { describe, expect, it } from "vitest";
import { z } from "zod";
import { settingsOf } from "../engine/registry.ts";
import { UPTIME_KINDS } from "../model/kind.ts";
import { routes } from "./endpoints/index.ts";
import { createBody, updateBody } from "./monitors/bodies.ts";
import { createOpenApi } from "./openapi.ts";
import { fullPath } from "./router.ts";
import * as schemas from "./schemas/index.ts";
import { validate } from "./testing/document.suite.ts";

const document = createOpenApi(routes, { baseUrl: "http://127.0.0.1:8080", version: "0.1.0" });
const plain = JSON.parse(JSON.stringify(document)) as Record<string, unknown>;

/** Every enum or const found anywhere in a JSON schema, sorted. */
function enumsIn(node: unknown, found: string[] = []): string[] {
  if (Array.isArray(node)) for (const each of node) enumsIn(each, found);
  else if (typeof node === "object" && node !== null) {
    for (const [key, value] of Object.entries(node)) {
      if (key === "enum") found.push(JSON.stringify(value));
      else if (key === "const") found.push(JSON.stringify([value]));
      else enumsIn(value, found);
    }
  }
  return found;
}

/** Every list of values that a zod schema allows anywhere, read from the schema itself and not from its JSON form. */
function valuesIn(schema: unknown, found: string[] = [], seen = new Set<unknown>()): string[] {
  if (!(schema instanceof z.ZodType) || seen.has(schema)) return found;
  seen.add(schema);
  if (schema instanceof z.ZodEnum) found.push(JSON.stringify(schema.options));
  else if (schema instanceof z.ZodLiteral) found.push(JSON.stringify([...schema.values]));
  else if (schema instanceof z.ZodObject) for (const each of Object.values(schema.shape)) valuesIn(each, found, seen);
  else if (schema instanceof z.ZodArray) valuesIn(schema.element, found, seen);
  else if (schema instanceof z.ZodUnion) for (const each of schema.options) valuesIn(each, found, seen);
  else if (schema instanceof z.ZodRecord) {
    valuesIn(schema.keyType, found, seen);
    valuesIn(schema.valueType, found, seen);
  } else if (schema instanceof z.ZodPipe) valuesIn(schema.in, found, seen);
  else if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    valuesIn(schema.unwrap(), found, seen);
  }
  return found;
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)].sort();

describe("the OpenAPI document", () => {
  it("is OpenAPI 3.1", async () => {
    expect(plain.openapi).toBe("3.1.0");
    expect(await validate(plain)).toEqual([]);
  });

  it("has every route but the hidden ones, with unlike operation ids", () => {
    const paths = document.paths as Record<string, Record<string, { operationId: string }>>;
    const ids: string[] = [];
    for (const route of routes) {
      const operation = paths[fullPath(route)]?.[route.method === "*" ? "get" : route.method.toLowerCase()];
      expect([route.path, operation !== undefined]).toEqual([route.path, route.hidden !== true]);
      if (operation !== undefined) ids.push(operation.operationId);
    }
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("keeps every enum of the answers' schemas, no value more or less", () => {
    const inSchemas = routes
      .filter((route) => route.hidden !== true)
      .flatMap((route) => [
        ...Object.values(route.responses),
        ...Object.values(route.query ?? {}).map(({ schema }) => schema),
      ])
      .concat(schemas.error, schemas.usageLimitError)
      .flatMap((schema) => valuesIn(schema));
    const inBodies = [createBody, updateBody, ...UPTIME_KINDS.map((kind) => settingsOf(kind))].flatMap((schema) =>
      valuesIn(schema),
    );
    const expected = unique([...inSchemas, ...inBodies]);
    expect(unique(enumsIn(plain))).toEqual(expected);
    expect(expected.length).toBeGreaterThan(15);
  });

  it("names the fields of each kind that its own schema reads", () => {
    const components = (plain.components as { schemas: Record<string, { properties: object; required: string[] }> })
      .schemas;
    for (const kind of UPTIME_KINDS) expect(components[`Create_${kind}`]?.required).toContain("name");
    expect(components.Create_http?.required).toEqual(["type", "name", "url"]);
    expect(Object.keys(components.Create_keyword?.properties ?? {})).toEqual(
      expect.arrayContaining([
        "keyword",
        "invert_keyword",
        "accepted_statuscodes",
        "ssl_expiration",
        "interval",
        "tags",
      ]),
    );
    expect(components.Create_push?.required).toEqual(["type", "name", "period"]);
    expect(Object.keys(components.Create_push?.properties ?? {})).not.toContain("interval");
  });
});
