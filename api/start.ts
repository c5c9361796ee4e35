/** Starts the API on the server that loads here, and stops it without losing an answer. */
import { createNameLookup } from "../engine/contract/registry.ts";
import { BoundedMap } from "../model/bounded-map.ts";
import { hostInUrl } from "../model/url.ts";
import { parseBatch } from "../store/recent/batch.ts";
import { RecentResults } from "../store/recent/recent-results.ts";
import { RECENT_BYTES, RecentRows } from "../store/recent/recent-rows.ts";
import type { Api, ApiDependencies } from "./api.ts";
import { createApp } from "./app.ts";
import { WORDS } from "./apply/words.ts";
import { type AuthCache, createAuthCache } from "./auth-cache.ts";
import { publishedDocument } from "./document/published.ts";
import { routes } from "./endpoints/index.ts";
import type { HttpServer } from "./http.ts";
import { KeptAnswers } from "./kept-answers.ts";
import { KnownMonitors } from "./known-monitors.ts";
import { LiveHub } from "./live/hub.ts";
import { ListPages } from "./monitors/list-pages.ts";
import { createMonitorCache } from "./monitors/monitor-cache.ts";
import { createTargets } from "./monitors/targets.ts";
import { OidcProvider } from "./oidc/provider.ts";
import { Overviews } from "./overview/overviews.ts";
import { PublicPages } from "./pages/public-pages.ts";
import { createProjectNames } from "./project-names.ts";
import { ProjectPages } from "./project-pages.ts";
import { ReadGate } from "./read-gate.ts";
import { createRequestMetrics } from "./request-metrics.ts";
import { listenNet } from "./server.ts";
import { listenNode } from "./server-node.ts";
import { cookieRules } from "./session-cookie.ts";
import { readSite } from "./site.ts";
import { createStreams, DEFAULT_MAX_STREAMS } from "./streams.ts";
import { textsHere } from "./texts/steps.ts";

/** Keys whose uses are known. Beyond it the oldest are forgotten, and written once more. */
const MAX_SEEN = 10_000;
const USES_WRITTEN_EVERY_MS = 10_000;

export interface RunningApi {
  /** Where it listens, `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly port: number;
  readonly server: HttpServer["kind"];
  close(): Promise<void>;
}

export interface StartOptions {
  readonly bodyTimeoutMs?: number;
  readonly answerTimeoutMs?: number;
  readonly stallTimeoutMs?: number;
  readonly lingerMs?: number;
  readonly drainTimeoutMs?: number;
}

const TIMEOUTS = {
  /** A body is here by then, or its connection ends. */
  bodyTimeoutMs: 10_000,
  /** The greatest answers are of a few megabytes: a reader that takes 100 kB a second has them by then. */
  answerTimeoutMs: 60_000,
  stallTimeoutMs: 30_000,
  /** How long a stop leaves kept connections open, ms. Short: the default is for a single process. */
  lingerMs: 250,
  /** POST /test may wait 75 s (docs/api-contract.md#tests); longer than that nothing is in flight. */
  drainTimeoutMs: 80_000,
} as const satisfies Required<StartOptions>;

/** @throws ListenError with one line that says what to do when the port cannot be had */
export async function startApi(dependencies: ApiDependencies, options: StartOptions = {}): Promise<RunningApi> {
  const { config, controlPlane } = dependencies;
  let url = "";
  const baseUrl = (): string => config.baseUrl ?? url;
  const resolve = dependencies.resolve ?? createNameLookup(config.resolvers ?? []);
  const stopping = new AbortController();
  const authCache = createAuthCache(controlPlane);
  const api: Api = {
    ...dependencies,
    texts: dependencies.texts ?? textsHere(WORDS),
    plans: config.plans,
    authCache,
    ...readsOf(dependencies, authCache),
    monitorCache: createMonitorCache(authCache),
    ...openShown(dependencies, stopping.signal),
    targets: createTargets({ ...config, resolve }),
    publicTargets: createTargets({ ...config, allowNets: config.publicAllowNets, resolve }),
    closing: stopping.signal,
    site: config.hasPage === true ? await readSite(config.siteFolder) : null,
    ...callersOf(dependencies),
    startedAtMs: dependencies.clock.now(),
    baseUrl,
    httpServer: config.httpServer,
    document: publishedDocument(routes, () => ({
      baseUrl: baseUrl(),
      docsUrl: config.docsUrl ?? `${baseUrl()}/docs`,
      version: dependencies.version,
    })),
  };
  const listen = config.httpServer === "node" ? listenNode : listenNet;
  const server = await listen({
    host: config.host,
    port: config.port,
    handle: createApp(api, routes),
    ...TIMEOUTS,
    ...options,
  });
  url = `http://${hostInUrl(config.host)}:${server.port}`;
  let closing: Promise<void> | null = null;
  const stopLooking = [api.streams.watch(), api.reads.watch()];
  const writing = setInterval(() => void writeUses(api), USES_WRITTEN_EVERY_MS).unref();

  return {
    url,
    port: server.port,
    server: server.kind,
    close() {
      closing ??= stop();
      return closing;
    },
  };

  async function stop(): Promise<void> {
    clearInterval(writing);
    for (const stopOne of stopLooking) stopOne();
    stopping.abort();
    await server.close();
    await writeUses(api);
  }
}

