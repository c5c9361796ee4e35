/**
 * The document as generated clients read it. The one that tests hold answers against is closed: a field or word that is not in it is a
 * fault. A client must take what a later version adds, so here answers are open; and what generators read in ways of their own is said
 * in the way that all of them read alike.
 */
import type { JsonSchema } from "./examples.ts";

type Node = Record<string, unknown>;
/** Who reads a schema: a client sends it, or is sent it. */
type Side = "request" | "answer";

interface Operation {
  parameters?: { schema?: Node }[];
  requestBody?: { content: Record<string, { schema?: Node }> };
  responses: Record<string, Response>;
}
interface Response {
  content?: Record<string, { schema?: Node }>;
}

/** A whole number that fits is read as 32 bits wide where nothing else is said. */
const LARGEST_INT32 = 2 ** 31 - 1;
/** What says no more than its type when two options of one type become one. */
const ABOUT = new Set(["description", "examples", "default"]);

/** @param closed as createOpenApi() makes it; it stays as it is */
export function forClients(closed: JsonSchema): JsonSchema {
  const document = structuredClone(closed) as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Node>; responses: Record<string, Response> };
  };
  const { paths, components } = document;
  for (const [path, operations] of Object.entries(paths)) {
    if (!Object.values(operations).every(isReadable)) delete paths[path];
  }
  const operations = Object.values(paths).flatMap((byMethod) => Object.values(byMethod));
  const sent = new Set<string>();
  for (const { parameters, requestBody } of operations) {
    // A parameter keeps its default: it does not make the parameter required anywhere.
    for (const { schema } of parameters ?? []) if (schema !== undefined) plain(schema);
    for (const { schema } of Object.values(requestBody?.content ?? {})) convert(schema, "request", sent, components);
  }
  const answered = new Set<string>();
  for (const { content } of [
    ...operations.flatMap(({ responses }) => Object.values(responses)),
    ...Object.values(components.responses),
  ]) {
    for (const { schema } of Object.values(content ?? {})) convert(schema, "answer", answered, components);
  }
  return document as unknown as JsonSchema;
}

/** Whether generators know a type for its answers: they do for JSON and text, and for YAML none does. */
function isReadable({ responses }: Operation): boolean {
  const types = Object.values(responses).flatMap(({ content }) => Object.keys(content ?? {}));
  return types.every((type) => type === "application/json" || type.startsWith("text/"));
}

/** Changes a schema, what is in it and what it refers to, in place. */
function convert(schema: unknown, side: Side, seen: Set<string>, components: { schemas: Record<string, Node> }): void {
  if (typeof schema !== "object" || schema === null) return;
  const node = schema as Node;
  if (typeof node.$ref === "string") {
    const name = node.$ref.split("/").at(-1) ?? "";
    if (seen.has(name)) return;
    seen.add(name);
    convert(components.schemas[name], side, seen, components);
    return;
  }
  for (const inner of innerSchemas(node)) convert(inner, side, seen, components);
  plain(node);
  if (side === "answer") open(node);
  else withoutDefault(node);
}

function innerSchemas(node: Node): readonly unknown[] {
  const { properties, items, additionalProperties, anyOf, oneOf, allOf } = node;
  return [
    ...Object.values((properties ?? {}) as Node),
    items,
    additionalProperties,
    ...[anyOf, oneOf, allOf].flatMap((options) => (options ?? []) as unknown[]),
  ];
}

/** Fields and words that a later version adds are taken. */
function open(node: Node): void {
  delete node.unevaluatedProperties;
  // Of a field that is sent: an answer says what is, and leaves out what is not.
  delete node.default;
  // Said in words: where nothing is said, Go's generator makes a reader that refuses what it does not know.
  if (node.properties !== undefined) node.additionalProperties = true;
  delete node.propertyNames;
  const words = node.enum ?? (typeof node.const === "string" ? [node.const] : undefined);
  if (!Array.isArray(words) || !words.every((word) => typeof word === "string")) return;
  delete node.enum;
  delete node.const;
  node["x-extensible-enum"] = words;
  describe(node, `${words.length === 1 ? "Now always" : "One of"} ${words.join(", ")}; later versions may add others`);
}

/** A field with a default need not be sent, but TypeScript's generator takes it for one that is always there. */
function withoutDefault(node: Node): void {
  if (!("default" in node)) return;
  const standard = node.default;
  delete node.default;
  describe(node, `Default: ${typeof standard === "string" ? standard : JSON.stringify(standard)}`);
}

function describe(node: Node, sentence: string): void {
  node.description = node.description === undefined ? sentence : `${node.description}. ${sentence}`;
}

/** How wide numbers are, and no choice inside a choice, nor two options that differ in no more than words. */
function plain(node: Node): void {
  plainNumber(node);
  if (!Array.isArray(node.anyOf)) return;
  const options = mergedOptions(flatOptions(node.anyOf as Node[]));
  const [only] = options;
  if (options.length > 1 || only === undefined) {
    node.anyOf = options;
    return;
  }
  delete node.anyOf;
  Object.assign(node, { ...only, ...node });
}

function plainNumber(node: Node): void {
  const values = node.enum ?? (typeof node.const === "number" ? [node.const] : []);
  if (node.type === "number" && Array.isArray(values) && values.length > 0 && values.every(Number.isSafeInteger)) {
    node.type = "integer";
    return;
  }
  if (node.minimum === Number.MIN_SAFE_INTEGER) delete node.minimum;
  if (node.maximum === Number.MAX_SAFE_INTEGER) delete node.maximum;
  const types = [node.type].flat();
  if (types.includes("number")) node.format = "double";
  else if (types.includes("integer") && Number(node.maximum ?? Number.POSITIVE_INFINITY) > LARGEST_INT32) {
    node.format = "int64";
  }
}

function flatOptions(options: readonly Node[]): readonly Node[] {
  return options.flatMap((option) => {
    const { anyOf, ...about } = option;
    if (Array.isArray(option.type))
      return option.type.map((type) => (type === "null" ? { type } : { ...option, type }));
    if (!Array.isArray(anyOf) || !Object.keys(about).every((name) => ABOUT.has(name))) return [option];
    const [first, ...others] = flatOptions(anyOf as Node[]);
    return first === undefined ? [] : [{ ...about, ...first }, ...others];
  });
}

/** Options of one type become one that takes what any of them takes. */
function mergedOptions(options: readonly Node[]): Node[] {
  const merged: Node[] = [];
  for (const option of options) {
    const known = merged.findIndex((other) => isScalar(option) && other.type === option.type);
    if (known === -1) merged.push(option);
    else merged[known] = merge(merged[known] ?? {}, option);
  }
  return merged;
}

function isScalar({ type }: Node): boolean {
  return type === "string" || type === "integer" || type === "number" || type === "boolean" || type === "null";
}

/** What both say; their descriptions one after the other. */
function merge(one: Node, other: Node): Node {
  const same = Object.entries(one).filter(([name, value]) => JSON.stringify(value) === JSON.stringify(other[name]));
  const descriptions = [...new Set([one.description, other.description])].filter((text) => text !== undefined);
  return { ...Object.fromEntries(same), ...(descriptions.length > 0 && { description: descriptions.join("; or ") }) };
}
