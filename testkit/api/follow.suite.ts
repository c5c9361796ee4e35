/** Follows a stream of server-sent events, as a browser does: without a header for the project. */
import { type ClientRequest, request } from "node:http";

interface FollowedEvent {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape
  readonly data: any;
}

export interface Followed {
  /** In the order in which they came; grows. */
  readonly events: readonly FollowedEvent[];
  /** Data of the events of one name. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  named(name: string): readonly any[];
  /** Settles when the stream has ended. */
  readonly ended: Promise<void>;
  leave(): void;
}

/** Settles with the first event. */
export function follow(port: number, query: string, headers: Readonly<Record<string, string>>): Promise<Followed> {
  const events: FollowedEvent[] = [];
  let end = (): void => {};
  const ended = new Promise<void>((settle) => {
    end = settle;
  });
  return new Promise((settle, fail) => {
    const path = `/api/v1/live?${query}`;
    const sent: ClientRequest = request({ host: "127.0.0.1", port, path, headers, agent: false }, (incoming) => {
      let text = "";
      incoming.on("error", () => {});
      incoming.on("close", end);
      incoming.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        const parts = text.split("\n\n");
        text = parts.pop() ?? "";
        for (const part of parts) {
          const [, name = "", data = "null"] = /^(?:retry: \d+\n)?event: (\w+)\ndata: (.*)$/s.exec(part) ?? [];
          if (name !== "") events.push({ name, data: JSON.parse(data) });
        }
        const named = (name: string) => events.filter((event) => event.name === name).map(({ data }) => data);
        settle({ events, named, ended, leave: () => void sent.destroy() });
      });
    });
    sent.on("error", fail);
    sent.end();
  });
}
