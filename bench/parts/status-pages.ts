/** A status page of ten thousand monitors by selector: what making it costs, and how often a thread hands it out from memory. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Api } from "../../api/api.ts";
import { createApp } from "../../api/app.ts";
import { statuses } from "../../api/endpoints/status.ts";
import type { ApiAnswer, ApiRequest } from "../../api/http.ts";
import { PublicPages } from "../../api/pages/public-pages.ts";
import { newSecrets, sealedSecrets } from "../../api/pages/secrets.ts";
import { createRequestMetrics } from "../../api/request-metrics.ts";
import { SYSTEM_ACTOR } from "../../model/actor.ts";
import { newLiveState } from "../../model/live.ts";
import { MONITOR_DEFAULTS } from "../../model/monitor.ts";
import { NEW_PAGE } from "../../model/status-page.ts";
import { openSealing } from "../../store/sealing/sealing.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { chunksOf } from "../../store/sql/db/bulk.ts";
import type { SinkBatch } from "../../store/sql/sink/port.ts";
import { conditions } from "./conditions.ts";
import { Stalls } from "./stalls.ts";

const MONITORS = 10_000;
const LINES = 12;
const REQUESTS = 200_000;
/** Of one address in a minute, below the gate's limit. */
const PER_ADDRESS = 100;
const MAKINGS = 10;
/** One of so many monitors was down, so often in the page's ninety days. */
const FAILING = 3;
const OUTAGES = 4;
const DAY_MS = 86_400_000;
const DAYS = 90;
/** Rows of one transaction of the sink. */
const AT_ONCE = 500;

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sonde-bench-"));
  const controlPlane = await openControlPlane({ file: join(folder, "sonde.db") }, { role: "api" });
  try {
    const sealing = openSealing({ keyFile: join(folder, "sealing.key"), createIfMissing: true });
    await fill(controlPlane, (id) => sealedSecrets(sealing, id, newSecrets()));
    const pages = new PublicPages({ controlPlane, sealing, nowMs: () => Date.now(), log: { warn: () => {} } });
    console.log(
      `\nstatus page of ${MONITORS} monitors in ${LINES} lines by selector\n  ${conditions()}; SQLite, in one process`,
    );
    await making(pages);
    await handing(pages);
  } finally {
    await controlPlane.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(controlPlane: ControlPlane, accessSealed: (id: number) => string): Promise<void> {
  const nowMs = Date.now();
  const names = { email: "bench@test-site.org", userName: "b", workspaceName: "b", projectName: "b" };
  const ids = await controlPlane.accounts.createFirst({ ...names, plan: "business", nowMs });
  const base = {
    ...MONITOR_DEFAULTS,
    ...ids,
    kind: "ping" as const,
    settings: { host: "a.test-site.org" },
    intervalS: 60,
    timeoutS: 10,
    maxRetries: 1,
    pauseReasons: [],
    pausedAtMs: null,
    host: "a.test-site.org",
    sslExpirationDays: null,
    domainExpirationDays: null,
    graceS: null,
    subscriptionId: null,
    heartbeatToken: null,
    nowMs: nowMs - DAYS * DAY_MS,
  };
  const made: number[] = [];
  for (let n = 0; n < MONITORS; n++) {
    const monitor = { ...base, name: `tunnel ${n}`, tags: [`region ${n % LINES}`] };
    made.push((await controlPlane.monitors.create(monitor, SYSTEM_ACTOR)).id);
  }
  await live(controlPlane, made, nowMs);
  const groups = Array.from({ length: LINES }, (_, n) => ({
    title: `Region ${n}`,
    open: "always" as const,
    components: [{ servers: { tags: [`region ${n}`] }, title: `Tunnels ${n}`, text: "", merge: "share" as const }],
  }));
  const page = { ...NEW_PAGE, slug: "bench", title: "Bench", published: true, groups };
  await controlPlane.statusPages.create({ projectId: ids.projectId, page, badgeName: "bench", accessSealed, nowMs });
}

/** All of them were checked, and some were down now and then. */
async function live(controlPlane: ControlPlane, ids: readonly number[], nowMs: number): Promise<void> {
  let appliedSeq = 0;
  const apply = async (batch: Partial<SinkBatch>): Promise<void> => {
    appliedSeq += 1;
    await controlPlane.sink.apply({
      ...{ spool: "bench", appliedSeq, live: [], drainedInboxIds: [], incidents: [] },
      ...batch,
    });
  };
  const healthy = { status: "healthy", statusSinceMs: nowMs - DAYS * DAY_MS, lastCheckedAtMs: nowMs } as const;
  for (const some of chunksOf(ids, AT_ONCE))
    await apply({ live: some.map((id) => ({ ...newLiveState(id), ...healthy })) });
  const failing = ids.filter((_, n) => n % FAILING === 0);
  const why = { message: "refused", category: "server_not_connected" as const, locations: ["any"] };
  for (let n = 0; n < OUTAGES; n++) {
    const fromMs = nowMs - DAYS * DAY_MS + (n + 0.5) * (DAYS / OUTAGES) * DAY_MS;
    for (const some of chunksOf(failing, AT_ONCE)) {
      const open = { type: "open", atMs: fromMs, startedAtMs: fromMs, level: "down", ...why } as const;
      await apply({ incidents: some.map((monitorId) => ({ ...open, monitorId })) });
      await apply({ incidents: some.map((monitorId) => ({ type: "close", monitorId, atMs: fromMs + 600_000 })) });
    }
  }
}

async function making(pages: PublicPages): Promise<void> {
  const stalls = new Stalls();
  const first = await timed(stalls, () => pages.of("bench"));
  const times: Timed[] = [];
  for (let n = 0; n < MAKINGS; n++) {
    pages.drop("bench");
    times.push(await timed(stalls, () => pages.of("bench")));
  }
  times.sort((one, other) => one.ms - other.ms);
  const median = times[MAKINGS / 2];
  console.log(
    `  made in ${wordOf(first)}; then, once in ten seconds, in ${median === undefined ? "" : wordOf(median)} (median of ${MAKINGS})`,
  );
}

interface Timed {
  readonly ms: number;
  readonly longestMs: number;
  readonly longestOfProcessorMs: number;
}

async function timed(stalls: Stalls, work: () => unknown): Promise<Timed> {
  stalls.longestMs = 0;
  stalls.longestOfProcessorMs = 0;
  const startedAt = performance.now();
  await stalls.watch(async () => void (await work()));
  const { longestMs, longestOfProcessorMs } = stalls;
  return { ms: performance.now() - startedAt, longestMs, longestOfProcessorMs };
}

function wordOf({ ms, longestMs, longestOfProcessorMs }: Timed): string {
  return `${ms.toFixed(0)} ms, the thread kept at most ${longestMs.toFixed(0)} ms (${longestOfProcessorMs.toFixed(0)} ms of it at work)`;
}

/** By the application itself, without a socket. */
async function handing(pages: PublicPages): Promise<void> {
  const api = {
    pages,
    config: { baseUrl: null, trustedProxies: ["127.0.0.1"] },
    clock: { now: () => Date.now() },
    log: { debug() {}, info() {}, warn() {}, error: console.error, isLevelEnabled: () => false },
    requests: createRequestMetrics(),
    baseUrl: () => "http://127.0.0.1:8080",
  } as unknown as Api;
  const handle = createApp(api, statuses);
  for (const [round, acceptEncoding] of ["", "gzip"].entries()) {
    // Addresses that the round before did not use.
    const firstOf = (round + 1) * REQUESTS;
    const first = await handle(requestOf(round, acceptEncoding));
    const bytes = "body" in first ? first.body.length : 0;
    const times = new Float64Array(REQUESTS);
    const startedAt = performance.now();
    for (let n = 0; n < REQUESTS; n++) {
      const before = performance.now();
      const answer: ApiAnswer = await handle(requestOf(firstOf + n, acceptEncoding));
      times[n] = performance.now() - before;
      if (!("status" in answer) || answer.status !== 200) throw new Error("the page was not answered");
    }
    const perSecond = REQUESTS / ((performance.now() - startedAt) / 1_000);
    const p99 = times.sort()[Math.floor(REQUESTS * 0.99)] ?? 0;
    const coding = acceptEncoding === "" ? "plain" : acceptEncoding;
    console.log(
      `  ${coding.padEnd(6)} ${bytes} bytes: ${perSecond.toFixed(0)} requests/s of one thread, p99 ${(p99 * 1_000).toFixed(0)} µs`,
    );
  }
}

function requestOf(n: number, acceptEncoding: string): ApiRequest {
  const address = Math.floor(n / PER_ADDRESS);
  return {
    method: "GET",
    path: "/status/bench",
    query: "",
    apiKey: "",
    authorization: "",
    projectId: "",
    forwardedFor: `10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`,
    isProxied: true,
    ifNoneMatch: "",
    acceptEncoding,
    idempotencyKey: null,
    cookie: "",
    origin: "",
    host: "127.0.0.1:8080",
    secFetchSite: "",
    page: "",
    userAgent: "bench",
    acceptLanguage: "",
    remoteAddress: "127.0.0.1",
    body: null,
  };
}
