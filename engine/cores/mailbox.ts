/** Each message wakes up the receiving thread, so everything sent in one turn of the event loop goes in one message. */

/** Its end of a MessagePort. */
export interface MailPort<Word> {
  postMessage(words: readonly Word[]): void;
}

export class Mailbox<Word> {
  readonly #port: MailPort<Word>;
  #words: Word[] = [];

  constructor(port: MailPort<Word>) {
    this.#port = port;
  }

  post(word: Word): void {
    if (this.#words.push(word) === 1) setImmediate(() => this.#send());
  }

  #send(): void {
    const words = this.#words;
    this.#words = [];
    this.#port.postMessage(words);
  }
}
