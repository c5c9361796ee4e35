/** Every configuration that came from a subscription, with what its last check found (docs/api-contract.md#subscriptions). */
import { formatId } from "../../model/ids.ts";
import { formatIso } from "../../model/time.ts";
import type { ConfigResult, ImportedConfig } from "../../store/sql/monitors/imports-port.ts";
import type { Api } from "../api.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { limitParameter, offsetParameter, readQuery, wordParameter } from "../query.ts";
import { type ProjectCall, pathId, type Route, shape } from "../route.ts";
import { subscriptionIdParams } from "./params.ts";

/** Monitors of one page, read; their configs are read with them. */
const PAGE = 500;

const configsQuery = {
  status: wordParameter({
    words: ["healthy", "down", "unknown"],
    fallback: null,
    message: "status must be healthy, down or unknown.",
    description: "Only those that passed, that did not, or that were not checked yet.",
  }),
  sort: wordParameter({
    words: ["latency", "tag"],
    fallback: "latency",
    message: "sort must be latency or tag.",
    description: "`latency`: what passed first, the fastest first.",
  }),
  limit: limitParameter(500),
  offset: offsetParameter,
} as const;

interface Row {
  readonly monitorId: number;
  readonly config: ImportedConfig;
  /** The newest of those of the monitor's locations; null: it was not checked yet. */
  readonly result: ConfigResult | null;
  /** Whether it passed when it was last tested from there, by location. */
  readonly places: Readonly<Record<string, boolean>>;
}

async function configs(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const id = pathId(call, "subscription", "invalidSubscriptionId");
  if ((await api.controlPlane.subscriptions.find(call.project.id, id)) === undefined)
    throw refusal("subscriptionNotFound");
  const { status, sort, limit, offset } = readQuery(configsQuery, call.request.query);
  const all = await rowsOf(api, call.project.id, id);
  const wanted = status === null ? all : all.filter((row) => statusOf(row) === status);
  const ordered = wanted.toSorted(sort === "tag" ? byTag : byLatency);
  return ok({
    configs: ordered.slice(offset, offset + limit).map(view),
    total: wanted.length,
    healthy: all.filter((row) => statusOf(row) === "healthy").length,
  });
}

export async function rowsOf(api: Api, projectId: number, subscriptionId: number): Promise<readonly Row[]> {
  const filter = { family: "tunnel", activeOnly: false, status: null, protocol: null, nameContains: null } as const;
  const select = { subscriptionIds: [subscriptionId] };
  const found: Row[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const { rows } = await api.controlPlane.monitors.list(projectId, { ...filter, select, limit: PAGE, offset });
    const servers = await api.controlPlane.imports.of(rows.map(({ monitor }) => monitor.id));
    for (const { monitor } of rows) {
      for (const config of servers.get(monitor.id)?.configs ?? [])
        found.push({ monitorId: monitor.id, config, ...tested(config, monitor.locations) });
    }
    if (rows.length < PAGE) return found;
  }
}

function tested({ results }: ImportedConfig, locations: readonly string[]): Pick<Row, "result" | "places"> {
  let latest: ConfigResult | null = null;
  const places: Record<string, boolean> = {};
  for (const location of locations) {
    const result = results[location];
    if (result === undefined) continue;
    places[location] = result.success;
    if (latest === null || result.atMs > latest.atMs) latest = result;
  }
  return { result: latest, places };
}

export function statusOf({ result }: Row): "healthy" | "down" | "unknown" {
  if (result === null) return "unknown";
  return result.success ? "healthy" : "down";
}

/** What passed first; ties as the list has them. */
export function byLatency(one: Row, other: Row): number {
  const rank = (row: Row): number => (row.result?.success === true ? row.result.totalMs : Number.POSITIVE_INFINITY);
  const [a, b] = [rank(one), rank(other)];
  return a === b ? one.config.id - other.config.id : a - b;
}

function byTag(one: Row, other: Row): number {
  if (one.config.tag === other.config.tag) return one.config.id - other.config.id;
  return one.config.tag < other.config.tag ? -1 : 1;
}

function view({ monitorId, config: { tag, type, server, port }, result, places }: Row) {
  return {
    server_id: formatId("server", monitorId),
    tag,
    type,
    server,
    port,
    success: result?.success ?? false,
    total_ms: result?.totalMs ?? null,
    error: result?.error ?? "",
    error_category: result?.errorCategory ?? "",
    public_ip: result?.publicIp ?? "",
    country: result?.exitCountry ?? "",
    engine_used: result?.engineUsed ?? "",
    locations: places,
    checked_at: result === null ? null : formatIso(result.atMs),
  };
}

export const subscriptionConfigs: readonly Route[] = [
  listed({
    method: "GET",
    path: "/subscriptions/{id}/configs",
    operationId: "listSubscriptionConfigs",
    group: "Subscriptions",
    summary: "List the configurations of a subscription, the fastest first",
    description: "An addition of ours. Their links are not in it.",
    scope: "project",
    params: subscriptionIdParams,
    query: configsQuery,
    responses: { 200: shape("subscriptionConfigs") },
    refusals: ["invalidSubscriptionId", "subscriptionNotFound"],
    handle: configs,
  }),
];
