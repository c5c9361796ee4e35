/** A provider on loopback: each path answers what the test says, now, and remembers who asked. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "../../demo/loopback.ts";

export type Answerer = (request: IncomingMessage, response: ServerResponse) => void;

export interface ProviderServer {
  readonly port: number;
  readonly url: (path: string) => string;
  /** A text is a plain list. */
  answer(path: string, with_: string | Answerer): void;
  /** Requests of a path, oldest first. */
  asked(path: string): readonly IncomingMessage[];
  close(): Promise<void>;
}

export async function startProvider(): Promise<ProviderServer> {
  const answers = new Map<string, Answerer>();
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const answer = answers.get(new URL(request.url ?? "/", "http://x").pathname);
    // An endless answer is cut by the other side.
    response.on("error", () => {});
    if (answer === undefined) response.writeHead(404).end("nothing here");
    else answer(request, response);
  });
  const port = await listen(server);
  return {
    port,
    url: (path) => `http://127.0.0.1:${port}${path}`,
    answer(path, reply) {
      answers.set(path, typeof reply === "string" ? (_request, response) => void response.end(reply) : reply);
    },
    asked: (path) => requests.filter(({ url }) => new URL(url ?? "/", "http://x").pathname === path),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Goes on until the other side has had enough. */
export function endless(piece: Buffer, headers: Readonly<Record<string, string>> = {}): Answerer {
  return (_request, response) => {
    response.writeHead(200, headers);
    const more = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on("drain", more);
    more();
  };
}

/** The answer never comes. */
export const interimWithoutEnd: Answerer = ({ socket }) => {
  const piece = "HTTP/1.1 102 Processing\r\n\r\n".repeat(2_000);
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on("drain", more).on("error", () => {});
  more();
};
