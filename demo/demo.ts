/**
 * The demo: local targets of every kind that needs nothing installed, watched by monitors that are created through the API like
 * any others, so that results can be seen in the first minute.
 */
import { relative } from "node:path";
import { type Client, connect, type IncidentRow, type MonitorRow } from "../cli/client.ts";
import { monitorTable } from "../cli/commands/monitors.ts";
import type { Config } from "../config.ts";
import { uptimeKinds } from "../engine/contract/registry.ts";
import { standardPlans } from "../model/plan.ts";
import { askingMonitors } from "./asked.ts";
import { type DemoData, markDemoFolder } from "./data-folder.ts";
import { type DemoKind, type DemoTargets, startTargets } from "./targets.ts";

const LOOPBACK = "127.0.0.1";
/** Marks the demo's monitors, so that the next demo in its own folder replaces them. */
const TAG = "demo";
/** Between two looks, ms. */
const LOOK_MS = 2_000;
/** The job's sign of life, ms. */
const PUSH_MS = 10_000;
/** Seconds instead of minutes, because a user is watching. */
const INTERVAL_S = 2;

/** Kinds with a monitor of their own. */
const demoKinds = uptimeKinds.filter((one): one is DemoKind => !one.isPassive && one.demo !== null);

export interface DemoService {
  readonly url: string;
  readonly ownerKey: string | null;
  readonly projectId: number | null;
}

export interface Demo {
  /** The operator's settings with the targets' ports opened in the guard. */
  readonly config: Config;
  /**
   * Creates the monitors and shows them until the demo is closed.
   * @param page how the page is reached, as the start said it: the table is drawn over that
   */
  watch(service: DemoService, page: string): Promise<void>;
  close(): Promise<void>;
}

export async function startDemo({ config, isOwn }: DemoData): Promise<Demo> {
  const targets = await startTargets(demoKinds);
  const timers: NodeJS.Timeout[] = [];
  let removeMonitors = async (): Promise<void> => {};
  return {
    config: {
      ...config,
      allowNets: [...config.allowNets, ...openings(targets)],
      extraCaPem: [config.extraCaPem, targets.authorityPem].filter((pem) => pem !== null).join("\n"),
      plans: standardPlans("off"),
    },
    async watch(service, page) {
      const client = await connect({
        url: service.url,
        key: service.ownerKey,
        project: `prj_${service.projectId ?? 1}`,
      });
      const created: string[] = [];
      if (isOwn) {
        markDemoFolder(config);
        await removeOld(client);
      } else removeMonitors = async () => removeAll(client, created);
      const heartbeatUrl = await createMonitors(client, targets, created);
      const push = (): void => void fetch(`${heartbeatUrl}?ping=12`).catch(() => {});
      push();
      timers.push(setInterval(push, PUSH_MS), setInterval(createLook(client, headOf(page, config.dataDir)), LOOK_MS));
    },
    async close() {
      for (const timer of timers) clearInterval(timer);
      await removeMonitors().catch((error: unknown) =>
        process.stderr.write(`demo: its monitors stay: ${textOf(error)}\n`),
      );
      await targets.close();
    },
  };
}

/** Only these ports of loopback; port 0 is ping, which has none. */
function openings(targets: DemoTargets): readonly string[] {
  const ports = new Set([...targets.ports, 0]);
  return [...ports].map((port) => `${LOOPBACK}/32:${port}`);
}

async function removeOld(client: Client): Promise<void> {
  const { servers } = await client.get<{ servers: (MonitorRow & { tags: string[] })[] }>("/servers", {
    family: "all",
    limit: 1000,
  });
  const old = servers.filter(({ tags }) => tags.includes(TAG));
  await removeAll(
    client,
    old.map(({ id }) => id),
  );
}

async function removeAll(client: Client, ids: readonly string[]): Promise<void> {
  for (const id of ids) await client.remove(`/servers/${id}`);
}

/**
 * @param created takes each id as soon as it is known
 * @returns the address that the demo's job calls
 */
