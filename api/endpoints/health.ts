/** Health and regions: the contract's public endpoints (docs/api-contract.md#health-and-documents). */
import { z } from "zod";
import { formatIso } from "../../model/time.ts";
import type { Warning } from "../../store/sql/coordination/shards-port.ts";
import type { Api, RegionState } from "../api.ts";
import { type ApiResponse, JSON_HEADERS, json } from "../http.ts";
import { listed } from "../listed.ts";
import { type Call, type ResponseHeader, type Route, shape } from "../route.ts";

const NO_STORE: readonly string[] = [...JSON_HEADERS, "Cache-Control", "no-store"];
/** Each back end has this long to answer (docs/api-contract.md#health-and-documents). */
const PROBE_TIMEOUT_MS = 2_000;
/** Calls within this get the same answer, so that frequent calls cost the back ends nothing. */
const DEEP_KEPT_MS = 1_000;

interface Component {
  readonly status: "ok" | "error";
  readonly latency_ms: number | null;
}
const FAILED: Component = { status: "error", latency_ms: null };

interface Checks {
  readonly database: Component;
  readonly queue: Component;
}

const kept = new WeakMap<Api, { readonly atMs: number; readonly checks: Promise<Checks> }>();

function basics(api: Api, call: Call) {
  return {
    status: "ok",
    version: api.version,
    uptime: Math.max(0, Math.floor((call.nowMs - api.startedAtMs) / 1_000)),
    timestamp: formatIso(call.nowMs),
  };
}

async function shallow(api: Api, call: Call): Promise<ApiResponse> {
  return json(200, basics(api, call), NO_STORE);
}

async function deep(api: Api, call: Call): Promise<ApiResponse> {
  const found = await checksOf(api, call.nowMs);
  const warnings = warningsOf(api);
  // Results do not reach the disk: checks and statuses go on, and the operator must know.
  const checks = warnings.includes("results_unwritten") ? { ...found, queue: FAILED } : found;
  const said = { checks, ...(warnings.length > 0 && { warnings }) };
  if (checks.database.status === "ok" && checks.queue.status === "ok") {
    return json(200, { ...basics(api, call), ...said }, NO_STORE);
  }
  return json(503, { error: true, code: 503, message: "Health check failed", details: said }, NO_STORE);
}

function checksOf(api: Api, nowMs: number): Promise<Checks> {
  const last = kept.get(api);
  if (last !== undefined && nowMs >= last.atMs && nowMs - last.atMs < DEEP_KEPT_MS) return last.checks;
  const checks = Promise.all([probe(() => api.health.database()), probe(() => api.health.queue())]).then(
    ([database, queue]) => ({ database, queue }),
  );
  kept.set(api, { atMs: nowMs, checks });
  return checks;
}

async function probe(ask: () => Promise<void>): Promise<Component> {
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(fail, PROBE_TIMEOUT_MS, new Error("no answer in time"));
  });
  try {
    await Promise.race([ask(), late]);
    return { status: "ok", latency_ms: Math.round(performance.now() - startedAt) };
  } catch {
    return FAILED;
  } finally {
    clearTimeout(timer);
  }
}

/** What the operator should look at: what schedulers say, and what this process does to its readers. */
export function warningsOf(api: Api): readonly Warning[] {
  const said = api.health.warnings?.() ?? [];
  return api.reads.isRefusing ? [...said, "reads_refused"] : said;
}

/** Of the two health endpoints. */
const headers: Readonly<Record<string, ResponseHeader>> = {
  "Cache-Control": {
    description: "Each answer is of its moment",
    schema: z.literal("no-store"),
    required: true,
    on: [200, 503],
  },
};

const countryNames = new Intl.DisplayNames("en", { type: "region" });

async function regions(api: Api): Promise<ApiResponse> {
  const known = await api.regions();
  const byCode = [...known].sort((a, b) => rank(a) - rank(b) || (a.code < b.code ? -1 : 1));
  const shown = byCode.map(({ code, healthyCheckers }) => ({
    code,
    name: nameOf(code),
    healthy_checkers: healthyCheckers,
    available: healthyCheckers > 0,
  }));
  return json(200, { regions: shown, total: shown.length });
}

/** `any` stands first. */
function rank(region: RegionState): number {
  return region.code === "any" ? 0 : 1;
}

function nameOf(code: string): string {
  if (code === "any") return "Any location";
  return /^[a-z]{2}$/.test(code) ? (countryNames.of(code.toUpperCase()) ?? code) : code;
}

export const health: readonly Route[] = [
  {
    method: "GET",
    path: "/health",
    operationId: "getHealth",
    group: "Public",
    summary: "Whether the API is up",
    scope: "public",
    cors: true,
    responses: { 200: shape("health") },
    headers,
    handle: shallow,
  },
  {
    method: "GET",
    path: "/health/deep",
    operationId: "getDeepHealth",
    group: "Public",
    summary: "Whether the database and the job queue are up too",
    scope: "public",
    cors: true,
    responses: { 200: shape("deepHealth"), 503: shape("failedHealth") },
    headers,
    handle: deep,
  },
  listed({
    method: "GET",
    path: "/regions",
    operationId: "listRegions",
    group: "Public",
    summary: "Locations one can test from, with their healthy checkers",
    scope: "public",
    cors: true,
    responses: { 200: shape("regionList") },
    handle: regions,
  }),
];
