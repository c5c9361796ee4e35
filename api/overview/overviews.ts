/**
 * Overviews of projects, kept for a second: every open page of a project asks for the same. What only changes with the control plane's
 * generation is read, and written as JSON, once for each generation; what checks move is read anew.
 */
import { BoundedMap } from "../../model/bounded-map.ts";
import { formatIso } from "../../model/time.ts";
import { Slices } from "../../store/slices.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { ExpiringCertificate, OverviewMonitor, OverviewState } from "../../store/sql/monitors/overview-port.ts";
import { fixedColumns, liveColumns, type StatusCounts, wordOf } from "./columns.ts";

/** How old what is answered may be, ms. */
const KEPT_MS = 1_000;
/** How often the schedulers' reports are read, ms; they write one every 3 s. */
const SERVICE_KEPT_MS = 2_000;
/** How old the list of what expires may be, ms: certificates last for months. */
const EXPIRING_KEPT_MS = 10_000;
/** What ends later is left out. */
const EXPIRING_MS = 30 * 86_400_000;
const MOST_EXPIRING = 20;
/** Bounds memory: with ten thousand monitors a project takes about 5 MB. */
const MOST_PROJECTS = 32;

export interface OverviewsOptions {
  readonly controlPlane: Pick<ControlPlane, "generation" | "overview" | "shards">;
  /** Why results are late or away, in words for people; null when all is well. */
  readonly storeCondition: () => string | null;
}

/** Of one moment. */
export interface Overview {
  /** The answer, JSON. */
  readonly text: string;
  readonly monitors: number;
  readonly activeIncidents: number;
  /** Counted when they are asked for. */
  tags(): readonly TagCount[];
}

export interface TagCount {
  readonly tag: string;
  readonly servers: number;
  readonly down: number;
  readonly degraded: number;
}

interface Fixed {
  readonly generation: number;
  readonly monitors: readonly OverviewMonitor[];
  /** Members of the answer, without the braces. */
  readonly json: string;
}

interface Kept {
  readonly atMs: number;
  readonly overview: Promise<Overview>;
}

interface KeptExpiring {
  readonly atMs: number;
  readonly read: Promise<readonly ExpiringCertificate[]>;
}

interface Service {
  readonly silent: number;
  readonly spoolRows: number;
}

export class Overviews {
  readonly #options: OverviewsOptions;
  readonly #fixed = new BoundedMap<number, Fixed>(MOST_PROJECTS);
  readonly #kept = new BoundedMap<number, Kept>(MOST_PROJECTS);
  readonly #expiring = new BoundedMap<number, KeptExpiring>(MOST_PROJECTS);
  #service: { readonly atMs: number; readonly read: Promise<Service> } | null = null;

  constructor(options: OverviewsOptions) {
    this.#options = options;
  }

