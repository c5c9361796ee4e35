/** What handlers work with: the stores, the settings and the caches of one running API. */
import type { BoundedMap } from "../model/bounded-map.ts";
import type { Log } from "../model/log.ts";
import type { MaybePromise } from "../model/maybe-promise.ts";
import type { OidcSettings } from "../model/oidc-settings.ts";
import type { PlanTable } from "../model/plan.ts";
import type { SendToChannel } from "../scheduler/alerts/channels/channel.ts";
import type { RecentResults } from "../store/recent/recent-results.ts";
import type { ResultStore } from "../store/results/result-store.ts";
import type { Sealing } from "../store/sealed-text.ts";
import type { ControlPlane } from "../store/sql/control-plane/port.ts";
import type { Warning } from "../store/sql/coordination/shards-port.ts";
import type { Checks } from "../store/state/checks.ts";
import type { State } from "../store/state/state.ts";
import type { AuthCache } from "./auth-cache.ts";
import type { LinkLists } from "./checks/link-lists.ts";
import type { KeptAnswers } from "./kept-answers.ts";
import type { KnownMonitors } from "./known-monitors.ts";
import type { LiveHub } from "./live/hub.ts";
import type { ListPages } from "./monitors/list-pages.ts";
import type { MonitorCache } from "./monitors/monitor-cache.ts";
import type { Targets } from "./monitors/targets.ts";
import type { OidcProvider, ProviderFetch } from "./oidc/provider.ts";
import type { Overviews } from "./overview/overviews.ts";
import type { PublicPages } from "./pages/public-pages.ts";
import type { ProjectNames } from "./project-names.ts";
import type { ProjectPages } from "./project-pages.ts";
import type { Pressure, ReadGate } from "./read-gate.ts";
import type { RequestMetrics } from "./request-metrics.ts";
import type { CookieRules } from "./session-cookie.ts";
import type { Site } from "./site.ts";
import type { Streams } from "./streams.ts";
import type { Texts } from "./texts/texts.ts";

/** What a health question asks. */
export interface ApiHealth {
  database(): Promise<void>;
  queue(): Promise<void>;
  /** What the operator should look at although everything works: words of a closed list. Absent: nothing ever. */
  warnings?(): readonly Warning[];
}

export interface ApiConfig {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Without a trailing slash; null: from host and port. */
  readonly baseUrl: string | null;
  readonly docsUrl: string | null;
  readonly metricsToken: string | null;
  /** Monitors that have series of their own in the metrics; absent: none. */
  readonly monitorMetrics?: number;
  /** Addresses or networks (`cidr`) whose forwarded header is believed. */
  readonly trustedProxies: readonly string[];
  readonly plans: PlanTable;
  /** Our own reader on node:net, or node:http. */
  readonly httpServer: "net" | "node";
  /** SONDE_WEB: whether the page is served where it was built. Absent: it is not. */
  readonly hasPage?: boolean;
  /** Where the built page is; absent: where the build puts it. */
  readonly siteFolder?: string;
  /** SONDE_STATUS_INDEX: whether `/status` lists public pages. Absent: it does not. */
  readonly hasStatusIndex?: boolean;
  /** SONDE_REVEAL_LINKS: whether Owners and Admins get the share links of subscriptions. Absent: they do not. */
  readonly revealsLinks?: boolean;
  /** The provider of identities that people sign in at, with SONDE_BASE_URL; absent: none. */
  readonly oidc?: OidcSettings | null;
  /** SONDE_MAX_STREAMS: answers that go on, at one time. */
  readonly maxStreams?: number;
  /** SONDE_ALLOW_NETS: opens private networks for monitors. */
  readonly allowNets: readonly string[];
  /** SONDE_PUBLIC_ALLOW_NETS: the same for /check/public, whose callers are anonymous. */
  readonly publicAllowNets: readonly string[];
  /** What the newest results may take in memory, bytes; absent: the standard. */
  readonly recentBytes?: number;
  /** Our own listeners and stores, `ip:port`: refused as targets whatever allowNets says. */
  readonly ownEndpoints: readonly string[];
  /** An OwnBoard's memory: what else listens on our behalf at this moment; absent: nothing. */
  readonly ownBoard?: SharedArrayBuffer;
  /** SONDE_RESOLVERS: asked about names that callers send; empty: the servers of resolv.conf. */
  readonly resolvers?: readonly string[];
}

