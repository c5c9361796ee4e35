/**
 * A share link's check (docs/api-contract.md#results): resolves and guards the server, dials its port where it is TCP, opens the config in
 * a proxy core, and asks verify endpoints through it until one proves that it works. A failure under high load is checked again under low load; then
 * the other core tries, where there is one and the first could have been wrong.
 */

import type { TunnelFacts } from "../../model/result.ts";
import type { Engine } from "../../model/subscription.ts";
import type { Verdict } from "../../model/verdict.ts";
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import { chooseEngines, needsPin, withPin } from "../cores/choice.ts";
import { isDatagram } from "../cores/datagram.ts";
import type { Finding } from "../cores/finding.ts";
import type { OpenOutbound, OutboundSpec, Outbounds } from "../cores/outbound.ts";
import { PROGRAMS } from "../cores/program.ts";
import { DeadlinePassed, NetworkFault, whenAborted } from "../net/fault.ts";
import type { ProxyConfig } from "../protocols/share-link/proxy-config.ts";
import type { Address } from "../transport/transport.ts";
import { downloadThrough } from "../verify/download.ts";
import type { Exit, VerifyEndpoint } from "../verify/endpoint.ts";
import { type Judgement, judgeAttempt, tellsMore } from "../verify/share-link-verdict.ts";
import { type Asked, askThroughOutbound } from "../verify/verify-round.ts";
import { fetchPin, ofFetchedPin, withFlowsVersion } from "./fetched-pin.ts";
import { type LinkSettings, linkOf } from "./link-settings.ts";
import { unaskedWords } from "./unasked-addresses.ts";

/** The check stops this long before its deadline, ms: time to read the core's log and to ask the endpoint directly why it failed. */
const MARGIN_MS = 500;
/** The verdict must be there this long before the deadline, ms. */
const LAST_MS = 100;
/** Share of the remaining time that an attempt gets when another may follow. */
const SHARE = 0.6;
/** An attempt with less time than this is not made, ms. */
const MIN_TRY_MS = 500;
/** Pause before the log of a core is read again that had nothing about the config, ms. */
const WORDS_AFTER_MS = [40, 160] as const;
/** How often the config is opened again after its core died or closed its connections: that proves nothing about the server. */
const REOPENINGS = 3;

/** The parts of a context that only share links need. */
interface Ready {
  readonly config: ProxyConfig;
  readonly address: string;
  /** Of our own dial; null for carriers of datagrams. */
  readonly dialMs: number | null;
  readonly outbounds: Outbounds;
  readonly context: ProbeContext;
}

interface Failed {
  readonly kind: "failed";
  readonly judgement: Judgement;
  readonly engine: Engine;
  readonly facts: TunnelFacts;
}
type Tried = Failed | { readonly kind: "passed"; readonly outcome: Outcome };

const LEFT_TO_THE_OTHER: ReadonlySet<Verdict> = new Set(["unsupported", "misconfigured"]);

export async function checkShareLink(settings: LinkSettings, context: ProbeContext): Promise<Outcome> {
  const { config, ignored } = linkOf(settings);
  const { outbounds } = context;
  if (outbounds === undefined || context.verifier === undefined) {
    throw new NetworkFault("unsupported", "This checker has no proxy cores");
  }
  const wanted = settings.engine ?? null;
  const { engines, refusals } = chooseEngines(config, wanted);
  const isPinned = needsPin(config, wanted);
  if (engines.length === 0 && !isPinned) {
    const reasons = refusals.join("; ");
    throw new NetworkFault(
      "unsupported",
      wanted === null
        ? `No proxy core can do this: ${reasons}`
        : `The core that was asked for cannot do this: ${reasons}. Leave engine out, so that the other one is tried`,
    );
  }
  context.phase("resolve");
  const addresses = await guarded(config, context);
  const dialled = isDatagram(config) ? null : await dial(config, addresses, context);
  const address = dialled?.address.ip ?? addresses[0]?.ip ?? "";
  const ready: Ready = { config, address, dialMs: dialled?.connectMs ?? null, outbounds, context };
  const hints = ignored.length === 0 ? [] : [`of the link, ${ignored.join("; ")}`];
  if (!isPinned) {
    const outcome = await withFlowsVersion(await tryEngines(engines, ready), { config, addresses }, context);
    const isSilent = outcome.verdict === "timeout" && dialled === null && addresses.length > 1;
    return withHints(outcome, isSilent ? [...hints, unaskedWords(addresses.length, [address])] : hints);
  }
  const pinned = withPin(config, await fetchPin(config, addresses, context));
  return withHints(ofFetchedPin(await tryEngines(["xray"], { ...ready, config: pinned })), [...hints, PINNED]);
}

