/**
 * What a client has sent last. A relay or a service such as echo (RFC 862) sends our own datagrams back; they are no words of the server, whatever
 * they look like, so they are recognised before anything is concluded from them. Pure.
 */
export class SentDatagrams {
  readonly #limit: number;
  /** Digests: copies of the datagrams would be a large part of what a handshake holds that waits for its answer. */
  readonly #sent: number[] = [];
  #hasReturned = false;

  /** @param limit how many are kept */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether one of them has come back. */
  get hasReturned(): boolean {
    return this.#hasReturned;
  }

  add(datagram: Uint8Array): void {
    this.#sent.push(digestOf(datagram));
    if (this.#sent.length > this.#limit) this.#sent.shift();
  }

  /** Whether it is one of them. */
  recognise(datagram: Uint8Array): boolean {
    const isOurs = this.#sent.includes(digestOf(datagram));
    this.#hasReturned ||= isOurs;
    return isOurs;
  }
}

/**
 * 53 bits of two hashes: FNV-1a, and one with the multiplier of MurmurHash2. Who makes a datagram with the digest of one of ours gains nothing: he
 * can as well send back ours.
 */
function digestOf(bytes: Uint8Array): number {
  let one = 0x811c_9dc5;
  let other = bytes.length;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0;
    one = Math.imul(one ^ byte, 0x0100_0193);
    other = Math.imul(other ^ byte, 0x5bd1_e995);
    other ^= other >>> 15;
  }
  return (one >>> 0) * 2 ** 21 + (other >>> 11);
}
