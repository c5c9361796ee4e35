/** For the operator: metrics. */
import { createHash, timingSafeEqual } from "node:crypto";
import { isLoopback } from "../address.ts";
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
