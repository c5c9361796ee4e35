/** What a share link's probe needs from the managed cores: a local SOCKS port that uses its config, for the duration of one check. */
import type { Engine } from "../../model/subscription.ts";
import type { ProxyConfig } from "../protocols/share-link/proxy-config.ts";
import type { OpenLine } from "../verify/line.ts";
import type { Finding } from "./finding.ts";

export interface OutboundSpec {
  readonly config: ProxyConfig;
  /** What the core dials: resolved by us, and let through by the address guard. */
  readonly address: string;
  /** One that supports the config (choice.ts). */
  readonly engine: Engine;
  /** A failure of a crowded moment is looked at again: in a core with few others, which tells what it does. */
  readonly alone: boolean;
  /** Configs of two workspaces never share a process: a server that takes over a core of one learns nothing of the other's. */
  readonly workspace: number;
}

export interface OpenOutbound {
  readonly engine: Engine;
  /** To the local SOCKS port. */
  readonly open: OpenLine;
  /** Of that port. */
  readonly user: string;
  readonly password: string;
  /** From the request to the port being ready, ms; 0 in a core that already ran. */
  readonly startedMs: number;
  /** Many other checks use the same core, or it logs only errors: a failure proves little. */
  readonly isCrowded: boolean;
  /** What the core has said about this config's connections so far, oldest first. Never rejects; empty when it keeps silent. */
  findings(): Promise<readonly Finding[]>;
  /** The core died during the check, as far as findings() knows: the failure proves nothing about the target. */
  hasDied(): boolean;
  /** @param isMute its local port did not answer: the core is looked at, and replaced when it hangs */
  close(isMute?: boolean): void;
}

/** Managed cores, as a prober sees them. */
export interface Outbounds {
  /**
   * @throws NetworkFault `unsupported` when the core is not installed, `misconfigured` when it refuses the config, `unfit` when the cores have no
   * room or keep dying; the fault of the abort when the check ends before it is open
   * @param whenAborted calls the listener, perhaps at once, when the caller stops waiting; later calls are ignored
   */
  open(request: OutboundSpec, whenAborted: (listener: (fault: Error) => void) => void): Promise<OpenOutbound>;
}
