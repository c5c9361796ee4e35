/** MD4, RFC 1320: MSCHAPv2 hashes passwords with it, and OpenSSL 3 has it no longer. Pure. */

const BLOCK_BYTES = 64;
/** Order of words and shifts of the three rounds, section 3.4. */
const ROUNDS = [
  { add: 0, shifts: [3, 7, 11, 19], order: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] },
  { add: 0x5a827999, shifts: [3, 5, 9, 13], order: [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15] },
  { add: 0x6ed9eba1, shifts: [3, 9, 11, 15], order: [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15] },
] as const;

type State = [number, number, number, number];

export function md4(message: Uint8Array): Buffer {
  const padded = pad(message);
  let state: State = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
  for (let at = 0; at < padded.length; at += BLOCK_BYTES)
    state = compress(state, padded.subarray(at, at + BLOCK_BYTES));
  const digest = Buffer.alloc(16);
  for (const [index, word] of state.entries()) digest.writeUInt32LE(word >>> 0, 4 * index);
  return digest;
}

/** A one bit, zeros, and the length in bits as 64 bits. */
function pad(message: Uint8Array): Buffer {
  const padded = Buffer.alloc(Math.ceil((message.length + 9) / BLOCK_BYTES) * BLOCK_BYTES);
  padded.set(message);
  padded[message.length] = 0x80;
  padded.writeBigUInt64LE(BigInt(message.length) * 8n, padded.length - 8);
  return padded;
}

function compress(state: State, block: Buffer): State {
  let [a, b, c, d] = state;
  for (const [round, { add, shifts, order }] of ROUNDS.entries()) {
    for (const [step, word] of order.entries()) {
      const mixed = (a + mix(round, b, c, d) + block.readUInt32LE(4 * word) + add) | 0;
      const shift = shifts[step % 4] ?? 0;
      const rotated = (mixed << shift) | (mixed >>> (32 - shift));
      [a, b, c, d] = [d, rotated, b, c];
    }
  }
  return [(state[0] + a) | 0, (state[1] + b) | 0, (state[2] + c) | 0, (state[3] + d) | 0];
}

function mix(round: number, x: number, y: number, z: number): number {
  if (round === 0) return (x & y) | (~x & z);
  return round === 1 ? (x & y) | (x & z) | (y & z) : x ^ y ^ z;
}
