/** Rows of results as JSON text. Lists of a hundred rows are asked for thousands of times a second, and text made by hand costs a tenth of objects. */
import { familyOf, type Kind } from "../model/kind.ts";
import { formatIso, formatUtc } from "../model/time.ts";
import type { ResultDetails, StoredResult } from "../store/results/result-store.ts";

/** @param nameJson the monitor's name as JSON text */
export function resultJson(row: StoredResult, nameJson: string): string {
  const { id, monitorId, status, latencyMs, kind, testedAtMs, errorMessage, connectMs, details } = row;
  const error = errorMessage === null ? "null" : JSON.stringify(errorMessage);
  const connect = familyOf(kind as Kind) === "tunnel" ? `,"connect_ms":${connectMs}` : "";
  const explain = details === null ? "" : `,"explain":${explainJson(testedAtMs, details)}`;
  return `{"id":"hb_${id}","server_id":"srv_${monitorId}","server_name":${nameJson},"status":"${status}","latency_ms":${latencyMs},"protocol":"${kind}","tested_at":"${utcSecond(testedAtMs)}","error_message":${error}${connect}${explain}}`;
}

/** Seconds of lists are mostly the same few hundred. */
const KEPT_SECONDS = 4_096;
const seconds = new Map<number, string>();

/** Of the second in which it is. */
export function utcSecond(unixMs: number): string {
  const second = Math.floor(unixMs / 1_000);
  const known = seconds.get(second);
  if (known !== undefined) return known;
  if (seconds.size >= KEPT_SECONDS) seconds.clear();
  const text = formatUtc(unixMs);
  seconds.set(second, text);
  return text;
}

function explainJson(testedAtMs: number, details: ResultDetails): string {
  const why = readObject(details.explanation);
  return JSON.stringify({
    started_at: formatIso(testedAtMs),
    lateness_ms: details.lateness_ms,
    location: details.location,
    checker: details.checker,
    verdict: details.verdict,
    attempt: details.attempt,
    duration_ms: details.duration_ms,
    error_category: details.error_category,
    phases: readObject(details.phases),
    stage: why.stage ?? null,
    address: why.address ?? null,
    peer: why.peer ?? null,
    hint: why.hint ?? null,
  });
}

/** JSON that we wrote ourselves; empty when there is nothing. */
function readObject(text: string): Record<string, unknown> {
  if (text === "") return {};
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
