/** Timestamps of initiations (TAI64N): a server takes only one that is greater than the greatest it has seen of this key. */

const NS_PER_MS = 1_000_000n;
const NS_PER_S = 1_000_000_000n;
/** TAI is ten seconds ahead of Unix time in this label's reckoning (both reference implementations). */
const TAI_OFFSET = 0x4000_0000_0000_000an;

/**
 * The time to send, ns: the clock's, or a nanosecond more than the last when the clock's own millisecond has been used.
 * Never a time that has not come: the server would drop the key's real user until it has. So after a clock that was set back the answer
 * is smaller than the last one, and the server will not take it.
 */
export function nextTimestampNs(nowMs: number, lastNs: bigint): bigint {
  const nowNs = BigInt(Math.floor(nowMs)) * NS_PER_MS;
  return lastNs >= nowNs && lastNs + 1n < nowNs + NS_PER_MS ? lastNs + 1n : nowNs;
}

/** 8 bytes of seconds and 4 of nanoseconds, big-endian. */
export function encodeTai64n(atNs: bigint): Uint8Array {
  const bytes = new Uint8Array(12);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, TAI_OFFSET + atNs / NS_PER_S);
  view.setUint32(8, Number(atNs % NS_PER_S));
  return bytes;
}
