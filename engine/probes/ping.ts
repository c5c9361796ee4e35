import { z } from "zod";
import { classify } from "../classify.ts";
import { defineProbe, type Outcome, type ProbeContext } from "../probe.ts";
import { METHOD_WORDS } from "../transport/ping-run.ts";
import type { Address, PingReport } from "../transport/transport.ts";
import { hostField, ipVersionField } from "./target-fields.ts";

/** One lost packet says nothing about a host; three of them a while apart do. */
const ECHOES = 3;
const SPACING_MS = 200;
/** The verdict is ours before the check's deadline ends it without words, ms. */
const MARGIN_MS = 50;
/** One address of each family is tried: the second has its turn when the first is silent for half of the time. */
const ADDRESS_LIMIT = 2;

/** ICMP echo: ok when at least one of three requests is answered; latency is the average round trip. */
export const ping = defineProbe({
  summary: "Ping: sends ICMP echo requests and measures the average round trip",

  settings: z.object({
    host: hostField.describe("Name or address to ping"),
    ip_version: ipVersionField,
  }),

  async run({ host, ip_version }, context) {
    context.phase("resolve");
    const addresses = onePerFamily(await context.transport.resolve(host, 0, ip_version ?? "both", context));
    context.phase("request");
    let silent: Outcome | undefined;
    let fault: unknown;
    for (const [index, address] of addresses.entries()) {
      try {
        const report = await pingOne(address, addresses.length - index, context);
        if (report.roundTripsMs.length > 0) return { verdict: "ok", latencyMs: average(report.roundTripsMs) };
        silent = unanswered(report);
      } catch (error) {
        // A family that this machine has no way to says nothing when the other one is there to ask.
        fault = tellingMore(fault, error);
      }
      if (context.signal.aborted) break;
    }
    if (silent !== undefined) return silent;
    throw fault;
  },
});

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

function onePerFamily(addresses: readonly Address[]): readonly Address[] {
  const isFirst = ({ family }: Address, index: number) =>
    addresses.findIndex((other) => other.family === family) === index;
  return addresses.filter(isFirst).slice(0, ADDRESS_LIMIT);
}

/** Of two faults the one about the target, the first when both are. */
function tellingMore(first: unknown, second: unknown): unknown {
  if (first === undefined) return second;
  return classify(first, "request").verdict === "unsupported" ? second : first;
}

function average(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}
