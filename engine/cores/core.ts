/** What Sonde asks of a managed proxy core: many configs in one process, a local port each. Pure. */
import type { ProxyConfig } from "../protocols/share-link/proxy-config.ts";
import type { Finding } from "./finding.ts";

/** As the contract names them. */
export type Engine = "xray" | "singbox";

/** One config inside a core. */
export interface CoreEntry {
  /** Of this core alone; letters, digits and `_`, never a person's name for the config. */
  readonly tag: string;
  readonly config: ProxyConfig;
  /** What is dialled: resolved by us, and let through by the address guard. */
  readonly address: string;
  /** Of the local SOCKS port, on 127.0.0.1. */
  readonly localPort: number;
  readonly user: string;
  readonly password: string;
}

export interface Core {
  readonly engine: Engine;
  /** @returns why this core cannot do it, in words for people; undefined when it can */
  readonly supports: (config: ProxyConfig) => string | undefined;
  /** The core's own config file, for entries that it supports. */
  readonly render: (entries: readonly CoreEntry[]) => string;
  /** What a line of its log says about a connection; undefined when nothing. */
  readonly explain: (line: string) => Finding | undefined;
  /** Which entry its complaint about the file is about; undefined when it does not say. */
  readonly culprit: (complaint: string, entries: readonly CoreEntry[]) => CoreEntry | undefined;
}

/** Where cores listen. */
export const LOCAL_HOST = "127.0.0.1";
