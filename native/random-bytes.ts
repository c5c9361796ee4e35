/** Random bytes for checks, fetched in blocks: a call for 32 bytes costs 3 µs, a call for 4,096 not much more. */
import { randomFillSync } from "node:crypto";

const POOL_BYTES = 4_096;

/** Every byte is given out once. */
export function createRandomBytes(
  fill: (bytes: Uint8Array) => unknown = randomFillSync,
): (sizeBytes: number) => Uint8Array {
  const pool = new Uint8Array(POOL_BYTES);
  let next = POOL_BYTES;
  return (sizeBytes) => {
    const bytes = new Uint8Array(sizeBytes);
    if (sizeBytes > POOL_BYTES / 4) {
      fill(bytes);
      return bytes;
    }
    if (next + sizeBytes > POOL_BYTES) {
      fill(pool);
      next = 0;
    }
    bytes.set(pool.subarray(next, next + sizeBytes));
    // No byte that became a key is here any longer.
    pool.fill(0, next, next + sizeBytes);
    next += sizeBytes;
    return bytes;
  };
}
