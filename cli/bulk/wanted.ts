/** What a run of `sonde bulk` was asked for. */

export interface BulkOptions {
  readonly concurrency: number;
  readonly timeout: number;
  readonly engine?: "xray" | "singbox";
  readonly protocol?: string;
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly links?: boolean;
  readonly top?: number | null;
  readonly require: Requirement;
  readonly resume?: string;
}

/** How many must be healthy for exit code 0: a number, or a share of all. */
export interface Requirement {
  readonly least: number;
  readonly isShare: boolean;
}
