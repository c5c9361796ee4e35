/** What a peer of the bench is: one file each, listed in index.ts. */

export interface PeersOptions {
  /** Each is due every second. */
  readonly targets: number;
  /** Length of one measurement. */
  readonly seconds: number;
  /** All peers in turn, so often. */
  readonly rounds: number;
  /** Requests at once to a peer that does not schedule. */
  readonly inFlight: number;
  /** A checkout of Uptime Kuma with its packages. */
  readonly kuma?: string;
  readonly json: boolean;
}

/** What one start of a peer is told. */
export interface Site {
  /** Of its own, removed afterwards. */
  readonly folder: string;
  /** Port of the target, on `127.0.0.1` and its neighbours (bench/uptime/target-address.ts). */
  readonly targetPort: number;
  /** A free port for the peer itself. */
  readonly port: number;
  readonly options: PeersOptions;
}

export interface RunningPeer {
  /** Of the process whose whole tree is measured. */
  readonly pid: number;
  /** Until its schedule is in full swing, s. */
  readonly warmUpS: number;
  /** Whether it still runs. */
  isUp(): boolean;
  stop(): Promise<void>;
}

export interface Peer {
  readonly name: string;
  /** What it does beside the requests, and what differs from the others: a figure without it says little. */
  readonly what: string;
  /** @returns how it is started, or why it is left out */
  prepare(
    options: PeersOptions,
  ): Promise<{ readonly start: (site: Site) => Promise<RunningPeer> } | { readonly reason: string }>;
}

export const FIRST_HOST = "127.0.0.1";
