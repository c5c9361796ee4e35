/**
 * Syncs of subscriptions: takes requested and due ones, asks their providers, and writes the results. Limits: one at a time per
 * subscription, a few per project, a bounded number of all. A sync that fails on our side stays open and is tried again.
 */
import { hash } from "node:crypto";
import type { Logger } from "pino";
import { plainText } from "../../engine/net/classify.ts";
import type { ServerList } from "../../engine/subscription/list.ts";
import { type KnownAnswer, type ProviderAnswer, ProviderError } from "../../engine/subscription/provider.ts";
import { BoundedMap } from "../../model/bounded-map.ts";
import type { PlanTable } from "../../model/plan.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { OpenSyncJob } from "../../store/sql/jobs/port.ts";
import type { SubscriptionRecord } from "../../store/sql/subscriptions/port.ts";
import type { ListFacts, SyncOutcome, SyncReport } from "../../store/sql/subscriptions/syncs-port.ts";
import type { Clocks } from "../clock.ts";
import type { LeaseKeeper } from "../lease.ts";
import { FairTurns } from "./fair-turns.ts";
import type { Listed } from "./listed.ts";
import type { ListAddress, RestingLists } from "./resting-lists.ts";

/** Providers asked at the same time; nearly all of the time is waiting. */
const PLACES = 16;
/** Limit of one project, so that its hanging providers leave room for others. */
const PLACES_OF_PROJECT = 4;
/** Limit of one workspace: the rest is kept for others, however many projects it has. */
const PLACES_OF_WORKSPACE = 12;
/** Jobs that one turn reads. */
const LOOK_ROWS = 500;
/** After a fault of ours a sync is tried again this much later, ms. */
const RETRY_MS = 5_000;
/** Answers in memory; the list of one that was dropped is requested whole. */
const MOST_KNOWN = 10_000;

/** Where lists come from, and what is made of them. */
export interface Lists {
  /** Opens a subscription's address. */
  openUrl(subscriptionId: number, sealed: string): string;
  /** @throws ProviderError */
  ask(url: string, known: KnownAnswer | null, inTurn: InTurn, signal: AbortSignal): Promise<ProviderAnswer>;
  /** Makes a list ready for the store. */
  listed(list: ServerList, projectId: number): Promise<Listed>;
}

/** What the syncer says to the process. */
export interface SyncEvents {
  /** Monitors have changed. */
  onMonitors(): void;
  /** A sync has ended: there may be a place for the next. */
  onEnded(): void;
  /** The list that is being read, reported in case it makes the thread die; null: none. */
  onReading(list: ListAddress | null): void;
}

export interface SyncerOptions {
  readonly controlPlane: Pick<ControlPlane, "jobs" | "subscriptions" | "syncs">;
  readonly lease: Pick<LeaseKeeper, "keep" | "asserting">;
  readonly lists: Lists;
  /** While our own network counts as cut, nothing is asked, and silence is no provider's failure (docs/decisions/0003-whose-fault.md). */
  readonly network: { isCut(): boolean };
  /** Lists that were too expensive to read before. */
  readonly resting: Pick<RestingLists, "refusal">;
  readonly plans: PlanTable;
  readonly clocks: Clocks;
  readonly log: Logger;
  readonly events: SyncEvents;
}

/** Heavy work, one piece at a time: lists of megabytes are in memory once. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

type SyncResult = "success" | "unchanged" | "failed" | "dropped";

/** A provider's last answer, by the address that was asked. */
interface Remembered {
  readonly urlSealed: string;
  readonly known: KnownAnswer;
  readonly facts: ListFacts;
}

/** What a provider answered, and what is remembered of the answer. */
interface Answered {
  readonly outcome: SyncOutcome;
  readonly next: Remembered | null;
}

/** A sync under way. */
interface RunningSync extends Pick<OpenSyncJob, "projectId" | "organizationId"> {
  readonly ended: Promise<void>;
}

const UNCHANGED = { kind: "unchanged", badCount: 0, firstBad: null, unsupported: {} } as const;

export class Syncer {
  readonly #options: SyncerOptions;
  readonly #turns: FairTurns;
  readonly #running = new Map<number, RunningSync>();
  /** Syncs that met a fault of ours, and when they may be tried again, by job. */
  readonly #retryAtMs = new Map<number, number>();
  readonly #remembered = new BoundedMap<number, Remembered>(MOST_KNOWN);
  readonly #counts: Record<SyncResult, number> = { success: 0, unchanged: 0, failed: 0, dropped: 0 };
  readonly #stopping = new AbortController();

  constructor(options: SyncerOptions) {
    this.#options = options;
    this.#turns = new FairTurns(() => options.clocks.monotonicNowMs());
  }

  /** Syncs that have ended since the start, by outcome. */
  get counts(): Readonly<Record<SyncResult, number>> {
    return this.#counts;
  }

  get inFlight(): number {
    return this.#running.size;
  }

