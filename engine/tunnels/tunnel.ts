/** A userspace tunnel: the five VPN protocols implement it and share one inner prober. */
export interface Tunnel {
  /**
   * Brings it up; ends with the check. Settles once packets can be sent.
   * @throws NetworkFault, or what the network did
   */
  open(): Promise<TunnelInfo>;
  /** Never throws; what cannot be sent is lost, as in any network. */
  send(ipPacket: Uint8Array): void;
  /** @param listener gets each inner packet with the time at which its datagram arrived, monotonic ms */
  onPacket(listener: (ipPacket: Uint8Array, atMs: number) => void): void;
  /** Best effort, bounded, never throws. */
  close(): Promise<void>;
}

export interface TunnelInfo {
  /** Own addresses in the tunnel, canonical text; at least one. */
  readonly addresses: readonly string[];
  /** DNS servers that the tunnel names, canonical text. */
  readonly dns: readonly string[];
  readonly mtuBytes: number;
  /** From the first datagram of the protocol until packets can be sent, ms. */
  readonly connectMs: number;
  /** From the handshake's own first message to its end, ms. */
  readonly handshakeMs: number;
}