async function createMonitors(client: Client, targets: DemoTargets, created: string[]): Promise<string> {
  const often = { interval: INTERVAL_S, timeout: 10, tags: [TAG] };
  const bodies = [
    ...demoKinds.map(({ kind, demo }) => ({
      ...{ type: kind, name: demo.name, ...often },
      ...demo.settings({ host: LOOPBACK, port: targets.portOf(kind) }),
    })),
    { type: "http", name: "Flapping site", url: `http://${LOOPBACK}:${targets.flappingPort}/`, ...often },
    { type: "http", name: "Hanging site", url: `http://${LOOPBACK}:${targets.hangingPort}/`, ...often },
    {
      type: "http",
      name: "Expiring certificate",
      url: `https://${LOOPBACK}:${targets.expiringPort}/`,
      ssl_expiration: 7,
      ...often,
    },
  ];
  for (const body of bodies) created.push((await client.post<MonitorRow>("/servers", body)).id);
  const job = await client.post<{ id: string; heartbeat_url: string }>("/servers", {
    type: "push",
    name: "Nightly job",
    period: 60,
    tags: [TAG],
  });
  created.push(job.id);
  const { asked, apiPort, ownPort } = targets;
  const places = { host: LOOPBACK, apiPort, ownPort, dnsPort: targets.portOf("dns") };
  for (const body of askingMonitors(asked, places))
    created.push((await client.post<MonitorRow>("/servers", { ...body, ...often })).id);
  return job.heartbeat_url;
}

/**
 * Draws over itself on a terminal; elsewhere a line for each monitor whose status changed.
 * @param head lines that stay above the table
 */
function createLook(client: Client, head: string): () => void {
  const isTerminal = process.stdout.isTTY === true;
  const shown = new Map<string, string>();
  let isLooking = false;
  return () => {
    if (isLooking) return;
    isLooking = true;
    look(client)
      .then(({ monitors, incidents }) => {
        if (isTerminal) process.stdout.write(`\u001b[H\u001b[2J${screen(client.url, head, monitors, incidents)}\n`);
        else for (const line of changedLines(monitors, incidents, shown)) process.stdout.write(`${line}\n`);
      })
      .catch((error: unknown) => process.stderr.write(`demo: ${textOf(error)}\n`))
      .finally(() => {
        isLooking = false;
      });
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function look(client: Client): Promise<{ monitors: readonly MonitorRow[]; incidents: readonly IncidentRow[] }> {
  const { servers } = await client.get<{ servers: MonitorRow[] }>("/servers", {
    family: "all",
    explain: 1,
    limit: 1000,
  });
  const { incidents } = await client.get<{ incidents: IncidentRow[] }>("/incidents", { status: "active" });
  return { monitors: servers, incidents };
}

function headOf(page: string, dataDir: string): string {
  const folder = relative(process.cwd(), dataDir);
  return `${page}\nIn a second terminal: SONDE_DATA_DIR=${folder.startsWith("..") ? dataDir : folder} npx sonde results`;
}

function screen(url: string, head: string, monitors: readonly MonitorRow[], incidents: readonly IncidentRow[]): string {
  const words = `Sonde at ${url}/api/v1 · ${monitors.length} monitors · ${incidents.length} open incidents · Ctrl-C stops`;
  return `${words}\n${head}\n${monitorTable(monitors, incidents)}`;
}

function changedLines(
  monitors: readonly MonitorRow[],
  incidents: readonly IncidentRow[],
  shown: Map<string, string>,
): readonly string[] {
  const open = new Set(incidents.map((incident) => incident.server_id));
  return monitors.flatMap((monitor) => {
    const state = `${monitor.status}${open.has(monitor.id) ? ", incident open" : ""}`;
    if (shown.get(monitor.id) === state) return [];
    shown.set(monitor.id, state);
    const latency = monitor.latency_ms === null ? "" : ` in ${monitor.latency_ms} ms`;
    const late =
      monitor.lateness_ms === null || monitor.lateness_ms === undefined ? "" : `, ${monitor.lateness_ms} ms late`;
    return [
      `${monitor.last_checked ?? "not checked yet"}  ${monitor.name} (${monitor.protocol}): ${state}${latency}${late}`,
    ];
  });
}