  /** Starts waiting syncs. */
  async turn(): Promise<void> {
    const { controlPlane, lease, network } = this.#options;
    const epoch = await lease.keep();
    if (epoch === undefined || this.#stopping.signal.aborted) return;
    await lease.asserting(() => controlPlane.syncs.queueDue(epoch, this.#nowMs(), LOOK_ROWS));
    if (network.isCut()) return;
    const open = await controlPlane.jobs.openSyncs(LOOK_ROWS);
    const known = new Set(open.map(({ id }) => id));
    for (const id of this.#retryAtMs.keys()) if (!known.has(id)) this.#retryAtMs.delete(id);
    for (const job of open) if (this.#mayStart(job)) this.#start(job, epoch);
  }

  #mayStart(job: OpenSyncJob): boolean {
    if (this.#running.has(job.id) || this.#running.size >= PLACES) return false;
    if ((this.#retryAtMs.get(job.id) ?? 0) > this.#nowMs()) return false;
    let ofProject = 0;
    let ofWorkspace = 0;
    for (const { projectId, organizationId } of this.#running.values()) {
      if (projectId === job.projectId) ofProject++;
      if (organizationId === job.organizationId) ofWorkspace++;
    }
    return ofProject < PLACES_OF_PROJECT && ofWorkspace < PLACES_OF_WORKSPACE;
  }

  #start(job: OpenSyncJob, epoch: number): void {
    const { log, events } = this.#options;
    const ended = this.#sync(job, epoch)
      .catch((error: unknown) => {
        if (this.#stopping.signal.aborted) return;
        this.#retryAtMs.set(job.id, this.#nowMs() + RETRY_MS);
        log.error({ err: error, subscription: job.subscriptionId }, "a sync met a fault of ours and is tried again");
      })
      .finally(() => {
        this.#running.delete(job.id);
        events.onEnded();
      });
    this.#running.set(job.id, { projectId: job.projectId, organizationId: job.organizationId, ended });
  }

  async #sync(job: OpenSyncJob, epoch: number): Promise<void> {
    const { controlPlane, lease, plans } = this.#options;
    const subscription = await controlPlane.subscriptions.recall(job.subscriptionId);
    // The subscription is gone and its job with it, or this process stops and the job waits for the next start.
    if (subscription === undefined || this.#stopping.signal.aborted) return;
    const { outcome, next } = subscription.enabled
      ? await this.#answered(subscription)
      : { outcome: UNCHANGED, next: null };
    // A sync that a stop cancelled says nothing about the provider.
    if (this.#stopping.signal.aborted) return;
    const end = { job, urlSealed: subscription.urlSealed, outcome, plans, atMs: this.#nowMs() };
    const report = await lease.asserting(() => controlPlane.syncs.end(epoch, end));
    const isSuccess = report.subscription?.lastSyncStatus === "success";
    // When a server was left out, the next list is read even if it is the same.
    this.#remember(subscription.id, isSuccess && report.leftOut === 0 ? next : null);
    this.#counts[resultOf(report, outcome)]++;
    this.#say(subscription.id, report);
  }

  async #answered(subscription: SubscriptionRecord): Promise<Answered> {
    const { lists, network, resting } = this.#options;
    const { id, urlSealed } = subscription;
    const url = lists.openUrl(id, urlSealed);
    const list = { workspaceId: subscription.organizationId, subscriptionId: id, addressHash: hash("sha256", url) };
    const refusal = resting.refusal(list, this.#nowMs());
    if (refusal !== undefined) return { outcome: { kind: "failed", message: refusal }, next: null };
    try {
      return await this.#ask(url, subscription, this.#inTurn(list));
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      if (!error.hasAnswered && network.isCut()) throw new Error("our own network is cut", { cause: error });
      return { outcome: { kind: "failed", message: error.message }, next: null };
    }
  }

  /** @throws ProviderError */
  async #ask(url: string, { id, projectId, urlSealed }: SubscriptionRecord, inTurn: InTurn): Promise<Answered> {
    const { lists } = this.#options;
    const before = this.#remembered.get(id);
    const known = before?.urlSealed === urlSealed ? before : undefined;
    const answer = await lists.ask(url, known?.known ?? null, inTurn, this.#stopping.signal);
    if (answer.kind === "unchanged" && known !== undefined) {
      return { outcome: { kind: "unchanged", ...known.facts }, next: known };
    }
    if (answer.kind === "unchanged") throw new ProviderError("The provider says that nothing has changed, unasked.");
    const { servers, unsupported } = await inTurn(() => lists.listed(answer.list, projectId));
    const { badCount, bad } = answer.list;
    const [first] = bad;
    const firstBad = first === undefined ? null : { at: first.at, reason: plainText(first.reason) };
    const facts = { badCount, firstBad, unsupported };
    return { outcome: { kind: "list", servers, ...facts }, next: { urlSealed, known: answer.known, facts } };
  }

  #inTurn(list: ListAddress): InTurn {
    const { events } = this.#options;
    return (work) =>
      this.#turns.run(list.workspaceId, async () => {
        events.onReading(list);
        try {
          return await work();
        } finally {
          events.onReading(null);
        }
      });
  }

  #remember(id: number, next: Remembered | null): void {
    this.#remembered.delete(id);
    if (next !== null) this.#remembered.set(id, next);
  }

  #say(subscriptionId: number, report: SyncReport): void {
    const { events, log } = this.#options;
    const { created, changed, paused, resumed, leftOut } = report;
    if (created + changed + paused + resumed > 0) events.onMonitors();
    const status = report.subscription?.lastSyncStatus;
    const facts = { subscription: subscriptionId, status, created, changed, paused, resumed, leftOut };
    if (status === "failed" || status === "auto_disabled") {
      log.warn({ ...facts, reason: report.subscription?.syncErrorMessage }, "a subscription's sync failed");
    } else log.debug(facts, "a subscription was synchronised");
  }

  /** Starts no more syncs, ends running ones, and resolves when they have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  #nowMs(): number {
    return this.#options.clocks.wallNowMs();
  }
}

function resultOf({ subscription }: SyncReport, outcome: SyncOutcome): SyncResult {
  const status = subscription?.lastSyncStatus;
  if (status === undefined) return "dropped";
  if (status !== "success") return "failed";
  return outcome.kind === "unchanged" ? "unchanged" : "success";
}
