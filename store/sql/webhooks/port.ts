/** Webhooks: where a project sends its events, and the log of what was sent. */
import type { EventType } from "../../../model/event.ts";
import type { AttemptJudgement, DeliveryState, OffReason } from "../../../model/webhook.ts";
import type { ToSeal } from "../schema/seal-new.ts";

export interface WebhookRecord {
  readonly id: number;
  readonly projectId: number;
  /** Scheme and host: the rest is a password in most services. */
  readonly url: string;
  /** null: every type, those of later versions included. */
  readonly events: readonly EventType[] | null;
  readonly active: boolean;
  readonly offReason: OffReason | null;
  readonly offAtMs: number | null;
  /** Unix ms of its first failure since its last success. */
  readonly failingSinceMs: number | null;
  readonly lastSuccessAtMs: number | null;
  readonly createdAtMs: number;
}

export interface WebhookAttempt {
  readonly atMs: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
}
export interface WebhookDelivery {
  readonly id: number;
  /** The `webhook-id` of each of its attempts. */
  readonly eventId: string;
  readonly type: EventType;
  readonly state: DeliveryState;
  readonly createdAtMs: number;
  readonly endedAtMs: number | null;
  readonly nextAttemptAtMs: number | null;
  /** Oldest first. */
  readonly attempts: readonly WebhookAttempt[];
}

/** What an editor changes. */
export interface WebhookChange {
  readonly events?: readonly EventType[] | null;
  /** As it is shown; with it comes `urlSealed`. */
  readonly url?: string;
  readonly urlSealed?: string | null;
}

/** Secrets come sealed. */
export interface NewWebhook {
  readonly projectId: number;
  /** As it is shown; in clear where `urlSealed` is absent. */
  readonly url: string;
  readonly urlSealed?: ToSeal;
  readonly events: readonly EventType[] | null;
  readonly secretSealed: ToSeal;
  readonly nowMs: number;
}

export interface Webhooks {
  /** Undefined when there is no such project. */
  create(input: NewWebhook): Promise<WebhookRecord | undefined>;
  /** @param most of the project */
  createWithin(most: number, input: NewWebhook): Promise<WebhookRecord | "full" | undefined>;
  find(id: number): Promise<WebhookRecord | undefined>;
  /** Oldest first; undefined when there is no such project. */
  list(projectId: number): Promise<readonly WebhookRecord[] | undefined>;
  update(id: number, change: WebhookChange): Promise<WebhookRecord | undefined>;
  /** The previous secret also signs until then. @returns undefined when the webhook is gone */
  rotate(id: number, secretSealed: string, oldUntilMs: number): Promise<WebhookRecord | undefined>;
  /** Switching it off cancels its waiting deliveries; switching it on clears its failures. */
  setActive(id: number, active: boolean, nowMs: number): Promise<WebhookRecord | undefined>;
  /** Deletes the webhook with its deliveries. @returns false when it was not there */
  remove(id: number): Promise<boolean>;
  /** Sends `webhook.test` to this webhook only. @returns false when it is not there, or off */
  test(id: number, nowMs: number): Promise<boolean>;
  /** Newest first. */
  deliveries(id: number, limit: number): Promise<readonly WebhookDelivery[]>;
}

/** A delivery whose time has come, with what is needed to send it. */
export interface DueDelivery {
  readonly id: number;
  readonly webhookId: number;
  readonly projectId: number;
  readonly eventId: string;
  readonly body: string;
  readonly attempts: number;
  readonly url: string;
  /** The whole address; it counts while `url` is what is shown of it (Monitor.urlSealed). */
  readonly urlSealed: string | null;
  /** Newest first: each signs. */
  readonly secretsSealed: readonly string[];
}

export interface EndedAttempt extends WebhookAttempt {
  readonly deliveryId: number;
  readonly webhookId: number;
  /** From 0 to 1, for the jitter. */
  readonly random: number;
}

/** The result of an attempt, for the log and for metrics. */
export interface RecordedAttempt extends AttemptJudgement {
  readonly deliveryId: number;
  readonly webhookId: number;
}

/** The sender's side. Each write asserts the epoch of its lease and rejects with a LeaseLost when another took it. */
export interface Outgoing {
  /** Turns the oldest events into deliveries, one for each webhook that wants them. @returns how many events it took */
  fanOut(epoch: number, options: { limit: number; nowMs: number }): Promise<number>;
  /**
   * Deliveries whose time has come, at most `perWebhook` of each, the longest waiting webhooks first.
   * @param options.failing only those of webhooks whose last attempt failed, or only those of the others
   * @param options.except webhooks that have no place free
   */
  due(options: {
    nowMs: number;
    failing: boolean;
    perWebhook: number;
    webhooks: number;
    except: readonly number[];
  }): Promise<readonly DueDelivery[]>;
  /** Writes the log, the new states of the delivery and the webhook, and the incident's entry, in one transaction. */
  record(epoch: number, ended: readonly EndedAttempt[]): Promise<readonly RecordedAttempt[]>;
  /** Ends the deliveries of projects that were switched off. */
  cancelOrphans(epoch: number, nowMs: number): Promise<void>;
  /** When something is to be done next, Unix ms, by what is committed: 0 while an event waits or deliveries are to be ended; null: nothing waits. */
  nextAtMs(): Promise<number | null>;
  /** Number of deliveries that wait, for metrics. */
  pending(): Promise<number>;
}
