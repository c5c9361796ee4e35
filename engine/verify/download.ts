/** How fast a proxy is: a download through it, bounded in bytes and time, so that a list of thousands costs neither a day nor a plan's traffic. */
import type { ProbeContext } from "../contract/probe.ts";
import type { OpenOutbound } from "../cores/outbound.ts";
import { whenAborted } from "../net/fault.ts";
import { startExchange } from "./exchange.ts";

/** Long enough for a proxy of 100 Mbit/s to show it, our choice. */
export const DOWNLOAD_LIMIT = { bytes: 10 * 1024 * 1024, ms: 10_000 } as const;
/** Less says nothing about a rate. */
const LEAST_BYTES = 16 * 1024;

/** @returns bits per second from the request on; null: none is wanted, or too little came. Never rejects. */
export async function downloadThrough(outbound: OpenOutbound, context: ProbeContext): Promise<number | null> {
  const { verifier, transport, now } = context;
  if (verifier === undefined || verifier.download === null) return null;
  context.phase("transfer");
  const exchange = startExchange({
    open: outbound.open,
    login: { user: outbound.user, password: outbound.password },
    isEager: outbound.engine === "xray",
    endpoint: verifier.download,
    token: "",
    secureContext: verifier.secureContext,
    now,
    after: transport.after,
    bodyBytes: DOWNLOAD_LIMIT.bytes,
  });
  let cancel = (): void => {};
  const late = new Promise<void>((resolve) => {
    cancel = transport.after(DOWNLOAD_LIMIT.ms, resolve);
    whenAborted(context, () => resolve());
  });
  try {
    await Promise.race([exchange.done, late]);
    const { bytes, sinceRequestMs } = exchange.received();
    return bytes < LEAST_BYTES ? null : Math.round((bytes * 8_000) / Math.max(1, sinceRequestMs));
  } catch {
    return null;
  } finally {
    cancel();
    exchange.close();
  }
}
