/** The typed client of the page, below whatever path a proxy gives it; what the API says of an error becomes an ApiError. */
import { signal } from "@preact/signals";
import createClient from "openapi-fetch";
import { allWords, t } from "../words/words.ts";
import { comeAgain } from "./come-again.ts";
import type { components, paths } from "./schema.d.ts";

export type Schemas = components["schemas"];

/** An answer longer away than this is given up, ms. The API waits at most 75 s for a test. */
const DEADLINE_MS = 90_000;

/** What the API answered, or that it did not answer (`status` 0). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** As the API says it, s; null where it does not. */
  readonly retryAfterS: number | null;
  /** What it adds, in a form of its own; null where it adds nothing. */
  readonly details: unknown;

  constructor(status: number, message: string, retryAfterS: number | null = null, details: unknown = null) {
    super(message);
    this.status = status;
    this.retryAfterS = retryAfterS;
    this.details = details;
  }
}

/** Where the API is, seen from the page's own address, with a slash at its end. */
export function apiBase(): string {
  return new URL("api/v1/", location.href).href;
}

/** Of every request; null before one is open. */
export const openProjectId = signal<string | null>(null);
let onSignedOut: () => void = () => {};

/** @param tell called when a request finds the session ended */
export function whenSignedOut(tell: () => void): void {
  onSignedOut = tell;
}

export const client = createClient<paths>({
  baseUrl: apiBase().replace(/\/$/, ""),
  credentials: "same-origin",
  cache: "no-cache",
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

client.use({
  onRequest({ request }) {
    const projectId = openProjectId.peek();
    if (projectId !== null) request.headers.set("X-Project-Id", projectId);
    // A form of another site cannot send it.
    if (request.method !== "GET") request.headers.set("X-Sonde-Page", "1");
    return new Request(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(DEADLINE_MS)]) });
  },
  onResponse: ({ request, response }) => comeAgain(request, response, fetch, pause),
});

/**
 * @param answer of one call of `client`
 * @throws ApiError with the API's message, in the page's words where it has some; what an abort throws stays what it is
 */
export async function data<T>(answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const {
    data: content,
    error,
    response,
  } = await answer.catch((reason: unknown) => {
    if (reason instanceof DOMException && reason.name === "AbortError") throw reason;
    throw notReached();
  });
  if (response.ok) return content as T;
  if (response.status === 401 && !response.url.endsWith("/session")) {
    onSignedOut();
    // The API's own words are for callers with a key.
    throw new ApiError(response.status, t("signIn.notDone"));
  }
  throw await errorOf(response, error);
}

export const notReached = (): ApiError => new ApiError(0, t("unreachable.text"));

/** What each request of the page carries that is no GET. */
export function pageHeaders(): Readonly<Record<string, string>> {
  const projectId = openProjectId.peek();
  return { "X-Sonde-Page": "1", ...(projectId !== null && { "X-Project-Id": projectId }) };
}

export async function errorOf(response: Response, body: unknown): Promise<ApiError> {
  const {
    message,
    retry_after: retry,
    details,
  } = (typeof body === "object" && body !== null ? body : {}) as Readonly<Record<string, unknown>>;
  const text =
    typeof message === "string" && message !== ""
      ? await ownWords(message)
      : t("unreachable.status", { status: String(response.status) });
  return new ApiError(response.status, text, typeof retry === "number" ? retry : null, details ?? null);
}

/** The page's words for it are no part of the first load: where they cannot be had, the API's are shown. */
async function ownWords(message: string): Promise<string> {
  try {
    const [{ refusalKey }] = await Promise.all([import("../words/refusals.ts"), allWords()]);
    const key = refusalKey(message);
    return key === null ? message : t(key);
  } catch {
    return message;
  }
}

/** @returns the API's words, or the browser's */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