const PINNED = "xray takes no certificate unchecked: the one that the server showed was fetched first and pinned";

/** A part of a link that was ignored may be why it fails, and is worth a remark where it works. */
function withHints(outcome: Outcome, hints: readonly string[]): Outcome {
  if (hints.length === 0) return outcome;
  return { ...outcome, hint: [...(outcome.hint === undefined ? [] : [outcome.hint]), ...hints].join("; ") };
}

/**
 * The guard judges every port that the core may dial: hysteria2 hops between several at one address. Over UDP no dial shows which family works, and
 * clients of these protocols take a name's IPv4 address where it has one (Go, net.ResolveUDPAddr; sing-box, dns/client.go).
 */
async function guarded(config: ProxyConfig, context: ProbeContext): Promise<readonly Address[]> {
  const { host, port, account } = config;
  const resolved = await context.transport.resolve(host, port, "both", context);
  const addresses = isDatagram(config) ? [...resolved].sort((one, other) => one.family - other.family) : resolved;
  if (account.protocol !== "hysteria2" || account.hops.length === 0) return addresses;
  const [first] = addresses;
  if (first !== undefined) for (const [from, to] of account.hops) context.transport.judgePorts(first.ip, from, to);
  return addresses;
}

/** Finds a closed port or a missing route within a round trip; a core takes seconds to report it. */
async function dial(config: ProxyConfig, addresses: readonly Address[], context: ProbeContext) {
  context.phase("connect");
  return context.transport.connectTime(addresses, config.port, context);
}

async function tryEngines(engines: readonly Engine[], ready: Ready): Promise<Outcome> {
  let failed: Failed | undefined;
  let unable: NetworkFault | undefined;
  for (const [index, engine] of engines.entries()) {
    try {
      const tried = await tryEngine(
        engine,
        { hasOther: index + 1 < engines.length, isAlone: failed !== undefined },
        ready,
      );
      if (tried.kind === "passed") return tried.outcome;
      if (failed === undefined || tellsMore(failed.judgement, tried.judgement)) failed = tried;
      if (tried.judgement.isFinal) break;
    } catch (error) {
      if (failed !== undefined) break;
      // When this core is not installed or refuses the config, the other core is tried.
      if (!(error instanceof NetworkFault) || !LEFT_TO_THE_OTHER.has(error.verdict)) throw error;
      unable ??= error;
    }
    if (leftMs(ready.context) < MIN_TRY_MS) break;
  }
  if (failed !== undefined) return outcomeOf(failed);
  throw unable ?? new NetworkFault("timeout", "The server did not answer in time");
}

/** @param attempt.isAlone the other core has failed with it: a result measured in a crowd would need a second look */
async function tryEngine(
  engine: Engine,
  attempt: { readonly hasOther: boolean; readonly isAlone: boolean },
  ready: Ready,
): Promise<Tried> {
  const { config, address, context } = ready;
  let { isAlone } = attempt;
  for (let left = REOPENINGS; left > 0; left--) {
    context.phase("handshake");
    const outbound = await openInTime({ config, address, engine, alone: isAlone, workspace: context.workspace }, ready);
    context.phase("request");
    const isFirst = outbound.isCrowded || attempt.hasOther;
    const limitMs = Math.max(MIN_TRY_MS, leftMs(context) * (isFirst ? SHARE : 1));
    let isMute = false;
    try {
      const asked = await askThroughOutbound(outbound, limitMs, context);
      if (asked.kind === "passed") return passed(asked, outbound, await downloadThrough(outbound, context), ready);
      const findings = await wordsOf(outbound, context);
      isMute = asked.kind === "mute";
      if (isMute || outbound.hasDied() || findings.some(({ verdict }) => verdict === "unfit")) {
        isAlone = true;
        continue;
      }
      const judgement = judgeAttempt({
        config,
        engine,
        seen: asked.kind === "failed" ? asked.seen : [],
        findings,
        isDialled: ready.dialMs !== null,
      });
      if (outbound.isCrowded && !judgement.isFinal && leftMs(context) > MIN_TRY_MS) {
        isAlone = true;
        continue;
      }
      if (asked.kind === "failed" && judgement.dependsOnEndpoint) await refuseWithoutEvidence(asked.endpoints, context);
      return { kind: "failed", judgement, engine, facts: factsOf(outbound) };
    } finally {
      outbound.close(isMute);
    }
  }
  throw new NetworkFault("unfit", "The proxy core died, hung or lost its connections under this check again and again");
}

