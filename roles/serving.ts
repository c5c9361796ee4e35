/** What the two roles that serve the API (`up`, `api`) pass to it alike; their stores, and what they know of checks, differ. */
import type { Logger } from "pino";
import type { ApiDependencies } from "../api/api.ts";
import { WORDS } from "../api/apply/words.ts";
import { startTexts } from "../api/texts/start.ts";
import { type Config, engineOptionsOf } from "../config.ts";
import type { Attempts } from "../scheduler/alerts/attempts/attempts.ts";
import { VERSION } from "../version.ts";
import { channelSender } from "./channels.ts";
import { linkLists } from "./link-lists.ts";
import type { WatchedEndpoints } from "./own-endpoints.ts";
import { providerFetch } from "./provider.ts";
import { type Closers, closing } from "./shared.ts";

type SharedApiParts = Pick<
  ApiDependencies,
  "config" | "sendToChannel" | "linkLists" | "texts" | "providerFetch" | "clock" | "log" | "version"
>;

/** @param config with the port that the API listens on: 0 is replaced before */
export function sharedApiParts(
  config: Config,
  endpoints: WatchedEndpoints,
  attempts: Attempts,
  log: Logger,
  closers: Closers,
): SharedApiParts {
  const engine = engineOptionsOf(config, endpoints);
  const onDeath = (error: unknown): void => log.warn({ err: error }, "the thread that reads long texts has died");
  return {
    config: { ...config, ownEndpoints: endpoints.entries, ownBoard: endpoints.memory },
    sendToChannel: channelSender(attempts, config.mail),
    linkLists: linkLists(engine),
    texts: closing(closers, startTexts(WORDS, { onDeath })),
    providerFetch: providerFetch(attempts),
    clock: { now: () => Date.now() },
    log,
    version: VERSION,
  };
}
