/** Foreign keys are opened in a process of its own (bounded-process.ts). What it has said of a key is remembered. */
import { createHash } from "node:crypto";
import { extname } from "node:path";
import type { MessagePort } from "node:worker_threads";
import { BoundedMap } from "../../model/bounded-map.ts";
import type { Log } from "../../model/log.ts";
import { BoundedProcess } from "../bounded/bounded-process.ts";
import type { ForeignKey, KeyAnswer, KeyOpener } from "./key-opener.ts";

/** As it goes through the channel, which is JSON. */
export type KeyWord =
  | { readonly kind: "pkcs12"; readonly bytes: string }
  | { readonly kind: "key"; readonly pem: string };

/** For the metrics and for tests. */
export interface OpenerStats {
  readonly started: number;
  readonly killed: number;
  readonly opened: number;
  readonly waiting: number;
}

export interface OpenerOptions {
  readonly log: Pick<Log, "warn">;
  /** How much of a processor's time one key may take, ms; only tests have another. */
  readonly withinMs?: number;
}

/** A key at the bounds of protocols/keys takes 2 s of a processor; our choice, ms. */
const ANSWER_TIMEOUT_MS = 5_000;
const KEY_BYTES = 400_000;
/** Answers that are remembered, keys among them: this process has them anyway. */
const REMEMBERED = 512;
const HEAP_MB = 128;

const BUSY = refused("unfit", "cannot be opened now: this checker has too many keys to open");

export class KeyOpenerProcess implements KeyOpener {
  readonly #process: BoundedProcess<KeyWord, KeyAnswer>;
  readonly #known = new BoundedMap<string, Promise<KeyAnswer>>(REMEMBERED);
  #isClosed = false;

  constructor({ log, withinMs = ANSWER_TIMEOUT_MS }: OpenerOptions) {
    this.#process = new BoundedProcess({
      log,
      piece: "a key",
      module: new URL(`./opener-child${extname(import.meta.url)}`, import.meta.url),
      heapMb: HEAP_MB,
      serialization: "json",
      withinMs,
      tooLong: refused("misconfigured", "takes too long to open or to sign with"),
      deadly: refused("misconfigured", "ends the process that opens it"),
      busy: BUSY,
      notNow: refused("unfit", "could not be opened in time on this checker"),
    });
  }

  get stats(): OpenerStats {
    const { answered: opened, ...others } = this.#process.stats;
    return { ...others, opened };
  }

  /** Of the process, while there is one. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** A key is being opened. */
  get isAtWork(): boolean {
    return this.#process.isAtWork;
  }

  /** @returns what a thread gives to connectKeyOpener() */
  connect(): MessagePort {
    return this.#process.connect((key: ForeignKey) => this.open(key));
  }

  open(key: ForeignKey): Promise<KeyAnswer> {
    const bytes = key.kind === "pkcs12" ? Buffer.from(key.bytes) : Buffer.from(key.pem);
    if (this.#isClosed || bytes.length > KEY_BYTES) return Promise.resolve(BUSY);
    const name = createHash("sha256").update(`${key.kind}\0`).update(bytes).digest("base64");
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const answer = this.#process.run(key.kind === "pkcs12" ? { kind: "pkcs12", bytes: bytes.toString("base64") } : key);
    this.#remember(name, answer);
    return answer;
  }

  /** Kills the process; keys that wait are answered with `unfit`. */
  close(): void {
    this.#isClosed = true;
    this.#process.close();
  }

  #remember(name: string, answer: Promise<KeyAnswer>): void {
    this.#known.set(name, answer);
    void answer.then((result) => {
      // A failure of this machine may be gone the next time.
      if (result.type === "refused" && result.refusal.verdict !== "misconfigured") this.#known.delete(name);
    });
  }
}

function refused(verdict: "unfit" | "misconfigured", words: string): KeyAnswer {
  return { type: "refused", refusal: { verdict, words } };
}
