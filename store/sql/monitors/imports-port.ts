/** Imported servers: what a subscription says of a monitor's server, and the state of each config (docs/api-contract.md#subscriptions). */

/** How a config did when it was last tested from one place. */
export interface ConfigResult {
  readonly atMs: number;
  readonly success: boolean;
  readonly totalMs: number;
  /** Empty when the config passed. The other texts are empty, too, where they do not apply. */
  readonly error: string;
  readonly errorCategory: string;
  readonly publicIp: string;
  readonly engineUsed: string;
  /** ISO 3166-1 alpha-2. */
  readonly exitCountry: string;
}

export interface ImportedConfig {
  readonly id: number;
  /** Its name in the subscription. */
  readonly tag: string;
  /** Its protocol. */
  readonly type: string;
  readonly server: string;
  readonly port: number;
  /** By location. */
  readonly results: Readonly<Record<string, ConfigResult>>;
}

export interface ImportedServer {
  /** As written in the configs, lowercased. */
  readonly serverAddress: string | null;
  readonly serverName: string | null;
  /** All of them; at most 256 are kept and tested. */
  readonly configCount: number;
  readonly configs: readonly ImportedConfig[];
}

export type NewConfigResult = ConfigResult & { readonly configId: number; readonly location: string };

export interface SealedLink {
  readonly identity: string;
  readonly sealed: string;
}

export interface Imports {
  /** Of configs, by id, as they are stored. */
  links(configIds: readonly number[]): Promise<ReadonlyMap<number, SealedLink>>;
  /** Of the monitors that were imported; the others are not in the answer. */
  of(monitorIds: readonly number[]): Promise<ReadonlyMap<number, ImportedServer>>;
}
