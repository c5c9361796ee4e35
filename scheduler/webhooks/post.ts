/** One attempt of a webhook: a POST whose status decides, as scheduler/alerts/post.ts makes it. */
import { isDelivered } from "../../model/webhook.ts";
import type { Attempts } from "../alerts/attempts/attempts.ts";

export { ATTEMPT_MS } from "../alerts/post.ts";

export interface PostOutcome {
  /** null: no answer came. */
  readonly statusCode: number | null;
  /** null: delivered. */
  readonly error: string | null;
}

/** Never rejects: every error is an outcome. An abort is a failure like others; the caller knows that it aborted. */
export type Post = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  projectId: number,
  signal: AbortSignal,
) => Promise<PostOutcome>;

export function createPost({ exchange }: Pick<Attempts, "exchange">, userAgent: string): Post {
  return async (url, headers, body, projectId, signal) => {
    const caller = { userAgent, projectId };
    const { answer, fault } = await exchange({ method: "POST", url, headers, body }, caller, signal);
    if (answer === null) return { statusCode: null, error: fault.error };
    return { statusCode: answer.status, error: refusalOf(answer.status) };
  };
}

function refusalOf(statusCode: number): string | null {
  if (isDelivered(statusCode)) return null;
  const isRedirect = statusCode >= 300 && statusCode < 400;
  return isRedirect ? `HTTP ${statusCode}: redirects are not followed` : `HTTP ${statusCode}`;
}