  /** At most a second old; callers that ask while it is made get the same. @param nowMs Unix ms */
  of(projectId: number, nowMs: number): Promise<Overview> {
    const kept = this.#kept.use(projectId);
    if (kept !== undefined && nowMs >= kept.atMs && nowMs - kept.atMs < KEPT_MS) return kept.overview;
    const made: Kept = { atMs: nowMs, overview: this.#make(projectId, nowMs) };
    this.#kept.set(projectId, made);
    // One that failed is made again for the next caller.
    made.overview.catch(() => {
      if (this.#kept.get(projectId) === made) this.#kept.delete(projectId);
    });
    return made.overview;
  }

  /** The next caller gets what is true from now on. */
  drop(projectId: number): void {
    this.#kept.delete(projectId);
  }

  async #make(projectId: number, nowMs: number): Promise<Overview> {
    const { overview } = this.#options.controlPlane;
    const slices = new Slices();
    const fixed = await this.#fixedOf(projectId, slices);
    const states = await overview.states(projectId);
    await slices.rest();
    const [incidents, service, expiring] = await Promise.all([
      overview.openIncidents(projectId),
      this.#serviceAt(nowMs),
      this.#expiringAt(projectId, nowMs),
    ]);
    await slices.rest();
    const byId = new Map(states.map((state) => [state.monitorId, state]));
    const live = liveColumns(fixed.monitors, byId, nowMs);
    await slices.rest();
    const moving = JSON.stringify({
      at: formatIso(nowMs),
      counts: live.counts,
      incidents,
      service: {
        late_p99_ms: live.lateP99Ms,
        silent: service.silent,
        spool_rows: service.spoolRows,
        condition: this.#options.storeCondition(),
      },
      expiring: expiring.map(({ monitorId, expiresAtMs }) => ({
        what: "certificate",
        id: monitorId,
        expires_at: formatIso(expiresAtMs),
      })),
      status: live.status,
      latency_ms: live.latencyMs,
      checked_s: live.checkedS,
      since_s: live.sinceS,
    });
    const [monitors, activeIncidents] = [fixed.monitors.length, incidents.active];
    const text = `${moving.slice(0, -1)},${fixed.json}}`;
    return { text, monitors, activeIncidents, tags: () => tagCounts(fixed.monitors, byId, nowMs) };
  }

  async #fixedOf(projectId: number, slices: Slices): Promise<Fixed> {
    const { controlPlane } = this.#options;
    // Read first: what is changed in between is read once more next time.
    const generation = await controlPlane.generation();
    const known = this.#fixed.use(projectId);
    if (known?.generation === generation) return known;
    const monitors = await controlPlane.overview.monitors(projectId);
    await slices.rest();
    const subscriptions = await controlPlane.overview.subscriptions(projectId);
    const { intervalS, ...others } = fixedColumns(monitors, subscriptions);
    await slices.rest();
    const json = JSON.stringify({ ...others, interval_s: intervalS }).slice(1, -1);
    const fixed = { generation, monitors, json };
    this.#fixed.set(projectId, fixed);
    await slices.rest();
    return fixed;
  }

  #expiringAt(projectId: number, nowMs: number): Promise<readonly ExpiringCertificate[]> {
    const known = this.#expiring.use(projectId);
    if (known !== undefined && nowMs >= known.atMs && nowMs - known.atMs < EXPIRING_KEPT_MS) return known.read;
    const read = this.#options.controlPlane.overview.expiring(projectId, nowMs + EXPIRING_MS, MOST_EXPIRING);
    const kept: KeptExpiring = { atMs: nowMs, read };
    this.#expiring.set(projectId, kept);
    read.catch(() => {
      if (this.#expiring.get(projectId) === kept) this.#expiring.delete(projectId);
    });
    return read;
  }

  /** Of the whole service. */
  #serviceAt(nowMs: number): Promise<Service> {
    const known = this.#service;
    if (known !== null && nowMs >= known.atMs && nowMs - known.atMs < SERVICE_KEPT_MS) return known.read;
    const read = this.#readService();
    this.#service = { atMs: nowMs, read };
    read.catch(() => {
      this.#service = null;
    });
    return read;
  }

  async #readService(): Promise<Service> {
    const { schedulers } = await this.#options.controlPlane.shards.view();
    let [silent, spoolRows] = [0, 0];
    for (const { report } of schedulers) {
      silent += report.silentMonitors;
      spoolRows += report.spoolRows;
    }
    return { silent, spoolRows };
  }
}

/** By tag. */
function tagCounts(
  monitors: readonly OverviewMonitor[],
  states: ReadonlyMap<number, OverviewState>,
  nowMs: number,
): readonly TagCount[] {
  const counts = new Map<string, { servers: number; down: number; degraded: number }>();
  for (const monitor of monitors) {
    if (monitor.tags.length === 0) continue;
    const word: keyof StatusCounts = wordOf(monitor, states.get(monitor.id) ?? { status: "unknown" }, nowMs);
    for (const tag of new Set(monitor.tags)) {
      const count = counts.get(tag) ?? { servers: 0, down: 0, degraded: 0 };
      count.servers += 1;
      if (word === "down" || word === "degraded") count[word] += 1;
      counts.set(tag, count);
    }
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([tag, count]) => ({ tag, ...count }));
}
