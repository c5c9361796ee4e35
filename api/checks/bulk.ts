/**
 * Many configurations checked once (docs/api-contract.md#checks-without-a-monitor): a line of JSON for each as its check ends. When the reader
 * goes, no further check begins. Nothing is stored.
 */
import { setImmediate, setTimeout } from "node:timers/promises";
import type { Api } from "../api.ts";
import { ApiError } from "../errors.ts";
import type { StreamSink } from "../http.ts";
import { type CheckOrder, type Engine, readCheck, TIMEOUT_S } from "./order.ts";
import { runCheck } from "./run.ts";
import { acceptTargets } from "./targets.ts";

/** Of one request. */
export const MOST_CONFIGS = 10_000;
/** Of one workspace in a day, as long as its plan lets it ask at all. */
const MOST_A_DAY = 50_000;
const DAY_MS = 86_400_000;
/** Lines that are read before other requests get the thread: some milliseconds. */
const SLICE = 50;
/** Lines with a reason that are told one by one; the others are in the count. */
const MOST_INVALID = 100;
/** A pool that is full is asked again after this, ms, and so often. */
const BUSY_MS = 1_000;
const BUSY_TRIES = 30;

interface BulkItem {
  readonly line: number;
  readonly tag: string;
  readonly order: CheckOrder;
}

export interface BulkList {
  readonly items: readonly BulkItem[];
  readonly invalid: readonly { readonly line: number; readonly reason: string }[];
  readonly invalidCount: number;
}

/** Reads share links, one a line; a list in base64 is opened. What is there twice is checked once. @returns undefined when it has too many */
export async function readBulk(text: string, timeoutS: unknown, engine: Engine | null): Promise<BulkList | undefined> {
  const lines = opened(text).split(/\r?\n/);
  const items: BulkItem[] = [];
  const invalid: { line: number; reason: string }[] = [];
  const known = new Set<string>();
  let invalidCount = 0;
  for (const [index, raw] of lines.entries()) {
    if (index % SLICE === SLICE - 1) await setImmediate();
    const config = raw.trim();
    if (config === "" || config.startsWith("#")) continue;
    const line = index + 1;
    try {
      const order = readCheck({ config, timeout: timeoutS, ...(engine !== null && { engine }) }, TIMEOUT_S, true);
      const identity = config.split("#", 1)[0] ?? config;
      if (known.has(identity)) continue;
      known.add(identity);
      items.push({ line, tag: tagOf(config), order });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      invalidCount += 1;
      if (invalid.length < MOST_INVALID) invalid.push({ line, reason: error.message });
    }
    if (items.length + invalidCount > MOST_CONFIGS) return undefined;
  }
  return { items, invalid, invalidCount };
}

/** Providers' lists are often base64 as a whole. */
function opened(text: string): string {
  const packed = text.replace(/\s/g, "");
  if (text.includes("://") || !/^[A-Za-z0-9+/_-]{16,}={0,2}$/.test(packed)) return text;
  const plain = Buffer.from(packed, "base64").toString("utf8");
  return plain.includes("://") ? plain : text;
}

function tagOf(config: string): string {
  const at = config.indexOf("#");
  if (at < 0) return "";
  try {
    return decodeURIComponent(config.slice(at + 1)).slice(0, 255);
  } catch {
    return config.slice(at + 1, at + 256);
  }
}

export interface BulkTerms {
  readonly location: string;
  readonly organizationId: number;
  readonly atOnce: number;
}

export class BulkRun {
  readonly #api: Api;
  readonly #list: BulkList;
  readonly #terms: BulkTerms;
  readonly #counts = { healthy: 0, down: 0 };
  #next = 0;
  #isStopped = false;

  constructor(api: Api, list: BulkList, terms: BulkTerms) {
    this.#api = api;
    this.#list = list;
    this.#terms = terms;
  }

  /** Never rejects. */
  async run(sink: StreamSink): Promise<void> {
    const startedAtMs = performance.now();
    const { items, invalid, invalidCount } = this.#list;
    write(sink, { total: items.length, invalid_count: invalidCount, invalid });
    try {
      await Promise.all(Array.from({ length: this.#terms.atOnce }, () => this.#work(sink)));
      if (this.#isStopped) return;
      write(sink, { done: true, ...this.#counts, ms: Math.round(performance.now() - startedAtMs) });
    } catch (error) {
      this.#api.log.error({ err: error }, "many checks ended early");
      this.#isStopped = true;
      write(sink, { done: false, ...this.#counts, ms: Math.round(performance.now() - startedAtMs) });
    }
    sink.end();
  }

  /** No further check begins. */
  stop(): void {
    this.#isStopped = true;
  }

  async #work(sink: StreamSink): Promise<void> {
    for (;;) {
      const item = this.#list.items[this.#next++];
      if (item === undefined || this.#isStopped || this.#api.closing.aborted) return;
      const line = await this.#check(item);
      if (this.#isStopped) return;
      this.#counts[line.success ? "healthy" : "down"] += 1;
      write(sink, line);
    }
  }

  async #check({ line, tag, order }: BulkItem) {
    const [endpoint] = order.tunnel.endpoints;
    const known = { line, tag, type: order.tunnel.protocol, server: endpoint?.host ?? "", port: endpoint?.port ?? 0 };
    try {
      const answer = await this.#answer(order);
      return {
        ...known,
        success: answer.status === "healthy",
        total_ms: answer.connection_time_ms ?? answer.latency_ms,
        error: answer.error_message ?? "",
        error_category: answer.error_category ?? "",
        engine_used: answer.engine_used ?? "",
      };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const category = error.status >= 500 ? "checker_error" : "config_error";
      const unknown = { success: false, total_ms: null, engine_used: "" };
      return { ...known, ...unknown, error: error.message, error_category: category };
    }
  }

  async #answer(order: CheckOrder) {
    const { location, organizationId } = this.#terms;
    const { counters } = this.#api.state;
    if (!(await counters.takeFrom(`bulk ${organizationId}`, MOST_A_DAY, DAY_MS, this.#api.clock.now())))
      throw new ApiError(429, `This workspace has checked ${MOST_A_DAY} configurations today.`);
    await acceptTargets(this.#api.targets, order);
    for (let tries = 1; ; tries++) {
      try {
        return await runCheck(this.#api, order, { checkClass: "api", location, organizationId });
      } catch (error) {
        const isBusy = error instanceof ApiError && error.status === 503;
        if (!isBusy || tries >= BUSY_TRIES || this.#isStopped) throw error;
        await setTimeout(BUSY_MS, undefined, { ref: false });
      }
    }
  }
}

function write(sink: StreamSink, line: object): void {
  sink.write(`${JSON.stringify(line)}\n`);
}
