/** Whether targets may be monitored, of thousands at once: names are resolved while the plan is made, and what is late is left to the check's own guard. */
import { isIP } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { isDocumentationName } from "../../engine/contract/registry.ts";
import { ApiError } from "../errors.ts";
import type { Target, Targets } from "../monitors/targets.ts";

/** Names that are asked at the same time. */
const AT_ONCE = 64;
/** For all of them, from the first; every dial judges its address again. */
const WITHIN_MS = 1_000;
/** For the last of them, where reading the document took longer than that. */
const LAST_WITHIN_MS = 250;

export class TargetJudge {
  readonly #targets: Targets;
  readonly #known = new Set<string>();
  /** Documentation names and addresses need no resolver. */
  readonly #literals: Target[] = [];
  readonly #names: Target[] = [];
  readonly #refused = new Map<string, string>();
  #next = 0;
  #asked = 0;
  #startedMs: number | null = null;
  #fault: { readonly error: unknown } | null = null;
  #tellAnswered: () => void = () => {};

  constructor(targets: Targets) {
    this.#targets = targets;
  }

  /** Begins to ask; what was added before is not asked again. */
  add(targets: Iterable<Target>): void {
    for (const target of targets) {
      const key = targetKey(target);
      if (this.#known.has(key)) continue;
      this.#known.add(key);
      const isLiteral = isIP(target.host) !== 0 || isDocumentationName(target.host);
      (isLiteral ? this.#literals : this.#names).push(target);
    }
    this.#ask();
  }

  /** @returns why not, of those that may not, by `host port` */
  async refused(): Promise<ReadonlyMap<string, string>> {
    for (const target of this.#literals) await this.#judge(target);
    if (!this.#isAnswered()) await this.#wait();
    this.stop();
    if (this.#fault !== null) throw this.#fault.error;
    return new Map(this.#refused);
  }

  /** Names that wait are not asked any more. */
  stop(): void {
    this.#next = this.#names.length;
  }

  #isAnswered(): boolean {
    return this.#asked === 0 && this.#next === this.#names.length;
  }

  async #wait(): Promise<void> {
    const stop = new AbortController();
    const answered = new Promise<void>((settle) => {
      this.#tellAnswered = settle;
    });
    const leftMs = (this.#startedMs ?? 0) + WITHIN_MS - performance.now();
    const late = delay(Math.max(leftMs, LAST_WITHIN_MS), undefined, { signal: stop.signal, ref: false });
    await Promise.race([answered, late.catch(() => {})]);
    stop.abort();
  }

  #ask(): void {
    while (this.#asked < AT_ONCE) {
      const target = this.#names[this.#next];
      if (target === undefined) break;
      this.#next += 1;
      this.#asked += 1;
      this.#startedMs ??= performance.now();
      void this.#judge(target).then(() => {
        this.#asked -= 1;
        this.#ask();
        if (this.#isAnswered()) this.#tellAnswered();
      });
    }
  }

  async #judge(target: Target): Promise<void> {
    try {
      await this.#targets.accept(target);
    } catch (error) {
      if (error instanceof ApiError) this.#refused.set(targetKey(target), error.message + opening(target.host));
      else this.#fault = { error };
    }
  }
}

export function targetKey({ host, port }: Target): string {
  return `${host} ${port}`;
}

function opening(host: string): string {
  const family = isIP(host);
  if (family === 0) return "";
  return ` The operator opens it with SONDE_ALLOW_NETS=${host}/${family === 4 ? 32 : 128}.`;
}
