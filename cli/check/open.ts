/** Probers in this process, by the operator's settings. */
import { availableParallelism } from "node:os";
import { checkThreads, engineOptionsOf } from "../../config.ts";
import { type Direct, type EngineOptions, openDirect } from "../../engine/direct/direct.ts";
import { capsOf } from "../../model/caps.ts";
import { loadOwnConfig } from "../own-config.ts";
import { plain } from "../table.ts";

/** @param most threads that this run can use @param more options of the engine that win over the settings */
export function openProbers(
  concurrency: number,
  most: number,
  onFatal: (error: Error) => void,
  more: Partial<EngineOptions> = {},
): Promise<Direct> {
  const config = loadOwnConfig();
  const tell = (fields: object, message: string): void => {
    const { err, reason } = fields as { readonly err?: Error; readonly reason?: string };
    const cause = err?.message ?? reason;
    process.stderr.write(plain(`sonde: ${message}${cause === undefined ? "" : ` (${cause})`}`).concat("\n"));
  };
  return openDirect({
    engine: { ...engineOptionsOf(config), ...more },
    workers: Math.min(most, checkThreads(config, availableParallelism())),
    concurrency: Math.min(concurrency, capsOf(config.caps).overall),
    perHost: config.caps.perHost,
    log: { info: () => {}, warn: () => {}, error: tell },
    onFatal,
  });
}
