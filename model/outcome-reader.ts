/**
 * Validates outcomes. One that another process sent may be anything: readOutcome() takes it field by field or refuses it. One of our own
 * threads is typed, but carries texts and dates of targets: sound() brings those within the same bounds, so that no store refuses the
 * row and no other process refuses the message. Every check passes both: a few µs each at most.
 */
import {
  booleanOf,
  countOf,
  type Fields,
  LATEST_MS,
  listOf,
  nearestNumber,
  nearestOrNull,
  numberOf,
  numberOrNull,
  objectOf,
  oneOf,
  storableText,
  textOf,
  textOrNull,
} from "./plain-values.ts";
import {
  type CheckOutcome,
  type ConfigOutcome,
  type Explanation,
  PHASES,
  type Phase,
  type PhaseTimes,
  phaseTimes,
  type TunnelFacts,
} from "./result.ts";
import type { CertificateState } from "./status.ts";
import { MAX_CONFIGS } from "./subscription.ts";
import { VERDICTS } from "./verdict.ts";

/** Any measured span, ms: a day, far above every time-out. */
const MAX_MS = 86_400_000;
/** Messages are cut to 500 characters where they arise (engine/net/classify.ts); merged ones say a little more. */
const MAX_MESSAGE = 2_000;
/** An address with its port, `[v6]:port`, or a host's name (RFC 1035 section 2.3.4: 255 octets). */
const MAX_ADDRESS = 300;
/** ISO 3166-1 alpha-2. */
const COUNTRY_LENGTH = 2;
/** A machine's name: RFC 1035 section 2.3.4. */
const MAX_NAME = 255;

const VERDICT_WORDS: ReadonlySet<string> = new Set(VERDICTS);
const PHASE_WORDS: ReadonlySet<string> = new Set(PHASES);
const ENGINES: ReadonlySet<string> = new Set(["xray", "singbox"]);

/** @param value plain JSON; what it has beyond an outcome's fields is dropped. @throws Refused */
export function readOutcome(value: unknown): CheckOutcome {
  const from = objectOf(value, "outcome");
  const outcome: CheckOutcome = {
    checkId: countOf(from.checkId, "checkId"),
    verdict: oneOf(from.verdict, VERDICT_WORDS, "verdict"),
    startedAtMs: numberOf(from.startedAtMs, 0, LATEST_MS, "startedAtMs"),
    latenessMs: numberOf(from.latenessMs, 0, MAX_MS, "latenessMs"),
    durationMs: numberOf(from.durationMs, 0, MAX_MS, "durationMs"),
    latencyMs: numberOrNull(from.latencyMs, MAX_MS, "latencyMs"),
    connectMs: numberOrNull(from.connectMs, MAX_MS, "connectMs"),
    peerAnswered: booleanOf(from.peerAnswered, "peerAnswered"),
    message: textOrNull(from.message, MAX_MESSAGE, "message"),
    phases: phasesOf(objectOf(from.phases, "phases")),
    explanation: from.explanation === null ? null : explanationOf(objectOf(from.explanation, "explanation")),
    certificate: from.certificate === null ? null : certificateOf(objectOf(from.certificate, "certificate")),
    domainExpiresAtMs: numberOrNull(from.domainExpiresAtMs, LATEST_MS, "domainExpiresAtMs"),
  };
  const { tunnel, checker, configs, isSpent } = from;
  return tunnel === undefined && checker === undefined && configs === undefined && isSpent === undefined
    ? outcome
    : { ...outcome, ...extrasOf(from) };
}

function extrasOf(from: Fields): Pick<CheckOutcome, "tunnel" | "checker" | "configs" | "isSpent"> {
  return {
    ...(from.isSpent === true && { isSpent: true as const }),
    ...(from.tunnel !== undefined && { tunnel: readTunnelFacts(from.tunnel) }),
    ...(from.checker !== undefined && { checker: textOf(from.checker, MAX_NAME, "checker") }),
    ...(from.configs !== undefined && { configs: listOf(from.configs, MAX_CONFIGS, "configs").map(configOf) }),
  };
}

function phasesOf(from: Fields): PhaseTimes {
  const phases: PhaseTimes = {};
  for (const phase of PHASES) {
    if (Object.hasOwn(from, phase)) phases[phase] = numberOf(from[phase], 0, MAX_MS, "phases");
  }
  return phases;
}

function explanationOf(from: Fields): Explanation {
  return {
    stage: from.stage === null ? null : oneOf<Phase>(from.stage, PHASE_WORDS, "explanation.stage"),
    address: textOrNull(from.address, MAX_ADDRESS, "explanation.address"),
    peer: textOrNull(from.peer, MAX_MESSAGE, "explanation.peer"),
    hint: textOrNull(from.hint, MAX_MESSAGE, "explanation.hint"),
  };
}

function certificateOf(from: Fields): CertificateState {
  return {
    valid: booleanOf(from.valid, "certificate.valid"),
    expiresAtMs: numberOf(from.expiresAtMs, 0, LATEST_MS, "certificate.expiresAtMs"),
  };
}

/** @throws Refused */
export function readTunnelFacts(value: unknown): TunnelFacts {
  const from = objectOf(value, "tunnel");
  return {
    connectionTimeMs: numberOrNull(from.connectionTimeMs, MAX_MS, "tunnel.connectionTimeMs"),
    handshakeTimeMs: numberOrNull(from.handshakeTimeMs, MAX_MS, "tunnel.handshakeTimeMs"),
    assignedIp: textOrNull(from.assignedIp, MAX_ADDRESS, "tunnel.assignedIp"),
    engineUsed: engineOf(from.engineUsed),
    ...(from.exitCountry !== undefined && {
      exitCountry: textOf(from.exitCountry, COUNTRY_LENGTH, "tunnel.exitCountry"),
    }),
    ...(from.downloadBitsPerS !== undefined && {
      downloadBitsPerS: numberOf(from.downloadBitsPerS, 0, Number.MAX_SAFE_INTEGER, "tunnel.downloadBitsPerS"),
    }),
  };
}

