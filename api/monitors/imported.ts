/** The subscription block of an imported monitor (docs/api-contract.md#monitors, #subscriptions). */
import { familyOf } from "../../model/kind.ts";
import type { Monitor } from "../../model/monitor.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { ConfigResult, ImportedConfig, ImportedServer } from "../../store/sql/monitors/imports-port.ts";
import type { MonitorWithLive } from "../../store/sql/monitors/port.ts";

const NEVER_TESTED: Omit<ConfigResult, "atMs"> = {
  success: false,
  totalMs: 0,
  error: "",
  errorCategory: "",
  publicIp: "",
  engineUsed: "",
  exitCountry: "",
};

export function viewImported(
  { subscriptionId, locations }: Pick<Monitor, "subscriptionId" | "locations">,
  server: ImportedServer,
): Record<string, unknown> {
  const configs = server.configs.map((config) => viewConfig(config, locations));
  return {
    subscription_url_id: subscriptionId === null ? null : String(subscriptionId),
    server_address: server.serverAddress,
    server_name: server.serverName,
    config_count: server.configCount,
    healthy_count: configs.filter((config) => config.success).length,
    configs,
  };
}

function viewConfig({ tag, type, server, port, results }: ImportedConfig, locations: readonly string[]) {
  const tested = Object.entries(results).filter(([location]) => locations.includes(location));
  const latest = tested.map(([, result]) => result).sort((a, b) => b.atMs - a.atMs)[0];
  return {
    tag,
    type,
    server,
    port,
    ...viewResult(latest ?? NEVER_TESTED),
    region_results: Object.fromEntries(tested.map(([location, result]) => [location, viewResult(result)])),
  };
}

function viewResult(result: Omit<ConfigResult, "atMs">) {
  return {
    success: result.success,
    total_ms: result.totalMs,
    error: result.error,
    error_category: result.errorCategory,
    public_ip: result.publicIp,
    engine_used: result.engineUsed,
  };
}

/** What subscriptions say of those of the monitors that were imported. */
export async function importsOf(
  controlPlane: ControlPlane,
  rows: readonly MonitorWithLive[],
): Promise<ReadonlyMap<number, ImportedServer>> {
  const tunnels = rows.filter(({ monitor }) => familyOf(monitor.kind) === "tunnel");
  return tunnels.length === 0 ? new Map() : controlPlane.imports.of(tunnels.map(({ monitor }) => monitor.id));
}
