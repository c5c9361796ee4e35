/** The other side of the probe in the service. */
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";

/** Of the API's thread while something was asked of it, ms. */
export interface Stretches {
  readonly longestMs: number;
  readonly longestOfProcessorMs: number;
}

/** @param path of the probe's socket */
export async function longestDuring(path: string, act: () => Promise<unknown>): Promise<Stretches> {
  const watcher = connect({ path, allowHalfOpen: true });
  await once(watcher, "connect");
  const told = text(watcher);
  try {
    await act();
  } finally {
    watcher.end();
  }
  return JSON.parse(await told) as Stretches;
}

/** Words for Node that load the probe. */
export function probeWords(path: string): readonly string[] {
  const probe = new URL("./stall-probe.js", import.meta.url);
  probe.searchParams.set("socket", path);
  return ["--import", probe.href];
}
