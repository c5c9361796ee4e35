/** What the page says by itself: a line at its foot, and the same for screen readers, not more often than they can be listened to. */
import { signal } from "@preact/signals";

export interface Notice {
  readonly text: string;
  readonly isError: boolean;
}

/** A line stays this long, ms; an error until it is closed. */
const SHOWN_MS = 6_000;

export const notice = signal<Notice | null>(null);
let timer: ReturnType<typeof setTimeout> | null = null;

export function say(text: string, isError = false): void {
  if (timer !== null) clearTimeout(timer);
  timer = isError ? null : setTimeout(closeNotice, SHOWN_MS);
  notice.value = { text, isError };
}

export function closeNotice(): void {
  notice.value = null;
}

/** Does something that may be refused, and says why it was. @returns whether it was done */
export async function attempt(act: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await act();
    if (done !== undefined) say(done);
    return true;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), true);
    return false;
  }
}

/** Between two announcements of what changed by itself, ms. */
const ANNOUNCE_MS = 10_000;

export const announcement = signal("");
let pending: string | null = null;
let quiet = false;

/** The latest text wins while a screen reader is still being spared. */
export function announce(text: string): void {
  if (quiet) {
    pending = text;
    return;
  }
  announcement.value = text;
  quiet = true;
  setTimeout(() => {
    quiet = false;
    const next = pending;
    pending = null;
    if (next !== null) announce(next);
  }, ANNOUNCE_MS);
}
