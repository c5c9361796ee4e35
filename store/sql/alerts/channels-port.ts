/** Channels: where a project's messages go, and how their last attempts ended. */
import type { ToSeal } from "../schema/seal-new.ts";

export interface ChannelRecord {
  readonly id: number;
  readonly projectId: number;
  /** A name of the list of kinds; one of a later version is kept as it is. */
  readonly kind: string;
  /** Unique in the project. */
  readonly name: string;
  /** Without what is secret. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Names of the settings that are sealed. */
  readonly secretNames: readonly string[];
  readonly active: boolean;
  /** When the addresses of a mail channel had all confirmed, Unix ms. */
  readonly verifiedAtMs: number | null;
  /** Unix ms of its first failure since its last success. */
  readonly failingSinceMs: number | null;
  /** Attempts in a row that the service refused for good. */
  readonly refusals: number;
  readonly lastSuccessAtMs: number | null;
  /** Why its last attempt failed; null once one succeeded. */
  readonly lastError: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** With what is needed to send: SEALED_CELLS.channel(id) opens `sealed`. */
export interface OpenableChannel extends ChannelRecord {
  /** JSON of the secret settings, sealed; null: it has none. */
  readonly sealed: string | null;
}

export interface NewChannel {
  readonly projectId: number;
  readonly kind: string;
  readonly name: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly secretNames: readonly string[];
  readonly sealed: ToSeal | null;
  readonly active: boolean;
  /** Left out: of a mail channel, its addresses are asked first. */
  readonly verifiedAtMs?: number | null;
  readonly nowMs: number;
}

/** What is absent stays. */
export interface ChannelChanges {
  readonly name?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly secretNames?: readonly string[];
  readonly sealed?: string | null;
  readonly active?: boolean;
  readonly verifiedAtMs?: number | null;
}

export type ChannelOutcome =
  | {
      readonly delivered: true;
      /** Some of its readers refused it for good; null or absent: none did. */
      readonly refusal?: string | null;
    }
  | {
      readonly delivered: false;
      readonly error: string;
      /** The service will say the same again until something is changed. */
      readonly permanent: boolean;
    };

/** How a channel stands after an attempt. */
export interface ChannelStanding {
  /** Refused for good twice in a row, or more often. */
  readonly isFailing: boolean;
  /** The attempt made it so, or ended it. */
  readonly hasTurned: boolean;
}

export interface Channels {
  /** `full`: the project has `most` channels. `taken`: another has the name. Undefined: there is no such project. */
  create(input: NewChannel, most: number): Promise<ChannelRecord | "full" | "taken" | undefined>;
  find(projectId: number, id: number): Promise<ChannelRecord | undefined>;
  /** Oldest first. */
  list(projectId: number): Promise<readonly ChannelRecord[]>;
  /**
   * @param change is asked in the transaction; what it throws undoes it. PostgreSQL may ask it again.
   * @returns undefined when it is not there
   */
  update(
    projectId: number,
    id: number,
    nowMs: number,
    change: (before: OpenableChannel) => ChannelChanges,
  ): Promise<ChannelRecord | "taken" | undefined>;
  /** @returns false when it was not there */
  remove(projectId: number, id: number): Promise<boolean>;
  /** In the order of their ids; those that are gone are left out. */
  openable(ids: readonly number[]): Promise<readonly OpenableChannel[]>;
  /** Keeps how an attempt ended. @returns undefined when the channel is gone */
  judged(id: number, outcome: ChannelOutcome, nowMs: number): Promise<ChannelStanding | undefined>;
}
