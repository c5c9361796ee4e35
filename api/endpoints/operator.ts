/** For the operator: metrics. */
import { createHash, timingSafeEqual } from "node:crypto";
import { Gauge, Registry } from "prom-client";
import { isLocalCall } from "../address.ts";
import type { Api } from "../api.ts";
import { refusal } from "../errors.ts";
import type { ApiResponse } from "../http.ts";
import { monitorMetrics } from "../monitor-metrics.ts";
import type { Call, Route } from "../route.ts";

const PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

async function metrics(api: Api, call: Call): Promise<ApiResponse> {
  const token = api.config.metricsToken;
  if (token !== null) {
    const sent = /^bearer +(\S+) *$/i.exec(call.request.authorization)?.[1] ?? "";
    if (!sameText(sent, token)) throw refusal("metricsToken");
  } else if (!isOpen(api, call)) throw refusal("metricsNotHere");
  const texts = await Promise.all([
    api.metrics(),
    serverMetric(api.httpServer),
    api.requests.text(),
    monitorMetrics(api.controlPlane.monitors, api.config.monitorMetrics ?? 0, call.nowMs),
  ]);
  return { status: 200, headers: ["Content-Type", PROMETHEUS_TEXT], body: texts.join("\n") };
}

/** Without a token they are for this machine alone (docs/operate/security-http.md): nor may settings speak of a proxy, or of a name for others. */
function isOpen({ config }: Api, { request }: Call): boolean {
  return config.trustedProxies.length === 0 && config.baseUrl === null && isLocalCall(config.host, request);
}

/** Which server answers: one that is refused is seen here too. */
function serverMetric(kind: "net" | "node"): Promise<string> {
  const registry = new Registry();
  const server = new Gauge({
    name: "sonde_http_server",
    help: "Which HTTP server answers, 1 for the one that does",
    labelNames: ["kind"],
    registers: [registry],
  });
  for (const name of ["net", "node"]) server.set({ kind: name }, name === kind ? 1 : 0);
  return registry.metrics();
}

/** Compares in constant time. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

export const operator: readonly Route[] = [
  {
    method: "GET",
    path: "/metrics",
    operationId: "getMetrics",
    atRoot: true,
    group: "Operator",
    summary: "Prometheus metrics",
    scope: "public",
    responses: { 200: PROMETHEUS_TEXT },
    refusals: ["metricsToken", "metricsNotHere"],
    handle: metrics,
  },
];
