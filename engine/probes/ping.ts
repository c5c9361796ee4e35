import { z } from "zod";
import { type AddressRead, defineUptime } from "../contract/kind.ts";
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import { mostTelling } from "../net/fault-rank.ts";
import { hostText } from "../net/host-text.ts";
import { onePerFamily } from "../transport/one-per-family.ts";
import { METHOD_WORDS } from "../transport/ping-run.ts";
import type { Address, PingReport } from "../transport/transport.ts";
import { hostField, ipVersionField } from "./target-fields.ts";

/** One lost packet says nothing about a host; three of them a while apart do. */
const ECHOES = 3;
const SPACING_MS = 200;
/** The verdict is ours before the check's deadline ends it without words, ms. */
const MARGIN_MS = 50;

/** ICMP echo: ok when at least one of three requests is answered; latency is the average round trip. */
export const ping = defineUptime(
  {
    kind: "ping",
    summary: "Ping: sends ICMP echo requests and measures the average round trip",
    settings: z.object({
      host: hostField.describe("Name or address to ping"),
      ip_version: ipVersionField,
    }),
    example: { host: "www.test-site.org" },
    target: ({ host }) => ({ host: hostText(host), port: 0 }),
    address: { schemes: ["icmp", "ping"], read: readHost },
    demo: { name: "Loopback", settings: ({ host }) => ({ host }) },
  },
  async ({ host, ip_version }, context) => {
    context.phase("resolve");
    const addresses = onePerFamily(await context.transport.resolve(host, 0, ip_version ?? "both", context));
    context.phase("request");
    let silent: { readonly outcome: Outcome; readonly address: Address } | undefined;
    const faults = new Map<unknown, Address>();
    for (const [index, address] of addresses.entries()) {
      try {
        const report = await pingOne(address, addresses.length - index, context);
        if (report.roundTripsMs.length > 0) return { verdict: "ok", latencyMs: average(report.roundTripsMs) };
        silent ??= { outcome: unanswered(report), address };
      } catch (error) {
        faults.set(error, address);
      }
      if (context.signal.aborted) break;
    }
    const told = mostTelling([...faults.keys()]);
    const telling = silent?.address ?? faults.get(told);
    if (telling !== undefined) context.tried(telling.ip);
    if (silent !== undefined) return silent.outcome;
    throw told;
  },
);

/** A name with a dot, an address, or `localhost`. */
function readHost(address: string): AddressRead | undefined {
  const host = address.replace(/^[a-z]+:\/\//i, "");
  const isName = /^[^\s/:@?#]+$/.test(host) && /^.+\../.test(host);
  const isAddress = /^[0-9a-f:.]+$/i.test(host) && host.includes(":");
  return isName || isAddress || /^localhost$/i.test(host) ? { settings: { host }, place: host } : undefined;
}

function pingOne(address: Address, addressesLeft: number, context: ProbeContext): Promise<PingReport> {
  const leftMs = (context.deadlineAtMs - context.wallNowMs() - MARGIN_MS) / addressesLeft;
  const replyTimeoutMs = Math.max(1, Math.floor(leftMs - (ECHOES - 1) * SPACING_MS));
  return context.transport.ping(address, { count: ECHOES, spacingMs: SPACING_MS, replyTimeoutMs }, context);
}

function unanswered({ sent, method }: PingReport): Outcome {
  return {
    verdict: "timeout",
    message: `No answer to ${sent} echo request${sent === 1 ? "" : "s"}`,
    hint: METHOD_WORDS[method],
  };
}

function average(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}
