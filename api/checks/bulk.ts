/**
 * Many configurations checked once (docs/api-contract.md#checks-without-a-monitor): a line of JSON for each as its check ends. When the reader
 * goes, no further check begins. Nothing is stored.
 */

import { setImmediate, setTimeout } from "node:timers/promises";
import type { Engine } from "../../model/subscription.ts";
import type { Api } from "../api.ts";
import { ApiError } from "../errors.ts";
import type { StreamSink } from "../http.ts";
import type { LinkList, NoLinkList } from "./link-lists.ts";
import { type CheckOrder, readCheck, TIMEOUT_S } from "./order.ts";
import { measure, viewResult } from "./run.ts";
import { acceptTargets } from "./targets.ts";

/** Of one request. */
export const MOST_CONFIGS = 10_000;
/** Of one workspace in a day, as long as its plan lets it ask at all. */
const MOST_A_DAY = 50_000;
const DAY_MS = 86_400_000;
/** Blank ones and remarks among them. */
const MOST_LINES = 100_000;
/** Lines that are read before other requests get the thread: some milliseconds. */
const SLICE = 50;
/** Lines whose reason is reported one by one; the others are in the count. */
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

/** @returns whether the text is a list of a format other than links, one a line: a client's YAML or JSON */
export function isStructured(text: string): boolean {
  return /^\s*[{[]/.test(text) || /^(?:proxies|Proxy):/m.test(text);
}

/** Reads share links, one a line; a list in base64 is opened. What is there twice is checked once. @returns undefined when it has too many */
export async function readBulk(text: string, timeoutS: unknown, engine: Engine | null): Promise<BulkList | undefined> {
  const reader = new BulkReader(timeoutS, engine);
  const lines = opened(text);
  // One after the other: 2 MiB of nothing but newlines would be two million pieces at once.
  for (let from = 0, line = 1; from <= lines.length; line++) {
    if (line % SLICE === 0) await setImmediate();
    if (line > MOST_LINES) return undefined;
    const next = lines.indexOf("\n", from);
    const end = next < 0 ? lines.length : next;
    const config = lines.slice(from, end).trim();
    from = end + 1;
    if (config === "" || config.startsWith("#")) continue;
    if (!reader.take(line, config)) return undefined;
  }
  return reader.list();
}

/** @returns undefined when it has too many. @throws 422 when there is no list */
export async function readListed(
  listed: LinkList | NoLinkList,
  timeoutS: unknown,
  engine: Engine | null,
): Promise<BulkList | undefined> {
  if ("fault" in listed) throw new ApiError(422, `There is no list: ${listed.fault}`);
  const reader = new BulkReader(timeoutS, engine);
  for (const { at, reason } of listed.bad) reader.refuse(at, reason);
  for (const [index, { at, link }] of listed.links.entries()) {
    if (index % SLICE === SLICE - 1) await setImmediate();
    if (!reader.take(at, link)) return undefined;
  }
  return reader.list(listed.badCount - listed.bad.length);
}

class BulkReader {
  readonly #timeoutS: unknown;
  readonly #engine: Engine | null;
  readonly #items: BulkItem[] = [];
  readonly #invalid: { line: number; reason: string }[] = [];
  readonly #known = new Set<string>();
  #invalidCount = 0;

  constructor(timeoutS: unknown, engine: Engine | null) {
    this.#timeoutS = timeoutS;
    this.#engine = engine;
  }

  /** @returns false when there are too many */
  take(line: number, config: string): boolean {
    const fields = { config, timeout: this.#timeoutS, ...(this.#engine !== null && { engine: this.#engine }) };
    try {
      const order = readCheck(fields, TIMEOUT_S, true);
      const identity = config.split("#", 1)[0] ?? config;
      if (!this.#known.has(identity)) this.#items.push({ line, tag: tagOf(config), order });
      this.#known.add(identity);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.refuse(line, error.message);
    }
    return this.#items.length + this.#invalidCount <= MOST_CONFIGS;
  }

  refuse(line: number, reason: string): void {
    this.#invalidCount += 1;
    if (this.#invalid.length < MOST_INVALID) this.#invalid.push({ line, reason });
  }

  /** @param untold how many more cannot be read, of which nothing else is known */
  list(untold = 0): BulkList {
    return { items: this.#items, invalid: this.#invalid, invalidCount: this.#invalidCount + untold };
  }
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
      const result = await this.#measure(order);
      const answer = viewResult(order, result, "api");
      const success = answer.status === "healthy";
      return {
        ...known,
        success,
        total_ms: answer.connection_time_ms ?? answer.latency_ms,
        error: answer.error_message ?? "",
        error_category: answer.error_category ?? "",
        public_ip: success ? (answer.assigned_ip ?? "") : "",
        country: success ? (result.tunnel?.exitCountry ?? "") : "",
        engine_used: answer.engine_used ?? "",
      };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const category = error.status >= 500 ? "checker_error" : "config_error";
      const unknown = { success: false, total_ms: null, public_ip: "", country: "", engine_used: "" };
      return { ...known, ...unknown, error: error.message, error_category: category };
    }
  }

  async #measure(order: CheckOrder) {
    const { location, organizationId } = this.#terms;
    const { counters } = this.#api.state;
    if (!(await counters.takeFrom(`bulk ${organizationId}`, MOST_A_DAY, DAY_MS, this.#api.clock.now())))
      throw new ApiError(429, `This workspace has checked ${MOST_A_DAY} configurations today.`);
    await acceptTargets(this.#api.targets, order);
    for (let tries = 1; ; tries++) {
      try {
        return await measure(this.#api, order, { checkClass: "api", location, organizationId });
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
