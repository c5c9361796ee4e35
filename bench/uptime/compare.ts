/** Results against the target's own log: every answer has its result, with its verdict, and nothing was made up. Pure. */

export interface LoggedAnswer {
  readonly receivedAtMs: number;
  readonly answeredAtMs: number;
  readonly status: number;
}

export interface RecordedResult {
  readonly testedAtMs: number;
  readonly passed: boolean;
  readonly verdict: string;
  readonly latencyMs: number | null;
  readonly latenessMs: number;
}

export interface Comparison {
  readonly results: number;
  readonly wrongVerdicts: number;
  /** Results without an answer in the log, or answers without a result, within the window that both cover. */
  readonly unmatched: number;
  /** Recorded latency minus the time the target took, ms, of results that passed. */
  readonly overheadMs: readonly number[];
}

/** The wall clock of results is in whole ms, and a check begins before its request arrives: a second of slack finds the pair. */
const SLACK_MS = 1_000;

/** @param answers and @param results of one monitor, oldest first */
export function compare(answers: readonly LoggedAnswer[], results: readonly RecordedResult[]): Comparison {
  const overheadMs: number[] = [];
  let wrongVerdicts = 0;
  let unmatched = 0;
  let next = 0;
  for (const result of results) {
    while (next < answers.length && (answers[next]?.receivedAtMs ?? 0) < result.testedAtMs - 1) {
      next += 1;
      unmatched += 1;
    }
    const answer = answers[next];
    if (answer === undefined || answer.receivedAtMs > result.testedAtMs + SLACK_MS) {
      unmatched += 1;
      continue;
    }
    next += 1;
    if (result.passed !== (answer.status === 200)) wrongVerdicts += 1;
    if (result.passed && result.latencyMs !== null)
      overheadMs.push(result.latencyMs - (answer.answeredAtMs - answer.receivedAtMs));
  }
  return { results: results.length, wrongVerdicts, unmatched, overheadMs };
}
