/**
 * Parsers of what other processes send: reports and outcomes of checkers, answers and calls of one-off checks, runs. The seal proves that
 * the sender has the location's key, and nothing about the content. Sizes are bounded before anything is opened (MOST_ENTRY_CHARACTERS);
 * everything here costs in proportion to that.
 */
import { TUNNEL_PROTOCOLS, type TunnelProtocol } from "../../model/kind.ts";
import { readOutcome, readTunnelFacts } from "../../model/outcome-reader.ts";
import {
  booleanOf,
  countOf,
  type Fields,
  LATEST_MS,
  listOf,
  numberOf,
  objectOf,
  oneOf,
  Refused,
  textOf,
  textOrNull,
} from "../../model/plain-values.ts";
import type { CheckerReport } from "./checkers.ts";
import type { CheckReply, OneOffCheck, OneOffResult } from "./checks.ts";
import type { RunBatch, SentHarm, SentOutcome, SentRun } from "./runs.ts";

/**
 * Of one entry of a stream, or one answer: base64url of a sealed JSON text. Ours are far below: 256 outcomes of a few hundred bytes, or one
 * of 256 configs.
 */
export const MOST_ENTRY_CHARACTERS = 2 * 2 ** 20;
/** Of one entry: redis-run-server.ts sends no more. */
export const OUTCOMES_PER_ENTRY = 256;
/** Of one message; run-outbox.ts sends no more than 128. */
const MOST_RUNS = 256;
/** A machine's name: RFC 1035 section 2.3.4. */
const MOST_NAME = 255;
const MOST_ID = 80;
/** How a thread ended, in our own words. */
const MOST_HARM = 2_000;
/** A hash. */
const MOST_IDENTITY = 500;
/** Of one report, and characters of each. */
export const MOST_REASONS = 32;
export const MOST_REASON = 200;
/** Checks of one checker at the same time; checker/checker.ts says 4,096. */
const MOST_ROOM = 100_000;
/** Points in time and clocks that are off, ms. */
const MOST_OFFSET_MS = LATEST_MS;
/** The longest check is an imported server's, 120 s; ten times that, ms. */
const MOST_TIMEOUT_MS = 1_200_000;

export interface ReadOutcomes {
  readonly outcomes: readonly SentOutcome[];
  /** How many were invalid. */
  readonly refused: number;
  /** Why the last of those was refused; null when none was. */
  readonly reason: string | null;
}

/** @param text JSON. An invalid outcome does not affect the others of its message. */
export function parseOutcomes(text: string): ReadOutcomes {
  let list: readonly unknown[];
  try {
    list = listOf(JSON.parse(text), OUTCOMES_PER_ENTRY, "outcomes");
  } catch (error) {
    return { outcomes: [], refused: 1, reason: wordsOf(error) };
  }
  const outcomes: SentOutcome[] = [];
  let refused = 0;
  let reason: string | null = null;
  for (const one of list) {
    try {
      const outcome = readOutcome(one);
      const { withheld, harm } = one as Fields;
      const more = { ...(withheld === true && { withheld }), ...(harm !== undefined && { harm: harmOf(harm) }) };
      outcomes.push(withheld === true || harm !== undefined ? { ...outcome, ...more } : outcome);
    } catch (error) {
      refused += 1;
      reason = wordsOf(error);
    }
  }
  return { outcomes, refused, reason };
}

function harmOf(value: unknown): SentHarm {
  const { reason, configId } = objectOf(value, "harm");
  return {
    reason: textOf(reason, MOST_HARM, "harm.reason"),
    configId: configId === null ? null : countOf(configId, "harm.configId"),
  };
}

/** For the log: our own words, never what was sent. */
export function wordsOf(error: unknown): string {
  return error instanceof Refused ? error.message : "it is no JSON, or was sealed for another place";
}

