/**
 * The demo: local targets of every kind, of which share links alone need something installed, watched by monitors that are created through the
 * API like any others, so that results can be seen in the first minute.
 */
import { relative } from "node:path";
import { type Client, connect, type IncidentRow, type MonitorRow } from "../cli/client.ts";
import { monitorTable } from "../cli/commands/monitors.ts";
import type { Config } from "../config.ts";
import { uptimeKinds } from "../engine/contract/registry.ts";
import { standardPlans } from "../model/plan.ts";
import { type DemoData, markDemoFolder } from "./data-folder.ts";
import { startLinks } from "./links.ts";
import { DemoMonitors, openings, type Watched } from "./monitors.ts";
import { type DemoKind, startTargets } from "./targets.ts";
import { startTunnels } from "./tunnels/index.ts";

/** Between two looks, ms. */
const LOOK_MS = 2_000;
/** The job's sign of life, ms. */
const PUSH_MS = 10_000;

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
  const tunnels = await startTunnels();
  const links = await startLinks(config.cores);
  const watched: Watched = { kinds: demoKinds, targets, tunnels, links };
  const timers: NodeJS.Timeout[] = [];
  let removeMonitors = async (): Promise<void> => {};
  return {
    config: {
      ...config,
      allowNets: [...config.allowNets, ...openings(watched)],
      verifyUrls: links === null ? config.verifyUrls : [...(config.verifyUrls ?? []), links.verifyUrl],
      extraCaPem: [config.extraCaPem, targets.authorityPem].filter((pem) => pem !== null).join("\n"),
      plans: standardPlans("off"),
    },
    async watch(service, page) {
      const client = connect({
        url: service.url,
        key: service.ownerKey,
        project: `prj_${service.projectId ?? 1}`,
      });
      const monitors = new DemoMonitors(client);
      if (isOwn) {
        markDemoFolder(config);
        await monitors.removeOld();
      } else removeMonitors = () => monitors.remove();
      const heartbeatUrl = await monitors.create(watched);
      const push = (): void => void fetch(`${heartbeatUrl}?ping=12`).catch(() => {});
      push();
      timers.push(setInterval(push, PUSH_MS), setInterval(createLook(client, headOf(page, config.dataDir)), LOOK_MS));
    },
    async close() {
      for (const timer of timers) clearInterval(timer);
      await removeMonitors().catch((error: unknown) =>
        process.stderr.write(`demo: its monitors stay: ${textOf(error)}\n`),
      );
      await Promise.all([targets.close(), links?.close(), ...tunnels.map((tunnel) => tunnel.close())]);
    },
  };
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
