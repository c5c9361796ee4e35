/**
 * Syncs of subscriptions: takes requested and due ones, asks their providers, and writes the results. Limits: one at a time per
 * subscription, a few per project, a bounded number of all. A sync that fails on our side stays open and is tried again.
 */
import { hash } from "node:crypto";
import type { Logger } from "pino";
import { plainText } from "../../engine/classify.ts";
import type { ServerList } from "../../engine/subscription/list.ts";
import type { KnownAnswer, ProviderAnswer } from "../../engine/subscription/provider.ts";
import { ProviderError } from "../../engine/subscription/provider.ts";
import type { PlanTable } from "../../model/plan.ts";
import type { ControlPlane } from "../../store/sql/control-plane.ts";
import type { OpenSyncJob } from "../../store/sql/ports/jobs.ts";
import type { SubscriptionRecord } from "../../store/sql/ports/subscriptions.ts";
import type { ListFacts, SyncOutcome } from "../../store/sql/ports/syncs.ts";
import type { LeaseKeeper } from "../alerts/lease.ts";
import { FairTurns } from "./fair-turns.ts";
import type { Listed } from "./listed.ts";
import type { ListAddress, RestingLists } from "./resting-lists.ts";

/** Providers asked at the same time; nearly all of it is waiting. */
const PLACES = 16;
/** Limit of one project, so that its hanging providers leave room for others. */
const PLACES_OF_PROJECT = 4;
/** Limit of one workspace: the rest is kept for others, however many projects it has. */
const PLACES_OF_WORKSPACE = 12;
/** Rows of one look. */
const LOOK_ROWS = 500;
/** After a fault of ours a sync is tried again this much later, ms. */
const RETRY_MS = 5_000;
/** Answers in memory; beyond it all are requested again. */
const MOST_KNOWN = 10_000;

export interface SyncerOptions {
  readonly controlPlane: Pick<ControlPlane, "jobs" | "subscriptions" | "syncs">;
  readonly lease: Pick<LeaseKeeper, "keep" | "asserting">;
  readonly plans: PlanTable;
  /** Opens a subscription's address. */
  readonly openUrl: (subscriptionId: number, sealed: string) => string;
  /** @throws ProviderError */
  readonly ask: (
    url: string,
    known: KnownAnswer | null,
    inTurn: InTurn,
    signal: AbortSignal,
  ) => Promise<ProviderAnswer>;
  /** Makes a list ready for the store. */
  readonly listed: (list: ServerList, projectId: number) => Promise<Listed>;
  readonly nowMs: () => number;
  readonly monotonicNowMs: () => number;
  /** Our own network counts as cut: nothing is asked, and silence is no provider's failure (docs/decisions/0003-whose-fault.md). */
  readonly isCut: () => boolean;
  readonly log: Logger;
  /** Monitors have changed. */
  readonly onMonitors: () => void;
  /** A sync has ended: there may be a place for the next. */
  readonly onEnded: () => void;
  /** The list that is being read, reported in case it makes the thread die; null: none. */
  readonly onReading: (list: ListAddress | null) => void;
  /** Lists that were too expensive to read before. */
  readonly resting: Pick<RestingLists, "refusal">;
}

/** Heavy work, one piece at a time: lists of megabytes are in memory once. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export interface Syncer {
  /** Starts waiting syncs. */
  turn(): Promise<void>;
  /** Starts no more syncs, ends running ones, and resolves when they have ended. */
  stop(): Promise<void>;
  readonly counts: Readonly<Record<SyncResult, number>>;
  readonly inFlight: number;
}

type SyncResult = "success" | "unchanged" | "failed" | "dropped";

/** A provider's last answer, by the address that was asked. */
interface Remembered {
  readonly urlSealed: string;
  readonly known: KnownAnswer;
  readonly facts: ListFacts;
}

