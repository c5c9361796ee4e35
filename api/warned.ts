/** Adds to an answer what of its request was ignored: `warnings` in the bodies of POST and PUT, a header on everything else. */
import { type JsonObject, objectOf } from "./body.ts";
import { type ApiAnswer, type ApiRequest, isStream } from "./http.ts";
import type { Route } from "./route.ts";
import { ignoredFields, ignoredParameters, type Known, namesIn } from "./warnings.ts";

export const WARNING_HEADER = "X-Sonde-Warning";

export type Warned = (route: Route, request: ApiRequest, response: ApiAnswer) => ApiAnswer;

export function createWarned(routes: readonly Route[]): Warned {
  const known = new Map(routes.map((route) => [route, knownOf(route)]));
  return (route, request, response) => {
    const of = known.get(route);
    if (of === undefined) return response;
    const parameters = ignoredParameters(request.query, of.parameters);
    const sent = route.body === undefined ? undefined : objectOf(request);
    if (parameters.length === 0 && (sent === undefined || isAllKnown(route, of.fields, sent))) return response;
    const record = recordOf(route, response);
    const fields = sent === undefined ? [] : fieldsIgnored(route, of.fields, sent, record);
    const warnings = [...fields, ...parameters];
    if (warnings.length === 0) return response;
    if (record === null || isStream(response)) {
      return { ...response, headers: [...response.headers, WARNING_HEADER, warnings.join("; ")] };
    }
    // The warnings are put before the last brace, because writing a large answer as JSON again would take long.
    const body = `${String(response.body).slice(0, -1)},"warnings":${JSON.stringify(warnings)}}`;
    return { ...response, body };
  };
}

interface KnownOfRoute {
  readonly parameters: Known;
  readonly fields: Known;
}

/** @returns undefined for what the document leaves out: parts of pages */
function knownOf(route: Route): KnownOfRoute | undefined {
  if (route.hidden === true) return undefined;
  return {
    parameters: { names: new Set(Object.keys(route.query ?? {})) },
    fields: { names: route.body === undefined ? new Set() : namesIn(route.body.schema) },
  };
}

/** Whether no field can be worth a warning. Then the answer need not be parsed, which may be long. */
function isAllKnown({ body }: Route, { names }: Known, sent: JsonObject): boolean {
  return body?.fieldsOf === undefined && Object.keys(sent).every((name) => names.has(name));
}

/** The record that a POST or PUT answers; null for every other answer: texts, refusals and streams have no place for warnings. */
function recordOf({ method, responses }: Route, response: ApiAnswer): JsonObject | null {
  if (isStream(response) || typeof responses[response.status] === "string") return null;
  const { status, body } = response;
  if ((method !== "POST" && method !== "PUT") || status >= 300 || typeof body !== "string") return null;
  return JSON.parse(body) as JsonObject;
}

function fieldsIgnored(route: Route, fields: Known, sent: JsonObject, record: JsonObject | null): readonly string[] {
  if (record === null) return ignoredFields(sent, fields, {});
  return ignoredFields(sent, route.body?.fieldsOf?.(record) ?? fields, record);
}
