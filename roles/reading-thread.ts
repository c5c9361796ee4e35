/** The thread that reads long texts, for a role that answers the API. */
import type { Logger } from "pino";
import { WORDS } from "../api/apply/words.ts";
import { type ReadingThread, startTexts } from "../api/texts/start.ts";
import { type Closers, closing } from "./shared.ts";

export function readingThread(closers: Closers, log: Logger): ReadingThread {
  const onDeath = (error: unknown): void => log.warn({ err: error }, "the thread that reads long texts has died");
  return closing(closers, startTexts(WORDS, { onDeath }));
}
