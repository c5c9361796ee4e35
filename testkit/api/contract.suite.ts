/**
 * The one place where answers are held against the document: its statuses, its headers, its media types, its closed schemas. Every
 * test that speaks to the API does so through it, so a new route is covered when it is in THE LIST.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { routes } from "../../api/endpoints/index.ts";
import { ERROR_NAMES, wordsOf } from "../../api/errors.ts";
import { createOpenApi } from "../../api/openapi.ts";
import type { Route } from "../../api/route.ts";
import { createRouter, fullPath } from "../../api/router.ts";
import { SECURITY_HEADERS } from "../../api/security-headers.ts";

/** An answer as it came over the wire. */
export interface SeenAnswer {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Empty for HEAD. */
  readonly text: string;
}

interface DocumentedHeader {
  readonly required?: boolean;
  readonly schema: { readonly type?: string };
}
interface DocumentedContent {
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface DocumentedResponse {
  readonly headers?: Readonly<Record<string, DocumentedHeader>>;
  readonly content?: Readonly<Record<string, DocumentedContent>>;
}
interface SchemaPosition {
  readonly response: DocumentedResponse | undefined;
  /** Of the response in the document (RFC 6901). */
  readonly pointer: string;
}

/** Of the connection and of HTTP itself, not of the API. */
const TRANSPORT = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
]);
/** On every answer, so not repeated at each of them in the document. */
const SECURITY = byName(SECURITY_HEADERS);

const router = createRouter(routes);
const document = createOpenApi(routes, {
  baseUrl: "http://127.0.0.1:8080",
  docsUrl: "http://127.0.0.1:8080/docs",
  version: "0.1.0",
}) as {
  paths: Record<string, Record<string, { responses: Record<string, DocumentedResponse> }>>;
  components: { responses: Record<string, DocumentedResponse> };
};
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema(document, "document");
const compiled = new Map<string, ValidateFunction>();

/** @throws Error that says what the document does not know */
export function checkAgainstDocument(answer: SeenAnswer): void {
  const complaints = [...insecurities(answer), ...undocumented(answer)];
  if (complaints.length === 0) return;
  throw new Error(
    `${answer.method} ${answer.path} answered ${answer.status}: ${complaints.join("; ")}\n${answer.text.slice(0, 2_000)}`,
  );
}

function undocumented(answer: SeenAnswer): readonly string[] {
  const place = placeOf(answer);
  if (place === null) return [];
  return place.response === undefined ? ["the document has no such status"] : complaintsOf(answer, place);
}

/** Names and values in turn, as the API's own responses have them. */
export function byName(headers: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (let index = 0; index + 1 < headers.length; index += 2) {
    found[(headers[index] ?? "").toLowerCase()] = headers[index + 1] ?? "";
  }
  return found;
}

/** @returns null for the parts of the reference page, which the document leaves out */
function placeOf({ method, path, status }: SeenAnswer): SchemaPosition | null {
  const found = router.find(method, path.split("?")[0] ?? "");
  if (found.type === "unknown") return anywhere("NotFound", status === 404);
  if (found.type === "wrong-method") {
    const cors = found.routes.find((route) => route.scope === "public" && route.cors === true);
    if (method === "OPTIONS" && cors !== undefined) return ofOperation(cors, "options", status);
    return anywhere("MethodNotAllowed", status === 405);
  }
  const { route } = found;
  if (route.hidden === true) return null;
  return ofOperation(route, route.method === "*" ? "get" : route.method.toLowerCase(), status);
}

function anywhere(name: string, isExpected: boolean): SchemaPosition {
  return {
    response: isExpected ? document.components.responses[name] : undefined,
    pointer: `/components/responses/${name}`,
  };
}

function ofOperation(route: Route, method: string, status: number): SchemaPosition {
  const path = fullPath(route);
  return {
    response: document.paths[path]?.[method]?.responses[String(status)],
    pointer: `/paths/${escaped(path)}/${method}/responses/${status}`,
  };
}

function escaped(part: string): string {
  return part.replaceAll("~", "~0").replaceAll("/", "~1");
}

function complaintsOf(answer: SeenAnswer, { response, pointer }: SchemaPosition): readonly string[] {
  const complaints: string[] = [];
  const known = new Map(Object.entries(response?.headers ?? {}).map(([name, header]) => [name.toLowerCase(), header]));
  for (const name of Object.keys(answer.headers)) {
    if (!known.has(name) && !TRANSPORT.has(name) && SECURITY[name] === undefined)
      complaints.push(`the document has no header ${name}`);
  }
  for (const [name, header] of Object.entries(response?.headers ?? {})) {
    const value = answer.headers[name.toLowerCase()];
    if (value === undefined) {
      if (header.required === true) complaints.push(`the header ${name} is missing`);
      continue;
    }
    const asTyped = header.schema.type === "integer" || header.schema.type === "number" ? Number(value) : value;
    complaints.push(...violations(`${pointer}/headers/${escaped(name)}/schema`, asTyped));
  }
  return [...complaints, ...bodyComplaints(answer, response?.content, pointer)];
}

function insecurities({ headers, path }: SeenAnswer): string[] {
  const [own = ""] = path.split("?");
  // What the public reads has headers of its own, which its own suite compares.
  if (
    /^\/(status|badge)(\/|$)/.test(own) &&
    headers["content-security-policy"]?.startsWith("default-src 'none'; ") === true
  )
    return headers["x-content-type-options"] === "nosniff" ? [] : ["the header x-content-type-options is missing"];
  return Object.entries(SECURITY).flatMap(([name, value]) => {
    // The reference page has a policy of its own.
    const isFine = own === "/docs" && name === "content-security-policy" ? headers[name] : headers[name] === value;
    return isFine ? [] : [`the header ${name} is not as on every answer`];
  });
}

function bodyComplaints(answer: SeenAnswer, content: DocumentedResponse["content"], pointer: string): string[] {
  if (content === undefined) return answer.text === "" ? [] : ["the document has no body here"];
  const [type = ""] = (answer.headers["content-type"] ?? "").split(";");
  if (content[type] === undefined) return [`the document has no media type "${type}"`];
  if (answer.method === "HEAD") return answer.text === "" ? [] : ["HEAD has a body"];
  if (type !== "application/json") return [];
  let body: unknown;
  try {
    body = JSON.parse(answer.text);
  } catch {
    return ["the body is not JSON"];
  }
  const unnamed = unnamedMessage(body, content[type]);
  return [...violations(`${pointer}/content/${escaped(type)}/schema`, body), ...unnamed];
}

/** Messages that have no numbers or names in them are named in the document, route by route: in `refusals` of the route. */
const FIXED_MESSAGES = new Set(ERROR_NAMES.map((name) => wordsOf(name)[1]));

function unnamedMessage(body: unknown, content: DocumentedContent | undefined): string[] {
  if (typeof body !== "object" || body === null || !("message" in body) || !("error" in body)) return [];
  const message = String(body.message);
  if (!FIXED_MESSAGES.has(message)) return [];
  const named = Object.values(content?.examples ?? {}).some(
    ({ value }) => (value as { message?: unknown }).message === message,
  );
  return named ? [] : [`the document does not name the message "${message}" here (refusals of the route)`];
}

function violations(pointer: string, value: unknown): string[] {
  const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `document#${encodeURI(pointer)}` });
  compiled.set(pointer, validate);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const extra = "additionalProperty" in params ? ` (${params.additionalProperty})` : "";
    return `${instancePath === "" ? "it" : instancePath} ${message}${extra}`;
  });
}
