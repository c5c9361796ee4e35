/** Alerts: rules and quiet hours, groups that are reported together, and messages on their way to channels. */
import type { SayReason } from "../../../model/alerting.ts";
import type { NotificationState } from "../../../model/alerting-delivery.ts";
import type { AlertEvent, AlertMonitor, AlertRule, AlertSeverity } from "../../../model/alerting-rule.ts";
import type { QuietHours } from "../../../model/quiet-hours.ts";
import type { OpenableChannel } from "./channels-port.ts";

/** A list that is written as a whole. */
export interface Versioned<Item> {
  /** Counts the writings; 0: it was never written. */
  readonly version: number;
  readonly items: readonly Item[];
}

/** @param id of one that is there already; null: it is new */
export type Draft<Item> = Omit<Item, "id"> & { readonly id: number | null };

export interface AlertSettings {
  /** In their order; none: the default rule counts. */
  rules(projectId: number): Promise<Versioned<AlertRule>>;
  /**
   * Replaces the list. Removed rules govern the groups that they began until those are over, without reminders and further steps.
   * @returns `moved`: the version is another by now, or quiet hours that a rule names are gone; `unknown`: an id is no rule of the project
   */
  writeRules(
    projectId: number,
    version: number,
    rules: readonly Draft<AlertRule>[],
    nowMs: number,
  ): Promise<Versioned<AlertRule> | "moved" | "unknown">;
  quietHours(projectId: number): Promise<Versioned<QuietHours>>;
  /** `used`: a rule names one that would be gone. */
  writeQuietHours(
    projectId: number,
    version: number,
    quietHours: readonly Draft<QuietHours>[],
  ): Promise<Versioned<QuietHours> | "moved" | "unknown" | "used">;
  /** What rules look at of a monitor; undefined when it is not there. */
  monitor(projectId: number, id: number): Promise<AlertMonitor | undefined>;
  /** @returns undefined when the group or the channel is gone */
  acknowledgeable(groupId: number, channelId: number): Promise<AcknowledgeableGroup | undefined>;
  /** Messages about an incident, newest first. */
  ofIncident(incidentId: number, limit: number): Promise<readonly SentAlert[]>;
  /** Messages to a channel, newest first. */
  ofChannel(channelId: number, limit: number): Promise<readonly SentAlert[]>;
}

/** What a link in a message acknowledges. */
export interface AcknowledgeableGroup {
  readonly projectId: number;
  readonly channel: { readonly kind: string; readonly name: string };
  /** Open, and not acknowledged yet. */
  readonly incidents: readonly { readonly id: number; readonly name: string }[];
}

export interface SentAlert {
  readonly id: number;
  readonly channel: { readonly id: number; readonly kind: string; readonly name: string };
  readonly reason: SayReason;
  readonly state: NotificationState;
  readonly title: string | null;
  readonly lastError: string | null;
  readonly createdAtMs: number;
  readonly endedAtMs: number | null;
  readonly nextAttemptAtMs: number | null;
  /** Oldest first. */
  readonly attempts: readonly AlertAttempt[];
}

export interface AlertAttempt {
  readonly atMs: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
}

/** One member of a message, as it is now. */
export interface ToldMember {
  readonly subject: string;
  readonly event: AlertEvent;
  readonly severity: AlertSeverity;
  readonly firing: boolean;
  /** Its beginning was reported, or is reported now. */
  readonly isTold: boolean;
  /** The message is about it; the others of its group are only counted. */
  readonly isNew: boolean;
  readonly acknowledged: boolean;
  /** It was told, and its monitor was deleted or paused since. */
  readonly isUnwatched: boolean;
  readonly name: string;
  readonly monitorId: number | null;
  readonly incidentId: number | null;
  readonly isTunnel: boolean;
  readonly host: string | null;
  readonly tags: readonly string[];
  readonly why: string;
  readonly stage: string | null;
  readonly locations: readonly string[];
  readonly sinceMs: number;
  readonly endedAtMs: number | null;
}