/** Ends before the check's deadline, because a core that is not ready in time proves nothing about the server. */
async function openInTime(request: OutboundSpec, { outbounds, context }: Ready): Promise<OpenOutbound> {
  let cancel = (): void => {};
  try {
    return await outbounds.open(request, (listener) => {
      cancel = context.transport.after(Math.max(1, leftMs(context)), () => listener(new DeadlinePassed()));
      whenAborted(context, listener);
    });
  } finally {
    cancel();
  }
}

/** The core's log reaches us by a pipe, a little later than what happens at its port. */
async function wordsOf(outbound: OpenOutbound, context: ProbeContext): Promise<readonly Finding[]> {
  let findings = await outbound.findings();
  for (const laterMs of WORDS_AFTER_MS) {
    const isTold = findings.some(({ verdict }) => verdict !== null);
    // Without time left it does not wait for log lines: the check's deadline would decide the outcome.
    const isOver = leftMs(context) < laterMs || outbound.hasDied();
    if (isTold || outbound.isCrowded || isOver) break;
    await new Promise<void>((resolve) => context.transport.after(laterMs, resolve));
    findings = await outbound.findings();
  }
  return findings;
}

/** @throws NetworkFault `unfit` when none of the endpoints answers us directly either */
async function refuseWithoutEvidence(endpoints: readonly VerifyEndpoint[], context: ProbeContext): Promise<void> {
  const { verifier, transport } = context;
  if (verifier === undefined) return;
  const untilMs = Math.max(0, leftMs(context) + MARGIN_MS - LAST_MS);
  // They were asked when the silence began; one that has not answered by now is no evidence either.
  const late = new Promise<boolean>((resolve) => transport.after(untilMs, () => resolve(false)));
  const answers = await Promise.all(
    endpoints.map((endpoint) => Promise.race([verifier.answersDirectly(endpoint), late])),
  );
  if (answers.includes(true)) return;
  throw new NetworkFault("unfit", "None of the verify endpoints answers this checker directly either", {
    hint: "SONDE_VERIFY_URLS names what is asked through proxies",
    peerAnswered: true,
  });
}

function passed(
  asked: Extract<Asked, { kind: "passed" }>,
  outbound: OpenOutbound,
  downloadBitsPerS: number | null,
  { dialMs, context }: Ready,
): Tried {
  context.answered();
  const outcome: Outcome = {
    verdict: "ok",
    latencyMs: asked.latencyMs,
    connectMs: dialMs ?? asked.firstByteMs,
    tunnel: factsOf(outbound, asked.exit, downloadBitsPerS),
  };
  return { kind: "passed", outcome };
}

function factsOf(
  { startedMs, engine }: OpenOutbound,
  exit: Exit | null = null,
  downloadBitsPerS: number | null = null,
): TunnelFacts {
  const country = exit?.country ?? null;
  return {
    connectionTimeMs: startedMs,
    handshakeTimeMs: null,
    assignedIp: exit?.ip ?? null,
    engineUsed: engine,
    ...(country !== null && { exitCountry: country }),
    ...(downloadBitsPerS !== null && { downloadBitsPerS }),
  };
}

function outcomeOf({ judgement, facts, engine }: Failed): Outcome & { readonly peerAnswered: boolean } {
  const { verdict, message, peerAnswered } = judgement;
  return { verdict, message, peerAnswered, hint: `seen with ${PROGRAMS[engine].file}`, tunnel: facts };
}

function leftMs(context: ProbeContext): number {
  return context.deadlineAtMs - context.wallNowMs() - MARGIN_MS;
}
