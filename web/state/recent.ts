/** What the table of monitors shows of rows in view beyond what is known of all: their latest checks and their uptime, asked for when scrolling rests. */
import { signal } from "@preact/signals";
import { client, data } from "../api/client.ts";
import { type Recent, recentFrom } from "./recent-checks.ts";

/** Checks that the answer has of each; the service keeps a hundred. */
const CHECKS = 100;
/** Of one request. */
const MOST_IDS = 100;
/** What is older is asked for again, ms. */
const FRESH_MS = { checks: 15_000, uptime: 300_000 } as const;
/** More are not kept. */
const MOST_KEPT = 2_000;
const NONE = { ids: "", limit: CHECKS } as const;

type What = "checks" | "uptime";

const checks = new Map<string, Recent>();
const uptimes = new Map<string, number | null>();
const askedAtMs: Record<What, Map<string, number>> = { checks: new Map(), uptime: new Map() };
/** Grows whenever something has come. */
const arrived = signal(0);
/** Of which project they are. */
let ofProject = "";

export function recentOf(id: string): Recent | undefined {
  arrived.value;
  return checks.get(id);
}

/** @returns percent in 30 days; null: nothing was watched; undefined: not known yet */
export function uptimeOf(id: string): number | null | undefined {
  arrived.value;
  return uptimes.get(id);
}

/** Asks for what is not known, or no longer fresh. What cannot be had stays away: the table is whole without it. */
export async function wantRecent(what: What, project: string, ids: readonly string[], nowMs: number): Promise<void> {
  if (project !== ofProject || askedAtMs[what].size > MOST_KEPT) forget(project);
  const asked = askedAtMs[what];
  const wanted = ids
    .filter((id) => nowMs - (asked.get(id) ?? Number.NEGATIVE_INFINITY) >= FRESH_MS[what])
    .slice(0, MOST_IDS);
  if (wanted.length === 0) return;
  for (const id of wanted) asked.set(id, nowMs);
  try {
    if (what === "checks") await readChecks(wanted.join(","), project);
    else await readUptimes(wanted.join(","), project);
    arrived.value++;
  } catch {
    for (const id of wanted) asked.delete(id);
  }
}

function forget(project: string): void {
  ofProject = project;
  for (const map of [checks, uptimes, askedAtMs.checks, askedAtMs.uptime]) map.clear();
}

async function readChecks(ids: string, project: string): Promise<void> {
  const { servers } = await data(client.GET("/results/recent", { params: { query: { ...NONE, ids } } }));
  if (project !== ofProject) return;
  for (const [id, { status, latency_ms }] of Object.entries(servers)) checks.set(id, recentFrom(status, latency_ms));
}

async function readUptimes(ids: string, project: string): Promise<void> {
  const { servers } = await data(client.GET("/days", { params: { query: { ids, days: 1 } } }));
  if (project !== ofProject) return;
  for (const [id, { uptime }] of Object.entries(servers)) uptimes.set(id, uptime["30d"]);
}