/** @param nowMs by Redis's clock: a checker whose report is later than that would be healthy for ever. @throws Refused */
export function parseReport(text: string, location: string, nowMs: number): CheckerReport {
  const from = objectOf(jsonOf(text), "report");
  if (from.location !== location) throw new Refused("location is another's");
  const atMs = numberOf(from.atMs, 0, LATEST_MS, "atMs");
  if (atMs > nowMs + AHEAD_MS) throw new Refused("atMs is in the future");
  return {
    location,
    id: textOf(from.id, MOST_ID, "id"),
    name: textOf(from.name, MOST_NAME, "name"),
    version: textOf(from.version, MOST_NAME, "version"),
    atMs,
    clockOffsetMs: numberOf(from.clockOffsetMs, -MOST_OFFSET_MS, MOST_OFFSET_MS, "clockOffsetMs"),
    room: numberOf(from.room, 0, MOST_ROOM, "room"),
    inFlight: countOf(from.inFlight, "inFlight"),
    isFit: booleanOf(from.isFit, "isFit"),
    reasons: listOf(from.reasons, MOST_REASONS, "reasons").map((one) => textOf(one, MOST_REASON, "reasons")),
    isLeaving: booleanOf(from.isLeaving, "isLeaving"),
  };
}

/** Clocks of a checker and of Redis are compared through a network. */
const AHEAD_MS = 10_000;

/** @throws Refused */
export function parseReply(text: string): CheckReply {
  const from = objectOf(jsonOf(text), "answer");
  if (from.type === "busy") return { type: "busy" };
  if (from.type !== "measured") throw new Refused("type is not one of the known words");
  const result = resultOf(objectOf(from.result, "result"));
  return from.harm === undefined
    ? { type: "measured", result }
    : { type: "measured", result, harm: textOf(from.harm, MOST_HARM, "harm") };
}

function resultOf(from: Fields): OneOffResult {
  // Those that it shares with an outcome are an outcome's.
  const { verdict, startedAtMs, latencyMs, connectMs, peerAnswered, message } = readOutcome({
    ...NO_OUTCOME,
    verdict: from.verdict,
    startedAtMs: from.startedAtMs,
    latencyMs: from.latencyMs,
    connectMs: from.connectMs,
    peerAnswered: from.peerAnswered,
    message: from.message,
  });
  const result = { verdict, startedAtMs, latencyMs, connectMs, peerAnswered, message };
  return from.tunnel === undefined ? result : { ...result, tunnel: readTunnelFacts(from.tunnel) };
}

const NO_OUTCOME = {
  checkId: 0,
  latenessMs: 0,
  durationMs: 0,
  phases: {},
  explanation: null,
  certificate: null,
  domainExpiresAtMs: null,
};

const PROTOCOLS: ReadonlySet<string> = new Set(TUNNEL_PROTOCOLS);

/** At a checker. What is in the settings the probe's own schema judges. @throws Refused */
export function parseOneOffCheck(text: string): OneOffCheck {
  const from = objectOf(jsonOf(text), "check");
  return {
    kind: oneOf<TunnelProtocol>(from.kind, PROTOCOLS, "kind"),
    settings: objectOf(from.settings, "settings"),
    host: textOf(from.host, MOST_NAME + 2, "host"),
    identity: textOrNull(from.identity, MOST_IDENTITY, "identity"),
    timeoutMs: numberOf(from.timeoutMs, 1, MOST_TIMEOUT_MS, "timeoutMs"),
    organizationId: countOf(from.organizationId, "organizationId"),
  };
}

/** At a checker. @param readSpec parses what a run measures; it comes from the code that knows the probes. @throws Refused */
export function parseBatch<Spec>(text: string, readSpec: (value: unknown) => Spec): RunBatch<Spec> {
  const from = objectOf(jsonOf(text), "batch");
  return {
    specs: listOf(from.specs, MOST_RUNS, "specs").map(readSpec),
    runs: listOf(from.runs, MOST_RUNS, "runs").map(runOf),
  };
}

function runOf(value: unknown): SentRun {
  const from = objectOf(value, "run");
  return {
    checkId: countOf(from.checkId, "checkId"),
    specKey: countOf(from.specKey, "specKey"),
    dueAtMs: numberOf(from.dueAtMs, 0, LATEST_MS, "dueAtMs"),
    startByMs: numberOf(from.startByMs, 0, LATEST_MS, "startByMs"),
    alone: booleanOf(from.alone, "alone"),
    host: textOrNull(from.host, MOST_NAME + 2, "host"),
    wasHealthy: booleanOf(from.wasHealthy, "wasHealthy"),
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refused("it is no JSON");
  }
}
