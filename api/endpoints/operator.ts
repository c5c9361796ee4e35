/** For the operator: metrics. */
import { createHash, timingSafeEqual } from "node:crypto";
import { isLoopback, plainAddress } from "../address.ts";
import type { Api } from "../api.ts";
import { refusal } from "../errors.ts";
import type { ApiResponse } from "../http.ts";
import type { Call, Route } from "../route.ts";

const PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

async function metrics(api: Api, call: Call): Promise<ApiResponse> {
  const token = api.config.metricsToken;
  if (token !== null) {
    const sent = /^bearer +(\S+) *$/i.exec(call.request.authorization)?.[1] ?? "";
    if (!sameText(sent, token)) throw refusal("metricsToken");
  } else if (!isOpen(api, call)) throw refusal("metricsNotHere");
  return {
    status: 200,
    headers: ["Content-Type", PROMETHEUS_TEXT],
    body: `${await api.metrics()}${serverMetric(api.httpServer)}`,
  };
}

/**
 * Without a token they are for this machine alone, and a proxy on this machine connects from loopback for everybody. So nothing may hint at one:
 * no listener beyond loopback, no trusted proxy, no address by which others reach us, no header of a proxy, and Host names loopback. A proxy that
 * hides all of that cannot be seen: before one, a token is needed (docs/operate/security-http.md).
 */
function isOpen({ config }: Api, { request }: Call): boolean {
  if (!isLoopback(config.host) || config.trustedProxies.length > 0 || config.baseUrl !== null) return false;
  return isLoopback(plainAddress(request.remoteAddress)) && !request.isProxied;
}

/** Which server answers: one that is refused is seen here too. */
function serverMetric(kind: "uws" | "node"): string {
  const help =
    "# HELP sonde_http_server Which HTTP server answers, 1 for the one that does\n# TYPE sonde_http_server gauge\n";
  return `${help}${["uws", "node"].map((name) => `sonde_http_server{kind="${name}"} ${name === kind ? 1 : 0}\n`).join("")}`;
}

/** In a time that tells neither content nor length. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

export const operator: readonly Route[] = [
  {
    method: "GET",
    path: "/metrics",
    atRoot: true,
    group: "Operator",
    summary: "Prometheus metrics",
    scope: "public",
    responses: { 200: PROMETHEUS_TEXT },
    refusals: ["metricsToken", "metricsNotHere"],
    handle: metrics,
  },
];
