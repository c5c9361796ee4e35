/** For the operator: metrics, and the OpenAPI document. */
import { createHash, timingSafeEqual } from "node:crypto";
import { isLoopback } from "../address.ts";
import type { Api } from "../api.ts";
import { refusal } from "../errors.ts";
import type { ApiResponse } from "../http.ts";
import type { Call, Route } from "../route.ts";

const PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";
const YAML = "application/yaml";

async function metrics(api: Api, call: Call): Promise<ApiResponse> {
  const token = api.config.metricsToken;
  if (token !== null) {
    const sent = /^bearer +(\S+) *$/i.exec(call.request.authorization)?.[1] ?? "";
    if (!sameText(sent, token)) throw refusal("metricsToken");
  } else if (!isLoopback(call.clientAddress) || call.request.forwardedFor !== "") {
    // A proxy on this machine connects from loopback for strangers: what it forwards is not local.
    throw refusal("metricsNotHere");
  }
  return { status: 200, headers: ["Content-Type", PROMETHEUS_TEXT], body: await api.metrics() };
}

/** In a time that tells neither content nor length. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

async function yaml(api: Api): Promise<ApiResponse> {
  return { status: 200, headers: ["Content-Type", YAML], body: api.document.yaml() };
}

async function documentJson(api: Api): Promise<ApiResponse> {
  return { status: 200, headers: ["Content-Type", "application/json"], body: api.document.json() };
}

const document = { method: "GET", atRoot: true, group: "Document", scope: "public", cors: true, hidden: true } as const;

export const operator: readonly Route[] = [
  {
    method: "GET",
    path: "/metrics",
    atRoot: true,
    group: "Operator",
    summary: "Prometheus metrics",
    scope: "public",
    hidden: true,
    responses: { 200: PROMETHEUS_TEXT },
    errors: [401, 403],
    handle: metrics,
  },
  { ...document, path: "/docs/openapi.yaml", summary: "This document", responses: { 200: YAML }, handle: yaml },
  { ...document, path: "/openapi.yaml", summary: "This document", responses: { 200: YAML }, handle: yaml },
  {
    ...document,
    path: "/openapi.json",
    summary: "This document",
    responses: { 200: "application/json" },
    handle: documentJson,
  },
];
