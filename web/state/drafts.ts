/** What is written on long forms outlives their screens, until it is saved or dropped, or its writer signs out. It is never stored: it may hold secrets. */
import { effect, type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { session, signedIn } from "./session.ts";

interface Kept {
  readonly value: Signal<unknown>;
  /** With this value nothing is lost. */
  clean: unknown;
  /** The browser asks before the page is left. */
  readonly isWork: boolean;
}

/** By their writer and their form. */
const drafts = new Map<string, Kept>();

effect(() => {
  if (session.value.kind === "out") drafts.clear();
});
addEventListener("beforeunload", (event) => {
  for (const { value, clean, isWork } of drafts.values()) if (isWork && value.peek() !== clean) event.preventDefault();
});

export interface Draft<T> {
  readonly value: Signal<T>;
  /** It was begun before the screen was left. */
  readonly wasKept: boolean;
  /** What it was when it was begun, or settled last. */
  clean(): T;
  /** Without it nothing is lost; what is written now where it is left out. */
  settle(clean?: T): void;
}

/**
 * @param name of the form, and of what it is about
 * @param fresh its value when it was not begun
 * @param isWork it would be missed when the whole page is left
 */
export function useDraft<T>(name: string, fresh: T, isWork = true): Draft<T> {
  const key = `${signedIn.peek()?.user.id} ${name}`;
  const draft = useMemo(() => {
    const before = drafts.get(key);
    const wasKept = before !== undefined && before.value.peek() !== before.clean;
    const kept = wasKept ? before : { value: signal<unknown>(fresh), clean: fresh as unknown, isWork };
    const settle = (clean: unknown = kept.value.peek()) => {
      kept.clean = clean;
    };
    return { kept, wasKept, value: kept.value as Signal<T>, clean: () => kept.clean as T, settle };
  }, [key]);
  useEffect(() => {
    drafts.set(key, draft.kept);
    return () => {
      if (draft.kept.value.peek() === draft.kept.clean) drafts.delete(key);
    };
  }, [key, draft]);
  return draft;
}
