/**
 * The OpenAPI document, and a page to read it: swagger-ui from our own files, so that it works offline and no other host learns who reads.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { z } from "zod";
import type { MaybePromise } from "../../model/maybe-promise.ts";
import type { Api } from "../api.ts";
import type { ApiResponse } from "../http.ts";
import { isKnown } from "../listed.ts";
import type { Call, ResponseHeader, Route } from "../route.ts";
import { securityHeaders } from "../security-headers.ts";

const YAML = "application/yaml";
const JSON_TYPE = "application/json";
const HTML = "text/html; charset=utf-8";
const CSS = "text/css; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";

/** Nothing from anywhere else, nothing inline, but without Trusted Types: swagger-ui writes HTML. `data:` are the icons inside its own stylesheet. */
const PAGE_SECURITY = securityHeaders(
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);
/** Asked again each time, but answered 304 while nothing changed. */
const REVALIDATED = "no-cache";
/** The package's files change with a release of ours only. */
const KEPT_FOR_A_DAY = "public, max-age=86400";

/** Relative addresses, so that a proxy may serve us below a path of its own. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sonde API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="icon" href="data:,">
</head>
<body>
<div id="reference"><p>The reference needs JavaScript. The document itself: <a href="openapi.yaml">openapi.yaml</a>, <a href="openapi.json">openapi.json</a>.</p></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;
/** Dark where the reader's system is; swagger-ui has that look, and no switch outside its own frame. `validatorUrl` null: by default swagger-ui sends the address of the document to a validator of its makers. */
const START = `const scheme = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.documentElement.classList.toggle("dark-mode", scheme.matches);
scheme.addEventListener("change", paint);
paint();
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  queryConfigEnabled: false,
  validatorUrl: null,
});
`;

interface Published {
  readonly body: Uint8Array;
  readonly headers: readonly string[];
  readonly tag: string;
}

/** As bytes: a text would be copied for each caller, and wait with those who do not take it. */
function published(text: string | Uint8Array, mediaType: string, cache: string): Published {
  const body = typeof text === "string" ? Buffer.from(text) : text;
  const tag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  return { body, tag, headers: ["Content-Type", mediaType, "Cache-Control", cache, "ETag", tag] };
}

/** 304 when the caller has it (RFC 9110 section 13.1.2). */
function answer(call: Call, { body, headers, tag }: Published): ApiResponse {
  return isKnown(call.request.ifNoneMatch, tag)
    ? { status: 304, headers: headers.slice(2), body: "" }
    : { status: 200, headers, body };
}

/** Read at the first request and kept: per API, because tests run several. */
const made = new WeakMap<Api, Map<string, Promise<Published>>>();

function kept(api: Api, name: string, text: () => MaybePromise<string>): Promise<Published> {
  const known = made.get(api) ?? new Map<string, Promise<Published>>();
  made.set(api, known);
  const one = known.get(name);
  if (one !== undefined) return one;
  const making = Promise.resolve(text()).then((body) => published(body, name, REVALIDATED));
  known.set(name, making);
  making.catch(() => known.delete(name));
  return making;
}

const fromPackage = createRequire(import.meta.url);
const files = new Map<string, Promise<Published>>();

/** A file of swagger-ui-dist, read once. */
function packaged(path: string, mediaType: string): Promise<Published> {
  const known = files.get(path);
  if (known !== undefined) return known;
  const reading = readFile(path).then((body) => published(body, mediaType, KEPT_FOR_A_DAY));
  files.set(path, reading);
  reading.catch(() => files.delete(path));
  return reading;
}

const CACHE_HEADERS: Readonly<Record<string, ResponseHeader>> = {
  ETag: { description: "Of this version", schema: z.string(), required: true, on: [200, 304] },
  "Cache-Control": { description: "How long it may be kept", schema: z.string(), required: true, on: [200, 304] },
};
const base = { method: "GET", atRoot: true, group: "Reference", scope: "public" } as const;

function document(
  path: string,
  operationId: string,
  mediaType: string,
  text: (api: Api) => MaybePromise<string>,
): Route {
  return {
    ...base,
    path,
    operationId,
    summary: "This document",
    cors: true,
    responses: { 200: mediaType, 304: "" },
    headers: CACHE_HEADERS,
    handle: async (api: Api, call: Call) => answer(call, await kept(api, mediaType, () => text(api))),
  };
}

function asset(name: string, mediaType: string, read: () => Promise<Published>): Route {
  return {
    ...base,
    path: `/docs/${name}`,
    operationId: `getPagePart ${name}`,
    summary: "A part of the reference page",
    hidden: true,
    responses: { 200: mediaType, 304: "" },
    handle: async (_: Api, call: Call) => answer(call, await read()),
  };
}

const page = published(PAGE, HTML, REVALIDATED);
const start = published(START, SCRIPT, REVALIDATED);

export const reference: readonly Route[] = [
  document("/docs/openapi.yaml", "getDocumentBesidePage", YAML, (api) => api.document.yaml()),
  document("/openapi.yaml", "getDocumentAsYaml", YAML, (api) => api.document.yaml()),
  document("/openapi.json", "getDocument", JSON_TYPE, (api) => api.document.json()),
  {
    ...base,
    path: "/docs",
    operationId: "getDocumentPage",
    summary: "This document as a page",
    responses: { 200: HTML, 304: "" },
    headers: CACHE_HEADERS,
    async handle(_: Api, call: Call) {
      return { ...answer(call, page), security: PAGE_SECURITY };
    },
  },
  asset("swagger-ui.css", CSS, () => packaged(fromPackage.resolve("swagger-ui-dist/swagger-ui.css"), CSS)),
  asset("swagger-ui-bundle.js", SCRIPT, () =>
    packaged(fromPackage.resolve("swagger-ui-dist/swagger-ui-bundle.js"), SCRIPT),
  ),
  asset("start.js", SCRIPT, async () => start),
];
