/** The service as tests of the whole want it: intervals of a second, no request limits, no canaries, loopback open, a client at hand. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../testkit/temporary-folder.ts";
import { clientOf, type MonitorBody, type TestClient } from "./client.ts";
import { eventually, type RunningService, type ServiceSettings, startService } from "./service.ts";

export interface Product extends RunningService {
  readonly key: string;
  readonly api: TestClient;
}

export interface ProductSettings extends ServiceSettings {
  /** Beside intervals of a second and no limits. */
  readonly plan?: Readonly<Record<string, unknown>>;
  /** What starts it; one process that is everything when absent. */
  readonly start?: (settings: ServiceSettings) => Promise<RunningService>;
}

/** The environment without what a test says itself. */
export function productEnv(plan: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  const plans = join(temporaryFolder(), "plans.json");
  const unlimited = { requestsPerMinute: null, requestsPerDay: null, requestsPerMonth: null };
  writeFileSync(plans, JSON.stringify({ business: { ...unlimited, shortestIntervalS: 1, ...plan } }));
  return {
    SONDE_LIMITS: "contract",
    SONDE_PLANS: plans,
    SONDE_CANARIES: "",
    SONDE_ALLOW_NETS: "127.0.0.0/8,::1/128",
    SONDE_LOG: "warn",
  };
}

export async function startProduct(settings: ProductSettings = {}): Promise<Product> {
  const { plan, env, start = startService, ...rest } = settings;
  const service = await start({ ...rest, env: { ...productEnv(plan), ...env } });
  const key = service.firstKey ?? readFileSync(join(service.dataDir, "owner.key"), "utf8").trim();
  return { ...service, key, api: clientOf(service.url, key) };
}

/** Creates a monitor and answers its id. */
export async function createMonitor(api: TestClient, body: Readonly<Record<string, unknown>>): Promise<string> {
  const { status, body: created } = await api.post<MonitorBody>("/servers", body);
  if (status !== 200) throw new Error(`${JSON.stringify(body)} was answered ${status}: ${JSON.stringify(created)}`);
  return created.id;
}

/** Waits until the monitor is as wanted. */
export function untilMonitor(
  api: TestClient,
  id: string,
  wanted: (monitor: MonitorBody) => boolean,
  withinMs?: number,
): Promise<MonitorBody> {
  return eventually(async () => {
    const { body } = await api.get<MonitorBody>(`/servers/${id}`);
    return wanted(body) ? body : undefined;
  }, withinMs);
}

export function untilStatus(api: TestClient, id: string, status: string, withinMs?: number): Promise<MonitorBody> {
  return untilMonitor(api, id, (monitor) => monitor.status === status, withinMs);
}
