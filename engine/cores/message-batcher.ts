/** Each message wakes up the receiving thread, so everything sent in one turn of the event loop goes in one message. */

/** The sending side of a MessagePort. */
export interface BatchPort<Message> {
  postMessage(messages: readonly Message[]): void;
}

export class MessageBatcher<Message> {
  readonly #port: BatchPort<Message>;
  #messages: Message[] = [];

  constructor(port: BatchPort<Message>) {
    this.#port = port;
  }

  post(message: Message): void {
    if (this.#messages.push(message) === 1) setImmediate(() => this.#send());
  }

  #send(): void {
    const messages = this.#messages;
    this.#messages = [];
    this.#port.postMessage(messages);
  }
}