/** What is remembered of callers. */
function callersOf(dependencies: ApiDependencies) {
  const { maxStreams, baseUrl } = dependencies.config;
  const reads = new ReadGate(dependencies.pressure ?? null);
  return {
    reads,
    requests: createRequestMetrics(reads),
    streams: createStreams(maxStreams ?? DEFAULT_MAX_STREAMS),
    uses: new Map<number, number>(),
    seen: { latest: new BoundedMap<number, number>(MAX_SEEN), unwritten: new Map<number, number>() },
    cookie: cookieRules(baseUrl),
    oidc: providerOf(dependencies),
  };
}

/** @returns null where none is set up */
function providerOf({ config, providerFetch }: ApiDependencies): OidcProvider | null {
  const { oidc, baseUrl } = config;
  if (oidc === undefined || oidc === null || baseUrl === null || providerFetch === undefined) return null;
  return new OidcProvider(oidc, { baseUrl, fetch: providerFetch, monotonicNowMs: () => performance.now() });
}

/** What lists of results and of monitors are made of. */
function readsOf(
  dependencies: ApiDependencies,
  authCache: AuthCache,
): Pick<Api, "results" | "projectNames" | "knownMonitors" | "listPages" | "projectPages" | "keptAnswers"> {
  const { monitors } = dependencies.controlPlane;
  const results = openRecent(dependencies);
  const newestSeq = (id: number): number | undefined => results.rows.monitor(id)?.newestSeq;
  return {
    results,
    projectNames: createProjectNames(monitors, authCache),
    knownMonitors: new KnownMonitors({ auth: authCache, rows: results.rows, catchUp: dependencies.state.rows.catchUp }),
    listPages: new ListPages({ monitors, auth: authCache, newestSeq }),
    keptAnswers: new KeptAnswers(() => authCache.generation()),
    projectPages: new ProjectPages({ auth: authCache, version: () => results.rows.version }),
  };
}

/** Rows of checks come from the schedulers, in this process or in others, until the state is closed. */
function openRecent({ config, results, state, clock, log }: ApiDependencies): RecentResults {
  const rows = new RecentRows({ maxBytes: config.recentBytes ?? RECENT_BYTES, nowMs: () => clock.now() });
  let isSaid = false;
  const onText = (text: string): void => {
    const batch = parseBatch(text);
    if (batch !== undefined) {
      rows.take(batch);
      return;
    }
    rows.missed();
    if (!isSaid) log.warn({}, "a batch of results cannot be read: the result store is asked instead");
    isSaid = true;
  };
  state.rows.subscribe(onText, () => rows.missed());
  return new RecentResults(results, rows);
}

/** What pages ask and follow. @param stopping ends what runs for them */
function openShown(dependencies: ApiDependencies, stopping: AbortSignal): Pick<Api, "overviews" | "live" | "pages"> {
  const overviews = new Overviews(dependencies);
  const live = new LiveHub({ ...dependencies, overviews, nowMs: () => dependencies.clock.now() });
  stopping.addEventListener("abort", () => live.close(), { once: true });
  const pages = new PublicPages({ ...dependencies, nowMs: () => dependencies.clock.now() });
  return { overviews, live, pages };
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
}

async function writeUses(api: Api): Promise<void> {
  const uses = new Map(api.uses);
  api.uses.clear();
  const seen = new Map(api.seen.unwritten);
  api.seen.unwritten.clear();
  try {
    await api.controlPlane.keys.touch(uses);
    await api.controlPlane.sessions.touch(seen);
  } catch (error) {
    api.log.warn({ reason: firstLine(error) }, "last uses of keys and sessions could not be written");
  }
}