function engineOf(value: unknown): TunnelFacts["engineUsed"] {
  return value === null ? null : oneOf(value, ENGINES, "engineUsed");
}

function configOf(value: unknown): ConfigOutcome {
  const from = objectOf(value, "configs");
  return {
    configId: countOf(from.configId, "configs.configId"),
    verdict: oneOf(from.verdict, VERDICT_WORDS, "configs.verdict"),
    totalMs: numberOf(from.totalMs, 0, MAX_MS, "configs.totalMs"),
    peerAnswered: booleanOf(from.peerAnswered, "configs.peerAnswered"),
    message: textOrNull(from.message, MAX_MESSAGE, "configs.message"),
    publicIp: textOrNull(from.publicIp, MAX_ADDRESS, "configs.publicIp"),
    engineUsed: engineOf(from.engineUsed),
    ...(from.exitCountry !== undefined && {
      exitCountry: textOf(from.exitCountry, COUNTRY_LENGTH, "configs.exitCountry"),
    }),
  };
}

/** What readOutcome() takes, of an outcome that is typed: texts cut and mended, numbers finite and within their bounds. */
export function sound(outcome: CheckOutcome): CheckOutcome {
  const { explanation, certificate, tunnel, checker, configs, isSpent } = outcome;
  const bounded: CheckOutcome = {
    checkId: outcome.checkId,
    verdict: outcome.verdict,
    startedAtMs: Math.round(nearestNumber(outcome.startedAtMs, LATEST_MS)),
    latenessMs: nearestNumber(outcome.latenessMs, MAX_MS),
    durationMs: nearestNumber(outcome.durationMs, MAX_MS),
    latencyMs: nearestOrNull(outcome.latencyMs, MAX_MS),
    connectMs: nearestOrNull(outcome.connectMs, MAX_MS),
    peerAnswered: outcome.peerAnswered,
    message: soundText(outcome.message, MAX_MESSAGE),
    phases: soundPhases(outcome.phases),
    explanation: explanation === null ? null : soundExplanation(explanation),
    certificate: certificate === null ? null : soundCertificate(certificate),
    domainExpiresAtMs: nearestOrNull(outcome.domainExpiresAtMs, LATEST_MS),
  };
  if (isSpent === undefined && tunnel === undefined && checker === undefined && configs === undefined) return bounded;
  return {
    ...bounded,
    ...(isSpent === true && { isSpent }),
    ...(tunnel !== undefined && { tunnel: soundTunnel(tunnel) }),
    ...(checker !== undefined && { checker: storableText(checker, MAX_NAME) }),
    ...(configs !== undefined && { configs: configs.slice(0, MAX_CONFIGS).map(soundConfig) }),
  };
}

function soundText(text: string | null, most: number): string | null {
  return text === null ? null : storableText(text, most);
}

function soundPhases({ resolve, connect, handshake, request, transfer }: PhaseTimes): PhaseTimes {
  return phaseTimes(
    soundSpan(resolve),
    soundSpan(connect),
    soundSpan(handshake),
    soundSpan(request),
    soundSpan(transfer),
  );
}

function soundSpan(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : nearestNumber(ms, MAX_MS);
}

function soundExplanation({ stage, address, peer, hint }: Explanation): Explanation {
  return {
    stage,
    address: soundText(address, MAX_ADDRESS),
    peer: soundText(peer, MAX_MESSAGE),
    hint: soundText(hint, MAX_MESSAGE),
  };
}

/** A certificate whose end is no date has not been understood: nothing is said of it. */
function soundCertificate({ valid, expiresAtMs }: CertificateState): CertificateState | null {
  const whole = Math.round(expiresAtMs);
  return Number.isFinite(whole) ? { valid, expiresAtMs: nearestNumber(whole, LATEST_MS) } : null;
}

function soundTunnel(facts: TunnelFacts): TunnelFacts {
  return {
    connectionTimeMs: nearestOrNull(facts.connectionTimeMs, MAX_MS),
    handshakeTimeMs: nearestOrNull(facts.handshakeTimeMs, MAX_MS),
    assignedIp: soundText(facts.assignedIp, MAX_ADDRESS),
    engineUsed: facts.engineUsed,
    ...(facts.exitCountry !== undefined && { exitCountry: storableText(facts.exitCountry, COUNTRY_LENGTH) }),
    ...(facts.downloadBitsPerS !== undefined && {
      downloadBitsPerS: nearestNumber(facts.downloadBitsPerS, Number.MAX_SAFE_INTEGER),
    }),
  };
}

function soundConfig(config: ConfigOutcome): ConfigOutcome {
  return {
    configId: config.configId,
    verdict: config.verdict,
    totalMs: nearestNumber(config.totalMs, MAX_MS),
    peerAnswered: config.peerAnswered,
    message: soundText(config.message, MAX_MESSAGE),
    publicIp: soundText(config.publicIp, MAX_ADDRESS),
    engineUsed: config.engineUsed,
    ...(config.exitCountry !== undefined && { exitCountry: storableText(config.exitCountry, COUNTRY_LENGTH) }),
  };
}
