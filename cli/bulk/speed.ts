/** `--speed`: the healthy share links that answered first are asked once more, a few at a time, and download something. */

import type { Direct, EngineOptions } from "../../engine/direct/direct.ts";
import { DOWNLOAD_LIMIT } from "../../engine/direct/links.ts";
import type { Engine } from "../../model/subscription.ts";
import { type BulkResult, byLatency } from "./tally.ts";

/** Answers as many bytes as it is asked for, from close to the proxy. */
const STANDARD_URL = "https://speed.cloudflare.com/__down?bytes=20971520#ok";
/** Side by side they take the line from each other. */
export const AT_ONCE = 3;
/** Measured unless --top says otherwise: at 10 MiB each. */
export const STANDARD_MOST = 30;

export interface Measured {
  readonly result: BulkResult;
  /** Null: the download brought nothing. */
  readonly mbitPerS: number | null;
}

export function downloadUrlOf(speed: string | true): string {
  return speed === true ? STANDARD_URL : withProof(speed);
}

/** As SONDE_VERIFY_URLS has them: what says nothing else must answer with a status below 400, over TLS. */
export function withProof(url: string): string {
  return url.includes("#") ? url : `${url}#ok`;
}

/** @param most null: all */
export function toMeasure(results: readonly BulkResult[], most: number | null): readonly BulkResult[] {
  const links = byLatency(results).filter(({ item }) => "url" in item.settings);
  return most === null ? links : links.slice(0, most);
}

export interface SpeedOptions {
  readonly chosen: readonly BulkResult[];
  readonly open: (more: Partial<EngineOptions>) => Promise<Direct>;
  readonly downloadUrl: string;
  /** Of a check without a download. */
  readonly timeoutMs: number;
  readonly engine: Engine | null;
  readonly isStopped: () => boolean;
  /** Opened: closing it ends what runs. */
  readonly onOpened: (probers: Direct) => void;
  readonly onMeasured: (measured: Measured) => void;
}

export async function measureSpeeds(options: SpeedOptions): Promise<void> {
  const { chosen, downloadUrl, engine, timeoutMs } = options;
  if (chosen.length === 0 || options.isStopped()) return;
  const probers = await options.open({ downloadUrl });
  options.onOpened(probers);
  const waiting = [...chosen];
  const worker = async (): Promise<void> => {
    for (let result = waiting.shift(); result !== undefined && !options.isStopped(); result = waiting.shift()) {
      const { kind, settings } = result.item;
      const outcome = await probers.check({
        kind,
        settings: engine === null ? settings : { ...settings, engine },
        timeoutMs: timeoutMs + DOWNLOAD_LIMIT.ms,
      });
      if (outcome.verdict === "cancelled") return;
      const bits = outcome.tunnel?.downloadBitsPerS;
      options.onMeasured({ result, mbitPerS: bits === undefined ? null : Math.round(bits / 100_000) / 10 });
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  } finally {
    await probers.close();
  }
}
