/** Fetches lists of links for a role that answers the API: its parts are loaded when the first is asked for, because most processes never fetch one. */
import type { LinkLists } from "../api/checks/link-lists.ts";
import type { EngineOptions } from "../engine/contract/options.ts";

export function linkLists(engine: EngineOptions): LinkLists {
  let made: Promise<LinkLists["fetch"]> | undefined;
  const make = async (): Promise<LinkLists["fetch"]> => {
    const [{ fetchLinks }, { createTransport }] = await Promise.all([
      import("../engine/subscription/fetch-links.ts"),
      import("../engine/transport/index.ts"),
    ]);
    const transport = createTransport(engine);
    return (url, read, signal) => fetchLinks(transport, { url, signal }, read);
  };
  return {
    async fetch(url, read, signal) {
      made ??= make();
      return (await made)(url, read, signal);
    },
  };
}
