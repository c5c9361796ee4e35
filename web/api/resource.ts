/** What a screen has asked for: loaded once, again when it is told to, and given up when the screen is left. */
import { type ReadonlySignal, signal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { ApiError, messageOf, openProjectId } from "./client.ts";
import { liveState } from "./live.ts";

/** Between two questions that news cause, ms. */
const REST_MS = 2_000;

export interface Loaded<T> {
  /** The latest; null before the first. */
  readonly value: T | null;
  /** Why the latest attempt failed, in the API's words. */
  readonly error: string | null;
  /** The latest attempt found that there is no such thing, or none of this name. */
  readonly isMissing: boolean;
}

/** With these the API says so of what is asked for by its id. */
const MISSING: ReadonlySet<number> = new Set([400, 404]);

export interface Resource<T> {
  readonly state: ReadonlySignal<Loaded<T>>;
  /** Asks again; what is shown stays until the answer is there. */
  reload(): void;
}

/**
 * @param load asks; it gets what gives the request up
 * @param key what the answer depends on beside the open project: another key is another question
 * @param everyMs asked again this often while the page is visible; null: never by itself
 */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  key: string,
  everyMs: number | null = null,
): Resource<T> {
  const resource = useMemo(() => createResource(load), [key, openProjectId.value]);
  useEffect(() => resource.open(everyMs), [resource, everyMs]);
  // What failed while the service was away is asked for again when it is back.
  useSignalEffect(() => {
    if (liveState.value === "live" && resource.state.peek().error !== null) resource.reload();
  });
  return resource;
}

/**
 * Asks again when there are news; what is shown stays meanwhile, and so does what a person is writing beside it. The first news are followed at once;
 * in a storm they come each second, which no list can be read at.
 * @param restMs at least this long between two questions
 */
export function useReloadOn<T>({ state, reload }: Resource<T>, news: string, restMs = REST_MS): void {
  const askedAtMs = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (state.peek().value === null) return;
    const ask = () => {
      askedAtMs.current = performance.now();
      reload();
    };
    const waitMs = askedAtMs.current + restMs - performance.now();
    if (waitMs <= 0) return ask();
    const timer = setTimeout(ask, waitMs);
    return () => clearTimeout(timer);
  }, [news, state, reload, restMs]);
}

function createResource<T>(load: (signal: AbortSignal) => Promise<T>) {
  const state = signal<Loaded<T>>({ value: null, error: null, isMissing: false });
  let flight: AbortController | null = null;
  const reload = () => {
    flight?.abort();
    const own = new AbortController();
    flight = own;
    load(own.signal).then(
      (value) => {
        if (flight === own) state.value = { value, error: null, isMissing: false };
      },
      (error: unknown) => {
        const isMissing = error instanceof ApiError && MISSING.has(error.status);
        if (flight === own) state.value = { ...state.peek(), error: messageOf(error), isMissing };
      },
    );
  };
  return {
    state,
    reload,
    open(everyMs: number | null) {
      reload();
      const timer = everyMs === null ? null : setInterval(() => document.hidden || reload(), everyMs);
      return () => {
        if (timer !== null) clearInterval(timer);
        flight?.abort();
        flight = null;
      };
    },
  };
}