export function createSyncer(options: SyncerOptions): Syncer {
  const { controlPlane, lease, log, nowMs } = options;
  const running = new Map<
    number,
    Pick<OpenSyncJob, "projectId" | "organizationId"> & { readonly ended: Promise<void> }
  >();
  /** Syncs that met a fault of ours, and when they may be tried again. */
  const resting = new Map<number, number>();
  const remembered = new Map<number, Remembered>();
  const counts: Record<SyncResult, number> = { success: 0, unchanged: 0, failed: 0, dropped: 0 };
  const stopping = new AbortController();
  const turns = new FairTurns(options.monotonicNowMs);

  function inTurnOf(list: ListAddress): InTurn {
    return (work) =>
      turns.run(list.workspaceId, async () => {
        options.onReading(list);
        try {
          return await work();
        } finally {
          options.onReading(null);
        }
      });
  }

  async function outcomeOf(
    subscription: SubscriptionRecord,
  ): Promise<{ outcome: SyncOutcome; next: Remembered | null }> {
    const { id, projectId, urlSealed } = subscription;
    const url = options.openUrl(id, urlSealed);
    const list = { workspaceId: subscription.organizationId, subscriptionId: id, addressHash: hash("sha256", url) };
    const refusal = options.resting.refusal(list, nowMs());
    if (refusal !== undefined) return { outcome: { kind: "failed", message: refusal }, next: null };
    const before = remembered.get(id);
    const known = before?.urlSealed === urlSealed ? before : undefined;
    const inTurn = inTurnOf(list);
    try {
      const answer = await options.ask(url, known?.known ?? null, inTurn, stopping.signal);
      if (answer.kind === "unchanged" && known !== undefined) {
        return { outcome: { kind: "unchanged", ...known.facts }, next: known };
      }
      if (answer.kind === "unchanged") throw new ProviderError("The provider says that nothing has changed, unasked.");
      const { servers, unsupported } = await inTurn(() => options.listed(answer.list, projectId));
      const { badCount, bad } = answer.list;
      const [first] = bad;
      const firstBad = first === undefined ? null : { at: first.at, reason: plainText(first.reason) };
      const facts = { badCount, firstBad, unsupported };
      return { outcome: { kind: "list", servers, ...facts }, next: { urlSealed, known: answer.known, facts } };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      if (!error.hasAnswered && options.isCut()) throw new Error("our own network is cut", { cause: error });
      return { outcome: { kind: "failed", message: error.message }, next: null };
    }
  }

  function remember(id: number, next: Remembered | null): void {
    remembered.delete(id);
    if (next === null) return;
    if (remembered.size >= MOST_KNOWN) remembered.clear();
    remembered.set(id, next);
  }

  async function sync(job: OpenSyncJob, epoch: number): Promise<void> {
    const subscription = await controlPlane.subscriptions.recall(job.subscriptionId);
    // Its job was deleted with it, or waits for the next start.
    if (subscription === undefined || stopping.signal.aborted) return;
    const { id, urlSealed } = subscription;
    const { outcome, next } = subscription.enabled
      ? await outcomeOf(subscription)
      : { outcome: { kind: "unchanged", badCount: 0, firstBad: null, unsupported: {} } as const, next: null };
    // A sync that a stop cancelled says nothing about the provider.
    if (stopping.signal.aborted) return;
    const end = { job, urlSealed, outcome, plans: options.plans, atMs: nowMs() };
    const report = await lease.asserting(() => controlPlane.syncs.end(epoch, end));
    const status = report.subscription?.lastSyncStatus;
    // When a server was left out, the next list is read even if it is the same.
    remember(id, status === "success" && report.leftOut === 0 ? next : null);
    counts[
      status === undefined
        ? "dropped"
        : status !== "success"
          ? "failed"
          : outcome.kind === "unchanged"
            ? "unchanged"
            : "success"
    ]++;
    const { created, changed, paused, resumed, leftOut } = report;
    if (created + changed + paused + resumed > 0) options.onMonitors();
    const facts = { subscription: id, status, created, changed, paused, resumed, leftOut };
    if (status === "failed" || status === "auto_disabled") {
      log.warn({ ...facts, reason: report.subscription?.syncErrorMessage }, "a subscription's sync failed");
    } else log.debug(facts, "a subscription was synchronised");
  }

  function start(job: OpenSyncJob, epoch: number): void {
    const ended = sync(job, epoch)
      .catch((error: unknown) => {
        if (stopping.signal.aborted) return;
        resting.set(job.id, nowMs() + RETRY_MS);
        log.error({ err: error, subscription: job.subscriptionId }, "a sync met a fault of ours and is tried again");
      })
      .finally(() => {
        running.delete(job.id);
        options.onEnded();
      });
    running.set(job.id, { projectId: job.projectId, organizationId: job.organizationId, ended });
  }

  function mayStart(job: OpenSyncJob): boolean {
    if (running.has(job.id) || running.size >= PLACES) return false;
    if ((resting.get(job.id) ?? 0) > nowMs()) return false;
    let ofProject = 0;
    let ofWorkspace = 0;
    for (const { projectId, organizationId } of running.values()) {
      if (projectId === job.projectId) ofProject++;
      if (organizationId === job.organizationId) ofWorkspace++;
    }
    return ofProject < PLACES_OF_PROJECT && ofWorkspace < PLACES_OF_WORKSPACE;
  }

  return {
    async turn() {
      const epoch = await lease.keep();
      if (epoch === undefined || stopping.signal.aborted) return;
      await lease.asserting(() => controlPlane.syncs.queueDue(epoch, nowMs(), LOOK_ROWS));
      if (options.isCut()) return;
      const open = await controlPlane.jobs.openSyncs(LOOK_ROWS);
      const known = new Set(open.map(({ id }) => id));
      for (const id of resting.keys()) if (!known.has(id)) resting.delete(id);
      for (const job of open) if (mayStart(job)) start(job, epoch);
    },
    async stop() {
      stopping.abort();
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
    counts,
    get inFlight() {
      return running.size;
    },
  };
}
