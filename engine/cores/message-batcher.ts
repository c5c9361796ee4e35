/**
 * Each message wakes up the receiving thread, so everything sent in one turn of the event loop goes in one message, and what can wait a moment
 * goes along with what follows.
 */

/** The sending side of a MessagePort. */
export interface BatchPort<Message> {
  postMessage(messages: readonly Message[]): void;
}

/** How long a message that is not waited for may be kept back, ms: of a thousand checks a second it collects five. */
const KEPT_BACK_MS = 5;

export class MessageBatcher<Message> {
  readonly #port: BatchPort<Message>;
  #messages: Message[] = [];
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(port: BatchPort<Message>) {
    this.#port = port;
  }

  /** Sends it at the end of this turn, after what was kept back. */
  post(message: Message): void {
    this.#messages.push(message);
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => this.#send());
  }

  /** Sends it with the next one, or a little later. */
  postLater(message: Message): void {
    this.#messages.push(message);
    if (this.#isDue || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#send(), KEPT_BACK_MS);
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isDue = false;
    const messages = this.#messages;
    this.#messages = [];
    if (messages.length > 0) this.#port.postMessage(messages);
  }
}
