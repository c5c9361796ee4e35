/** Reads lists of links for a role that answers the API: made when the first is asked for, because most processes never read one. */
import { setImmediate } from "node:timers/promises";
import type { LinkLists } from "../api/checks/link-lists.ts";
import type { EngineOptions } from "../engine/contract/options.ts";

export function linkLists(engine: EngineOptions): LinkLists {
  const breathe = (): Promise<void> => setImmediate();
  const read = () => import("../engine/subscription/links.ts");
  let made: Promise<LinkLists["fetch"]> | undefined;
  const fetcher = async (): Promise<LinkLists["fetch"]> => {
    const [{ fetchLinks }, { createTransport }] = await Promise.all([read(), import("../engine/transport/index.ts")]);
    const transport = createTransport(engine);
    return (url, signal) => fetchLinks(transport, { url, signal, breathe });
  };
  return {
    read: async (text) => (await read()).linksOf(text, breathe),
    async fetch(url, signal) {
      made ??= fetcher();
      return (await made)(url, signal);
    },
  };
}
