/**
 * The website check: own resolution through the guard on every hop, fresh connections, redirects, certificate, status, keyword.
 *
 * Response time is what a visitor waits who has the address already: from the first connect to the end of the body (or its first
 * MiB), TLS and redirects with their own look-ups included. The first look-up is a phase of its own, because it says more about
 * our resolver's cache than about the website.
 */
import { setMaxListeners } from "node:events";
import type { CertificateState } from "../../model/status.ts";
import type { Verdict } from "../../model/verdict.ts";
import { displayLocation } from "../../model/web-address.ts";
import { classify } from "../classify.ts";
import type { Outcome, ProbeContext } from "../probe.ts";
import { ACCEPT_ENCODING } from "../protocols/http/content-coding.ts";
import { type Hop, redirectedHop } from "../protocols/http/hop.ts";
import { exchangeOver } from "../transport/exchange.ts";
import { DeadlinePassed, NetworkFault } from "../transport/fault.ts";
import type { Address } from "../transport/transport.ts";
import { Answer } from "./answer.ts";
import { FastAnswer } from "./fast.ts";
import { exchangeFull } from "./full.ts";
import type { WebPlan } from "./plan.ts";
import { openTls } from "./tls.ts";

/** docs/api-contract.md#uptime-fields. */
const REDIRECT_LIMIT = 10;

/** How a request is sent: `fast` as bare bytes with our own reader, `full` through undici. A server that speaks only HTTP/2 always gets `full`. */
export type WebPath = "fast" | "full";

/** What is learned on the way, whatever the end. */
interface Journey {
  readonly plan: WebPlan;
  readonly context: ProbeContext;
  readonly path: WebPath;
  /** Monotonic ms of the first connect. */
  startedAt: number;
  redirects: number;
  /** The first certificate seen of the monitor's own host. */
  certificate: CertificateState | null;
}

export async function checkWebsite(plan: WebPlan, context: ProbeContext, path: WebPath = "fast"): Promise<Outcome> {
  const journey: Journey = { plan, context, path, startedAt: 0, redirects: 0, certificate: null };
  try {
    const answer = await visit(plan.first, journey);
    return answer.location === null ? judge(answer, journey) : await follow(answer, journey);
  } catch (error) {
    return outcomeOfFault(error, journey);
  }
}

async function follow(first: Answer, journey: Journey): Promise<Outcome> {
  // Each hop's sockets listen to the check's signal.
  setMaxListeners(0, journey.context.signal);
  const visited: string[] = [];
  let hop = journey.plan.first;
  let answer = first;
  for (let location = answer.location; location !== null; location = answer.location) {
    if (journey.redirects === REDIRECT_LIMIT) return rejected(`Redirected more than ${REDIRECT_LIMIT} times`, journey);
    const next = redirectedHop(hop, location, ACCEPT_ENCODING);
    if (next === undefined) {
      return rejected("Redirected to an address that is not http or https", journey, displayLocation(location));
    }
    visited.push(hop.url.href);
    if (visited.includes(next.url.href)) return rejected(`Redirected in a loop, back to ${next.shown}`, journey);
    journey.redirects++;
    hop = next;
    answer = await visit(hop, journey);
  }
  return judge(answer, journey);
}

async function visit(hop: Hop, journey: Journey): Promise<Answer> {
  const { context, plan } = journey;
  const answer = new Answer(plan, context);
  try {
    context.phase("resolve");
    const addresses = await context.transport.resolve(hop.host, hop.port, plan.preference, context);
    if (journey.redirects === 0) journey.startedAt = context.now();
    context.phase("connect");
    await exchange(addresses, hop, answer, journey);
    const decoding = answer.finish();
    if (decoding !== undefined) await decoding;
    return answer;
  } catch (error) {
    throw journey.redirects === 0 ? error : afterRedirect(error, hop);
  } finally {
    answer.close();
  }
}

function exchange(addresses: readonly Address[], hop: Hop, answer: Answer, journey: Journey): Promise<void> {
  const { context, path } = journey;
  if (hop.tls) return exchangeSecurely(addresses, hop, answer, journey);
  if (path === "full") {
    return context.transport
      .connectTcp(addresses, hop.port, context)
      .then((socket) => exchangeFull(socket, hop, answer, context));
  }
  const reader = new FastAnswer(answer, context);
  return context.transport.exchangeTcp(addresses, hop.port, hop.request, reader, context);
}

async function exchangeSecurely(
  addresses: readonly Address[],
  hop: Hop,
  answer: Answer,
  journey: Journey,
): Promise<void> {
  const { context, plan, path } = journey;
  const opened = await openTls(addresses, hop, context);
  if (hop.host === plan.first.host) journey.certificate ??= opened.certificate;
  if (opened.fault !== null) throw opened.fault;
  if (path === "full" || opened.http2) await exchangeFull(opened.socket, hop, answer, context);
  else await exchangeOver(opened.socket, hop.request, new FastAnswer(answer, context));
}

function judge(answer: Answer, journey: Journey): Outcome {
  const { plan, context, startedAt } = journey;
  if (!answer.accepted) {
    return rejected(`Answered with status ${answer.status}, accepted is ${plan.acceptedItems.join(", ")}`, journey);
  }
  if (plan.keyword !== null && answer.found === plan.inverted) {
    return rejected(plan.inverted ? "The keyword is in the answer" : "The keyword is not in the answer", journey);
  }
  return {
    verdict: "ok",
    latencyMs: context.now() - startedAt,
    certificate: journey.certificate,
    domainExpiresAtMs: domainExpiryFor(journey),
  };
}

function rejected(message: string, journey: Journey, peer?: string): Outcome {
  return failed("rejected", { message, peer }, journey);
}

function failed(
  verdict: Verdict,
  { message, peer, hint }: { message: string; peer?: string | undefined; hint?: string | undefined },
  journey: Journey,
): Outcome {
  return {
    verdict,
    message,
    certificate: journey.certificate,
    domainExpiresAtMs: domainExpiryFor(journey),
    ...(peer === undefined ? {} : { peer }),
    ...(hint === undefined ? {} : { hint }),
  };
}

function domainExpiryFor({ plan, context }: Journey): number | null {
  return plan.wantsDomainExpiry ? (context.domainExpiresAtMs?.(plan.first.host) ?? null) : null;
}

/** Says which hop it was, because the address is not the monitor's own. */
function afterRedirect(error: unknown, hop: Hop): unknown {
  if (error instanceof DeadlinePassed) return error;
  const { verdict, message, peer, hint } = classify(error, "connect");
  if (verdict === "internal-error") return error;
  return new NetworkFault(verdict, `After a redirect to ${hop.shown}: ${message}`, {
    cause: error,
    ...(peer === undefined ? {} : { peer }),
    ...(hint === undefined ? {} : { hint }),
  });
}

/** A fault after the handshake still tells of the certificate; any other goes to the runner as it is. */
function outcomeOfFault(error: unknown, journey: Journey): Outcome {
  if (!(error instanceof NetworkFault) || journey.certificate === null) throw error;
  return failed(error.verdict, error, journey);
}
