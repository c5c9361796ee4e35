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
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import { classify } from "../net/classify.ts";
import { DeadlinePassed, NetworkFault } from "../net/fault.ts";
import { ACCEPT_ENCODING } from "../protocols/http/content-coding.ts";
import { type Hop, redirectedHop } from "../protocols/http/hop.ts";
import { exchangeOver } from "../transport/exchange.ts";
import type { Address } from "../transport/transport.ts";
import { Answer } from "./answer.ts";
import { FastAnswer } from "./fast.ts";
import { exchangeHttp2 } from "./http2.ts";
import { lookInto } from "./look-into.ts";
import type { WebPlan } from "./plan.ts";
import { openTls } from "./tls.ts";

/** What is learned on the way, whatever the end. */
interface VisitState {
  readonly plan: WebPlan;
  readonly context: ProbeContext;
  /** Monotonic ms of the first connect. */
  startedAt: number;
  redirects: number;
  /** The first certificate seen of the monitor's own host. */
  certificate: CertificateState | null;
}

export async function checkWebsite(plan: WebPlan, context: ProbeContext): Promise<Outcome> {
  const state: VisitState = { plan, context, startedAt: 0, redirects: 0, certificate: null };
  try {
    const answer = await visit(plan.first, state);
    return answer.location === null ? await judge(answer, state) : await follow(answer, state);
  } catch (error) {
    return outcomeOfFault(error, state);
  }
}

async function follow(first: Answer, state: VisitState): Promise<Outcome> {
  // Each hop's sockets listen to the check's signal.
  setMaxListeners(0, state.context.signal);
  const visited: string[] = [];
  let hop = state.plan.first;
  let answer = first;
  for (let location = answer.location; location !== null; location = answer.location) {
    const { maxRedirects } = state.plan;
    if (state.redirects === maxRedirects) return rejected(`Redirected more than ${maxRedirects} times`, state);
    const next = redirectedHop(hop, location, ACCEPT_ENCODING, answer.status);
    if (next === undefined) {
      return rejected("Redirected to an address that is not http or https", state, displayLocation(location));
    }
    if (next.withholdsBody) {
      return rejected(`Redirected to another origin, where the body is not sent: ${next.shown}`, state);
    }
    visited.push(visitOf(hop));
    if (visited.includes(visitOf(next))) return rejected(`Redirected in a loop, back to ${next.shown}`, state);
    state.redirects++;
    hop = next;
    answer = await visit(hop, state);
  }
  return judge(answer, state);
}

/** A form that is sent may lead back to where it was, asked with GET. */
function visitOf({ url, parts }: Hop): string {
  return `${parts.method} ${url.href}`;
}

async function visit(hop: Hop, state: VisitState): Promise<Answer> {
  const { context, plan } = state;
  const answer = new Answer(plan, hop, context);
  try {
    context.phase("resolve");
    const addresses = await context.transport.resolve(hop.host, hop.port, plan.preference, context);
    if (state.redirects === 0) state.startedAt = context.now();
    context.phase("connect");
    await exchange(addresses, hop, answer, state);
    const decoding = answer.finish();
    if (decoding !== undefined) await decoding;
    return answer;
  } catch (error) {
    throw state.redirects === 0 ? error : afterRedirect(error, hop);
  } finally {
    answer.close();
  }
}

function exchange(addresses: readonly Address[], hop: Hop, answer: Answer, state: VisitState): Promise<void> {
  const { context } = state;
  if (hop.tls) return exchangeSecurely(addresses, hop, answer, state);
  const reader = new FastAnswer(answer, context);
  return context.transport.exchangeTcp(addresses, hop.port, hop.request, reader, context);
}

async function exchangeSecurely(
  addresses: readonly Address[],
  hop: Hop,
  answer: Answer,
  state: VisitState,
): Promise<void> {
  const { context, plan } = state;
  const opened = await openTls(addresses, hop, plan, context);
  if (hop.host === plan.first.host) state.certificate ??= opened.certificate;
  if (opened.fault !== null) throw opened.fault;
  if (opened.http2) await exchangeHttp2(opened.socket, hop, answer, context);
  else await exchangeOver(opened.socket, hop.request, new FastAnswer(answer, context));
}

async function judge(answer: Answer, state: VisitState): Promise<Outcome> {
  const { plan, context, startedAt } = state;
  // Looking into the answer takes a time of ours.
  const latencyMs = context.now() - startedAt;
  if (!answer.accepted) {
    return rejected(`Answered with status ${answer.status}, accepted is ${plan.acceptedItems.join(", ")}`, state);
  }
  if (plan.keyword !== null && answer.found === plan.inverted) {
    return rejected(plan.inverted ? "The keyword is in the answer" : "The keyword is not in the answer", state);
  }
  if (plan.rules !== null && plan.rules.query !== null && answer.isCut) {
    return rejected("The answer is longer than 1 MiB: json_query cannot look into it", state);
  }
  const fault = plan.rules === null ? null : await lookInto(answer.text, plan.rules, context);
  if (fault !== null) return failed(fault.verdict, fault, state);
  if (plan.maxResponseMs !== null && latencyMs > plan.maxResponseMs) {
    const message = `Answered in ${Math.ceil(latencyMs)} ms, the limit is ${plan.maxResponseMs} ms`;
    return failed("incomplete", { message }, state);
  }
  return {
    verdict: "ok",
    latencyMs,
    certificate: state.certificate,
    domainExpiresAtMs: domainExpiryFor(state),
  };
}

function rejected(message: string, state: VisitState, peer?: string): Outcome {
  return failed("rejected", { message, peer }, state);
}

function failed(
  verdict: Verdict,
  { message, peer, hint }: { message: string; peer?: string | undefined; hint?: string | undefined },
  state: VisitState,
): Outcome {
  return {
    verdict,
    message,
    certificate: state.certificate,
    domainExpiresAtMs: domainExpiryFor(state),
    ...(peer === undefined ? {} : { peer }),
    ...(hint === undefined ? {} : { hint }),
  };
}

function domainExpiryFor({ plan, context }: VisitState): number | null {
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

/** After the handshake a fault still carries the certificate; any other goes to the runner as it is. */
function outcomeOfFault(error: unknown, state: VisitState): Outcome {
  if (!(error instanceof NetworkFault) || state.certificate === null) throw error;
  return failed(error.verdict, error, state);
}
