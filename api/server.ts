/**
 * The server before the API: HTTP/1.1 on node:net, read by our own strict reader. docs/decisions/0001-http-server.md says why, and what it is measured
 * against. Its connections have their bounds in connection.ts, its requests in request-reader.ts.
 */
import { type AddressInfo, createServer, type Server } from "node:net";
import { Connection, type ConnectionServer } from "./connection.ts";
import { HeldBytes } from "./held-bytes.ts";
import { type HttpServer, ListenError, type ListenOptions, listenFailure, MAX_CONNECTIONS } from "./http.ts";

/** How often time limits are looked at, ms. Shorter ones are looked at as often as they are long. */
const TICK_MS = 1_000;

export async function listenNet(options: ListenOptions): Promise<HttpServer> {
  const crowd = new Crowd(options);
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => crowd.add(socket));
  server.maxConnections = MAX_CONNECTIONS;
  await listening(server, options);

  return {
    kind: "net",
    port: (server.address() as AddressInfo).port,
    async close() {
      const startedMs = performance.now();
      crowd.drain();
      // Just after the loop has looked for input: what the kernel has connected for us is accepted by then, not reset.
      await nextCheckPhase();
      const closed = new Promise((settle) => server.close(settle));
      const timers = [
        setTimeout(() => crowd.endIdle(), options.lingerMs),
        setTimeout(() => crowd.destroy(), options.drainTimeoutMs),
      ];
      await closed;
      for (const timer of timers) clearTimeout(timer);
      await crowd.noneHandled(options.drainTimeoutMs - (performance.now() - startedMs));
      crowd.unwatch();
    },
  };
}

function listening(server: Server, { host, port }: ListenOptions): Promise<void> {
  return new Promise((settle, fail) => {
    // It stays: a connection that cannot be accepted, for want of descriptors, is no reason to end.
    server.on("error", (error: NodeJS.ErrnoException) =>
      fail(new ListenError(listenFailure(error.code ?? "", host, port))),
    );
    server.listen(port, host, () => settle());
  });
}

function nextCheckPhase(): Promise<void> {
  return new Promise((settle) => setImmediate(() => setImmediate(settle)));
}

/** All connections of a server. */
class Crowd implements ConnectionServer {
  readonly options: ListenOptions;
  readonly held = new HeldBytes();
  areLast = false;
  areIdleEnded = false;
  readonly #connections = new Set<Connection>();
  readonly #tickMs: number;
  #tick = 0;
  #ticking: NodeJS.Timeout | null = null;
  #handled = 0;
  #onNoneHandled: (() => void) | null = null;

  constructor(options: ListenOptions) {
    this.options = options;
    this.#tickMs = Math.min(TICK_MS, options.bodyTimeoutMs, options.answerTimeoutMs);
  }

  add(socket: ConstructorParameters<typeof Connection>[0]): void {
    const connection: Connection = new Connection(socket, this, () => {
      this.#connections.delete(connection);
      if (this.#connections.size === 0) this.unwatch();
    });
    this.#connections.add(connection);
    this.#watch();
  }

  tickAfter(ms: number): number {
    // One more: the present tick is partly over.
    return this.#tick + Math.ceil(ms / this.#tickMs) + 1;
  }

  count(change: 1 | -1): void {
    this.#handled += change;
    if (this.#handled === 0) this.#onNoneHandled?.();
  }

  /** Only while there is a connection: a timer wakes an idle process up. */
  #watch(): void {
    this.#ticking ??= setInterval(() => {
      this.#tick += 1;
      for (const connection of this.#connections) connection.endIfLate(this.#tick);
    }, this.#tickMs).unref();
  }

  unwatch(): void {
    if (this.#ticking !== null) clearInterval(this.#ticking);
    this.#ticking = null;
  }

  /** From now on every answer ends its connection, and streams end. */
  drain(): void {
    this.areLast = true;
    for (const connection of this.#connections) connection.leave();
  }

  /** From now on connections without a request end. */
  endIdle(): void {
    this.areIdleEnded = true;
    for (const connection of this.#connections) connection.endIfIdle();
  }

  destroy(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  /** Resolves when no handler works any more, or after this long. */
  async noneHandled(timeoutMs: number): Promise<void> {
    if (this.#handled === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((settle) => {
      this.#onNoneHandled = settle;
      timer = setTimeout(settle, timeoutMs);
    });
    clearTimeout(timer);
  }
}
