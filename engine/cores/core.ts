/** What Sonde asks of a managed proxy core: many configs in one process, a local port each. Pure. */
import type { Engine } from "../../model/subscription.ts";
import type { Fingerprint, ProxyConfig } from "../protocols/share-link/proxy-config.ts";
import type { Finding } from "./finding.ts";

/** One config inside a core. */
export interface CoreEntry {
  /** Of this core alone; letters, digits and `_`, never a person's name for the config. Also the user of the local SOCKS port that leads to it. */
  readonly tag: string;
  readonly config: ProxyConfig;
  /** What is dialled: resolved by us, and let through by the address guard. */
  readonly address: string;
  /** Of the local SOCKS port, for this entry's user. */
  readonly password: string;
}

/** The input of one process: one SOCKS port on 127.0.0.1 for all its entries; the SOCKS user selects the entry. */
export interface CoreBatch {
  readonly entries: readonly CoreEntry[];
  readonly port: number;
  /** Of IDENTITY_USER, whose traffic is not forwarded: only our core knows this password, so a port that accepts it is our core's. */
  readonly identityPassword: string;
  /** Whether it logs every step of each connection, which costs a tenth of its speed; else it logs only errors. */
  readonly isVerbose: boolean;
  /** PEM of further roots for servers' certificates (SONDE_EXTRA_CA); absent or null: none. */
  readonly extraCaPem?: string | null;
}

export interface Core {
  readonly engine: Engine;
  /** @returns why this core does not support it, as text for users; undefined when it does */
  readonly supports: (config: ProxyConfig) => string | undefined;
  /** The core's own config file, for entries that it supports. */
  readonly render: (batch: CoreBatch) => string;
  /** What a line of its log says about a connection; undefined when nothing. */
  readonly explain: (line: string) => Finding | undefined;
  /** The entry that the error output names; undefined when it names none. */
  readonly culprit: (errorOutput: string, entries: readonly CoreEntry[]) => CoreEntry | undefined;
}

/**
 * A hello that is another one at each start of a core: some of them lack what a server needs (TLS 1.3 for REALITY, its curves), so the same one
 * would be up at one check and down at the next. Which browser a client looks like decides nothing about a server that is reached.
 */
export function steadyFingerprint(fingerprint: Fingerprint): Fingerprint {
  return fingerprint === "random" || fingerprint === "randomized" ? "chrome" : fingerprint;
}

/**
 * How much a core's heap grows before Go collects its garbage, percent of what is alive. Go's own choice is 100. A core lives for seconds, so at 300 it
 * takes a tenth less processor time and 5 MB more.
 */
export const GARBAGE_PERCENT = 300;

/** Where cores listen. */
export const LOCAL_HOST = "127.0.0.1";

/** User of the local port for the question whether it is ours. */
export const IDENTITY_USER = "door";
