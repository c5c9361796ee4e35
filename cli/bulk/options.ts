/** The options of `sonde bulk`. */
import type { Engine } from "../../model/subscription.ts";

export interface BulkOptions {
  readonly concurrency: number;
  readonly timeout: number;
  readonly engine?: Engine;
  readonly protocol?: string;
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly links?: boolean;
  readonly clash?: boolean;
  readonly singBox?: boolean;
  readonly failures?: boolean;
  /** Asked through each proxy. */
  readonly url?: readonly string[];
  /** What is downloaded; true: the standard. */
  readonly speed?: string | true;
  readonly top?: number | null;
  readonly require: Requirement;
  readonly resume?: string;
}

/** How many must be healthy for exit code 0: a number, or a share of all. */
export interface Requirement {
  readonly least: number;
  readonly isShare: boolean;
}