/** A message that may be sent now: what it is about, and where it goes. */
export interface BegunNotification {
  readonly id: number;
  readonly projectId: number;
  readonly groupId: number;
  /** Services know a problem again by it; no other database has the same. */
  readonly groupKey: string;
  /** The same of this message, for all its attempts. */
  readonly messageKey: string;
  readonly isFold: boolean;
  readonly reason: SayReason;
  readonly cameAndWent: number;
  readonly template: AlertRule["template"];
  readonly channel: OpenableChannel;
  /** What an earlier attempt of this message left to do: some of its readers have it; null: all of it. */
  readonly left: string | null;
  /** Of the group's messages that the channel took, the first: what the service called it. */
  readonly previous: string | null;
  readonly members: readonly ToldMember[];
  /** Monitors of the project on the host that all members have; null: they have none in common. */
  readonly hostMonitors: number | null;
}

export interface DueNotification {
  readonly id: number;
  readonly channelId: number;
  readonly groupId: number;
}

/** `error` of one that was delivered: who of several readers refused it for good. */
export interface EndedNotification extends AlertAttempt {
  readonly id: number;
  readonly channelId: number;
  readonly delivered: boolean;
  readonly permanent: boolean;
  readonly retryAfterMs: number | null;
  /** What the service calls it; of one that some readers have, what is left to do. */
  readonly reference: string | null;
  /** Title that was sent. */
  readonly shown: string;
  /** From 0 to 1. */
  readonly random: number;
}

export interface RecordedNotification {
  readonly id: number;
  readonly channelId: number;
  readonly state: NotificationState;
  /** The channel is failing since this attempt. */
  readonly isFailingNow: boolean;
}

/** The sender's side. Each write asserts the epoch of its lease and rejects with a LeaseLost when another took it. */
export interface AlertTurns {
  /**
   * Decides for groups that are due, and makes messages of what they say: in short pieces, between which other work on the thread runs.
   * After a death between two of them the next call goes on where it was.
   * @param options.folds only those made of many groups, or only the others
   * @returns how many it looked at
   */
  speak(
    epoch: number,
    options: { nowMs: number; limit: number; folds: boolean; breathe: () => Promise<void> },
  ): Promise<number>;
  /**
   * Messages whose time has come, first ones of each channel before second ones.
   * @param options.failing only those of channels whose last attempt failed, or only those of the others
   * @param options.except channels that have no place free
   * @param options.underWay messages whose attempts have begun
   */
  due(options: {
    nowMs: number;
    failing: boolean;
    perChannel: number;
    limit: number;
    except: readonly number[];
    underWay: readonly number[];
  }): Promise<readonly DueNotification[]>;
  /** Marks that an attempt begins, with what is true now. Those that have nothing to say any more end here. */
  begin(
    epoch: number,
    ids: readonly number[],
    options: { nowMs: number; breathe: () => Promise<void> },
  ): Promise<readonly BegunNotification[]>;
  /** Writes the log, the states of messages and channels, and the incidents' entries, in one transaction. */
  record(epoch: number, ended: readonly EndedNotification[]): Promise<readonly RecordedNotification[]>;
  /**
   * Ends messages to channels and of projects that were switched off, forgets groups that ended long ago, and looks again at those that wait for
   * times of rules, quiet hours or maintenance that changed since.
   */
  tidy(epoch: number, nowMs: number): Promise<void>;
  /** Whether something that waits was written by a clock that was ahead of this time. */
  isAhead(nowMs: number): Promise<boolean>;
  /** Everything that waits for a later time is looked at again. */
  clockWentBack(epoch: number, nowMs: number): Promise<void>;
  /** When the first group or message that waits is due, Unix ms, by what is committed; null: nothing waits. */
  nextAtMs(): Promise<number | null>;
  /** Messages that wait, for metrics. */
  pending(): Promise<number>;
}
