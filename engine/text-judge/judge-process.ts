/**
 * Expressions of users look into answers in a process of its own (bounded-process.ts): neither a query of JSONata, which is a language with functions
 * and recursion, nor what it allocates has a bound that is known before. Rules that have taken too long are refused for a while without being run, so
 * that one monitor's do not hold up all others'.
 */
import { extname } from "node:path";
import type { MessagePort } from "node:worker_threads";
import { BoundedMap } from "../../model/bounded-map.ts";
import type { Log } from "../../model/log.ts";
import { BoundedProcess, type BoundedStats } from "../bounded/bounded-process.ts";
import type { TextAnswer, TextJudge, TextRules } from "./text-judge.ts";

export interface TextWord {
  readonly rules: TextRules;
  readonly text: string;
}

export interface AskedText extends TextWord {
  readonly workspace: number;
}

export interface TextJudgeOptions {
  readonly log: Pick<Log, "warn">;
  /** How much of a processor's time one text may take, ms; only tests have another. */
  readonly withinMs?: number;
}

/** The worst expressions of 1 KiB that were found take 1.6 s for a MiB; most take 1 ms. Our choice, ms. */
const ANSWER_TIMEOUT_MS = 3_000;
const HEAP_MB = 256;
/** How long rules that took too long are refused without being run, ms. */
const REFUSED_MS = 600_000;
/** Such rules that are remembered. */
const REMEMBERED = 1_024;
/** Characters: what a check reads of a body. */
const MOST_TEXT = 1_048_576;

const TOO_LONG = refused("misconfigured", "The regular expression or the query takes too long for this answer");
const BUSY = refused("unfit", "The answer was not looked into: this checker has too many to look into");

export class TextJudgeProcess implements TextJudge {
  readonly #process: BoundedProcess<TextWord, TextAnswer>;
  readonly #refused = new BoundedMap<string, { readonly untilMs: number; readonly answer: TextAnswer }>(REMEMBERED);

  constructor({ log, withinMs = ANSWER_TIMEOUT_MS }: TextJudgeOptions) {
    this.#process = new BoundedProcess({
      log,
      piece: "a look into an answer",
      module: new URL(`./judge-child${extname(import.meta.url)}`, import.meta.url),
      heapMb: HEAP_MB,
      serialization: "advanced",
      withinMs,
      tooLong: TOO_LONG,
      deadly: refused("misconfigured", "The query needs too much memory for this answer"),
      busy: BUSY,
      notNow: refused("unfit", "The answer could not be looked into in time on this checker"),
    });
  }

  get stats(): BoundedStats {
    return this.#process.stats;
  }

  /** Of the process, while there is one. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** @returns what a thread gives to connectTextJudge() */
  connect(): MessagePort {
    return this.#process.connect(({ rules, text, workspace }: AskedText) => this.judge(rules, text, workspace));
  }

  async judge(rules: TextRules, text: string, workspace: number): Promise<TextAnswer> {
    if (text.length > MOST_TEXT) return BUSY;
    const name = JSON.stringify([rules.regex, rules.query]);
    const known = this.#refused.get(name);
    if (known !== undefined && performance.now() < known.untilMs) return known.answer;
    const answer = await this.#process.run({ rules, text }, workspace);
    if (answer.type === "refused" && answer.verdict === "misconfigured") {
      this.#refused.set(name, { untilMs: performance.now() + REFUSED_MS, answer });
    }
    return answer;
  }

  close(): void {
    this.#process.close();
  }
}

function refused(verdict: "unfit" | "misconfigured", message: string): TextAnswer {
  return { type: "refused", verdict, message };
}