/** What the API writes to. */
export interface ApiLog extends Log {
  isLevelEnabled(level: string): boolean;
}

export interface RegionState {
  /** `any` or a lowercase two-letter country. */
  readonly code: string;
  readonly healthyCheckers: number;
  /** Absent: what is known is how many there are. */
  readonly machines?: readonly CheckerMachine[];
}

/** A process that checks from a location, as its operator sees it. */
export interface CheckerMachine {
  readonly name: string;
  readonly version: string;
  /** Gets runs: it reports, its clock is right, it is not leaving. */
  readonly isHealthy: boolean;
  /** Trusts its own measurements. */
  readonly isFit: boolean;
  /** Why not; empty when fit. */
  readonly reasons: readonly string[];
  /** Its clock minus the queue's, ms. */
  readonly clockOffsetMs: number;
  readonly running: number;
  readonly room: number;
  /** Unix ms by the queue's clock. */
  readonly seenAtMs: number;
}

export interface ApiDependencies {
  readonly config: ApiConfig;
  readonly controlPlane: ControlPlane;
  readonly state: State;
  /** Asks checkers to run one-off checks. */
  readonly checks: Checks;
  readonly results: ResultStore;
  readonly sealing: Sealing;
  /** Unix ms. */
  readonly clock: { now(): number };
  readonly log: ApiLog;
  readonly version: string;
  /** Resolve when well, reject when not; asked at most once a second. */
  readonly health: ApiHealth;
  /** Prometheus text. */
  readonly metrics: () => Promise<string>;
  readonly regions: () => Promise<readonly RegionState[]>;
  /** Why results are late or away, in words for people; null when all is well. */
  readonly storeCondition: () => string | null;
  /** Sends a message, for tests of a channel: one attempt past the address guard. */
  readonly sendToChannel: SendToChannel;
  readonly linkLists: LinkLists;
  /** Reads long texts of callers on a thread of its own; absent: on this one, in steps. */
  readonly texts?: Texts;
  /** Of checks that this process schedules; absent: it schedules none, and no read is refused for them. */
  readonly pressure?: Pressure;
  /** Asks the provider of identities past the address guard; absent where there is none. */
  readonly providerFetch?: ProviderFetch;
  /** Addresses of a name; rejects or stays empty when it has none. By default the system's resolver. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
}

export interface Api extends Omit<ApiDependencies, "results" | "texts"> {
  readonly texts: Texts;
  /** The newest from memory, the others from the result store. */
  readonly results: RecentResults;
  readonly projectNames: ProjectNames;
  readonly targets: Targets;
  /** For /check/public. */
  readonly publicTargets: Targets;
  /** Aborts when the API stops: calls that wait answer what is known by then. */
  readonly closing: AbortSignal;
  readonly plans: PlanTable;
  readonly authCache: AuthCache;
  readonly monitorCache: MonitorCache;
  readonly listPages: ListPages;
  readonly knownMonitors: KnownMonitors;
  readonly projectPages: ProjectPages;
  readonly overviews: Overviews;
  readonly live: LiveHub;
  readonly streams: Streams;
  /** Status pages as readers see them. */
  readonly pages: PublicPages;
  /** The page; null: there is none, or it is switched off. */
  readonly site: Site | null;
  /** When each key was last used, waiting to be written. */
  readonly uses: Map<number, number>;
  /** When sessions were last seen, by id: those of this process, and those that wait to be written. */
  readonly seen: { readonly latest: BoundedMap<number, number>; readonly unwritten: Map<number, number> };
  readonly cookie: CookieRules;
  /** null: none is set up. */
  readonly oidc: OidcProvider | null;
  readonly startedAtMs: number;
  readonly requests: RequestMetrics;
  readonly reads: ReadGate;
  readonly keptAnswers: KeptAnswers;
  /** What serves. */
  httpServer: "net" | "node";
  /** Known once the port is known. */
  readonly baseUrl: () => string;
  /** The OpenAPI document as text. */
  readonly document: { json(): MaybePromise<string>; yaml(): MaybePromise<string> };
}
