/** Server-sent events (WHATWG HTML, section 9.2): what a stream of them is made of. */
import { randomInt } from "node:crypto";

export const SSE_TYPE = "text/event-stream";
/** `X-Accel-Buffering`: nginx would keep events back until it has a page full of them. */
export const SSE_HEADERS: readonly string[] = ["Content-Type", SSE_TYPE, "X-Accel-Buffering", "no"];
/** @param data JSON, which has no line ends */
export function sseEvent(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Proxies end what is silent, most after 60 s; and a browser does not notice by itself that a stream leads nowhere. */
export const SSE_BEAT = sseEvent("beat", {});

/** Ms until a page asks again after a stop: each another time, so that they do not come in one wave. */
const [SOONEST_RETRY_MS, LATEST_RETRY_MS] = [1_000, 5_000];

/** The last event of a process that stops. */
export function sseBye(random: (from: number, below: number) => number = randomInt): string {
  return `retry: ${random(SOONEST_RETRY_MS, LATEST_RETRY_MS + 1)}\n${sseEvent("bye", {})}`;
}
