/** An answer that comes as lines of JSON, each handed over as it comes. */
import { LineSplitter } from "../state/line-splitter.ts";
import { ApiError, apiBase, errorOf, notReached, pageHeaders } from "./client.ts";

/** Without a line for this long the answer is given up, ms. One check may wait a minute for its turn and run another. */
const SILENCE_MS = 180_000;

/**
 * @param path below /api/v1, with its slash
 * @param take gets each line's value, in the order of the lines
 * @throws ApiError with the API's own message; what an abort throws stays what it is
 */
export async function postForLines(
  path: string,
  body: object,
  signal: AbortSignal,
  take: (value: unknown) => void,
): Promise<void> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const response = await fetch(apiBase().replace(/\/$/, "") + path, {
      method: "POST",
      headers: { ...pageHeaders(), "Content-Type": "application/json" },
      credentials: "same-origin",
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (!response.ok || response.body === null) throw await errorOf(response, await response.json().catch(() => null));
    const splitter = new LineSplitter(take);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      splitter.push(value);
    }
  } catch (error) {
    if (signal.aborted || error instanceof ApiError) throw error;
    throw notReached();
  } finally {
    clearTimeout(timer);
  }
}
