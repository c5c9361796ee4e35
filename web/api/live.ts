/**
 * News of the open project. A stream tells what changed; where none can be had, the page reads the whole again. Nothing is replayed: after
 * each (re)connection the page reads the columns once.
 */
import { signal } from "@preact/signals";
import type { Change } from "../state/monitors.ts";
import { apiBase } from "./client.ts";

/** `live`: news come as they happen. `slow`: read again every POLL_MS. `off`: the service does not answer. */
export type LiveState = "live" | "slow" | "off";
export const liveState = signal<LiveState>("slow");

/** Without a stream the columns are read again this often, ms. */
const POLL_MS = 10_000;
/** Beside a stream, which may lose messages while a store is away, and may be cut without an end, ms. */
const RELOAD_MS = 30_000;
/** The service sends something every 5 s (api/live/hub.ts); a stream that is silent this long leads nowhere, or its end does not answer, ms. */
const SILENT_MS = 11_000;
/** Behind a silent stream, a reading that has no answer by then says that the service does not answer, ms. */
const NO_ANSWER_MS = 4_000;
/** A tab that is hidden this long gives its connection back: a browser has six for a host, ms. */
const HIDDEN_MS = 30_000;
/** Between two attempts after the stream was refused, ms; each attempt doubles it. */
const RETRY_MS = { first: 2_000, longest: 60_000 } as const;

export interface LiveHandlers {
  /** Reads the columns, and gives up in time. @returns whether the service answered; null: another reading took the place of this one */
  reload(): Promise<boolean | null>;
  changes(changes: readonly Change[], at: string): void;
  /** Something about incidents changed. */
  incident(): void;
}

const watched = new Set<string>();
let current: Follower | null = null;

/** What the stream takes; an address with another one would be refused whole. */
const MONITOR_ID = /^srv_\d+$/;

/** Results of these monitors come as they are made, also where the status stays. @returns ends it */
export function watch(ids: readonly string[]): () => void {
  for (const id of ids) if (MONITOR_ID.test(id)) watched.add(id);
  current?.reopen();
  return () => {
    for (const id of ids) watched.delete(id);
    current?.reopen();
  };
}

/** @returns ends it */
export function followProject(project: string, handlers: LiveHandlers): () => void {
  const follower = new Follower(project, handlers);
  current = follower;
  return () => {
    follower.end();
    if (current === follower) current = null;
  };
}

/** Many monitors that change at once are one reading, ms. */
const GATHER_MS = 300;
/** Between two readings that news cause: one is of 10,000 monitors, and the stream tells what changes between them, ms. */
const REST_MS = 3_000;

/** What the browser says of the device's own network. */
const NETWORK_NEWS = ["online", "offline"] as const;

class Follower {
  readonly #project: string;
  readonly #handlers: LiveHandlers;
  readonly #tick: ReturnType<typeof setInterval>;
  #source: EventSource | null = null;
  #hideTimer: ReturnType<typeof setTimeout> | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #gatherTimer: ReturnType<typeof setTimeout> | undefined;
  #retryMs: number = RETRY_MS.first;
  #lastReadMs = 0;
  /** When the stream last told something, or was opened. */
  #heardMs = 0;
  #isReading = false;

  constructor(project: string, handlers: LiveHandlers) {
    this.#project = project;
    this.#handlers = handlers;
    this.#tick = setInterval(() => this.#readWhenOld(), 1_000);
    document.addEventListener("visibilitychange", this.#onVisibility);
    for (const name of NETWORK_NEWS) addEventListener(name, this.#onNetwork);
    this.reopen();
    void this.#read();
  }

  end(): void {
    liveState.value = "slow";
    this.#close();
    clearInterval(this.#tick);
    clearTimeout(this.#gatherTimer);
    clearTimeout(this.#hideTimer);
    document.removeEventListener("visibilitychange", this.#onVisibility);
    for (const name of NETWORK_NEWS) removeEventListener(name, this.#onNetwork);
  }

  /** Also when what is watched has changed: the stream is told in its address. */
  reopen(): void {
    this.#close();
    const query = new URLSearchParams({ project: this.#project });
    if (watched.size > 0) query.set("watch", [...watched].join(","));
    const source = new EventSource(`${apiBase()}live?${query}`);
    this.#source = source;
    this.#heardMs = performance.now();
    const on = (name: string, act: (event: Event) => void): void =>
      source.addEventListener(name, (event) => {
        this.#heardMs = performance.now();
        act(event);
      });
    on("beat", () => {});
    on("hello", () => {
      this.#retryMs = RETRY_MS.first;
      void this.#read();
    });
    on("s", (event) => {
      const { at, m } = parsed<{ at: string; m: Change[] }>(event) ?? { at: "", m: [] };
      this.#handlers.changes(m, at);
    });
    on("incident", () => this.#handlers.incident());
    for (const name of ["incident", "monitors", "subscription"]) on(name, () => this.#readSoon());
    source.addEventListener("error", () => this.#onError(source));
  }

  #close(): void {
    this.#source?.close();
    this.#source = null;
    clearTimeout(this.#retryTimer);
  }

  #onError(source: EventSource): void {
    if (liveState.peek() === "live") {
      liveState.value = "slow";
      // Whether the service answers at all is known sooner than by the next poll.
      this.#readSoon();
    }
    // Refused, not lost: the browser does not try again by itself.
    if (source.readyState !== EventSource.CLOSED || this.#source !== source) return;
    this.#retryTimer = setTimeout(() => this.reopen(), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS.longest);
  }

  async #read(): Promise<void> {
    this.#lastReadMs = performance.now();
    this.#isReading = true;
    const answered = await this.#handlers.reload();
    if (answered === null) return;
    this.#isReading = false;
    // A stream that seemed open while nothing answered may lead nowhere, and a browser would not notice.
    if (answered && (liveState.peek() === "off" || this.#isSilent()) && this.#source !== null) this.reopen();
    const isOpen = this.#source?.readyState === EventSource.OPEN;
    liveState.value = !answered ? "off" : isOpen ? "live" : "slow";
  }

  #readSoon(): void {
    clearTimeout(this.#gatherTimer);
    const restMs = this.#lastReadMs + REST_MS - performance.now();
    this.#gatherTimer = setTimeout(() => void this.#read(), Math.max(GATHER_MS, restMs));
  }

  #readWhenOld(): void {
    if (document.hidden) return;
    const sinceMs = performance.now() - this.#lastReadMs;
    if (this.#isReading) {
      if (sinceMs >= NO_ANSWER_MS && this.#isSilent()) liveState.value = "off";
    } else if (sinceMs >= (liveState.peek() === "live" ? RELOAD_MS : POLL_MS) || this.#isSilent()) void this.#read();
  }

  #isSilent(): boolean {
    return this.#source?.readyState === EventSource.OPEN && performance.now() - this.#heardMs >= SILENT_MS;
  }

  readonly #onNetwork = (): void => void this.#read();

  readonly #onVisibility = (): void => {
    clearTimeout(this.#hideTimer);
    if (document.hidden) this.#hideTimer = setTimeout(() => this.#close(), HIDDEN_MS);
    else if (this.#source === null) {
      this.reopen();
      void this.#read();
    }
  };
}

function parsed<T>(event: Event): T | null {
  try {
    return JSON.parse((event as MessageEvent<string>).data) as T;
  } catch {
    return null;
  }
}
