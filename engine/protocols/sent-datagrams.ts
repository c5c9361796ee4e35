/**
 * What a client has sent last. A relay or a service such as echo (RFC 862) sends our own datagrams back; they are no words of the server, whatever
 * they look like, so they are recognised before anything is concluded from them. Pure.
 */
export class SentDatagrams {
  readonly #limit: number;
  #sent: Uint8Array[] = [];
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
    // A copy: callers may go on writing into theirs.
    this.#sent.push(Uint8Array.from(datagram));
    if (this.#sent.length > this.#limit) this.#sent.shift();
  }

  /** Whether it is one of them. */
  recognise(datagram: Uint8Array): boolean {
    const isOurs = this.#sent.some((sent) => sent.length === datagram.length && Buffer.compare(sent, datagram) === 0);
    this.#hasReturned ||= isOurs;
    return isOurs;
  }
}
