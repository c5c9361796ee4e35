/** Receivers of every temper, in-process on free ports of loopback. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { listen } from "../../demo/loopback.ts";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** In the order they came. */
  readonly received: readonly Received[];
  /** Resolves when at least so many have come. */
  waitFor(count: number): Promise<readonly Received[]>;
  close(): Promise<void>;
}

export type Temper = (received: Received, response: ServerResponse) => void;

export const answering =
  (status: number, headers: Readonly<Record<string, string>> = {}): Temper =>
  (_received, response) =>
    response.writeHead(status, headers).end("thanks");
export const hanging: Temper = () => {};
/** Says 200 and never stops talking. */
export const endless: Temper = (_received, response) => {
  response.writeHead(200);
  const piece = Buffer.alloc(16 * 1_024, "x");
  const pour = (): void => {
    while (!response.destroyed && response.write(piece)) {}
    if (!response.destroyed) response.once("drain", pour);
  };
  pour();
};

export async function openReceiver(temper: Temper = answering(204)): Promise<Receiver> {
  const received: Received[] = [];
  const waiters = new Set<() => void>();
  const server = createServer((request, response) => {
    void read(request).then((one) => {
      received.push(one);
      temper(one, response);
      for (const wake of waiters) wake();
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/hook?a=1`,
    port,
    received,
    waitFor: (count) =>
      new Promise((resolve) => {
        const wake = (): void => {
          if (received.length < count) return;
          waiters.delete(wake);
          resolve(received);
        };
        waiters.add(wake);
        wake();
      }),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function read(request: IncomingMessage): Promise<Received> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) headers[name] = String(value);
  return { method: request.method ?? "", path: request.url ?? "", headers, body: await text(request) };
}
