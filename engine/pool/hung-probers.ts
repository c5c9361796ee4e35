/**
 * Probers that hang in native code: their threads cannot be ended, and each keeps its memory until the call returns. So only a bounded number
 * of them is replaced. At the bound no further one is replaced, and only checks that have run before still run (probers.ts).
 */
import { Gauge, Registry } from "prom-client";
import { loadLibc } from "../../native/libc.ts";

/** Hung threads beside each prober; our choice: a prober's thread takes about 60 MB. */
const HUNG_PER_PROBER = 2;

export function mostHungOf(probers: number): number {
  return probers * HUNG_PER_PROBER;
}

interface Hung {
  readonly suspect: number | null;
  /** Unix ms. */
  readonly sinceMs: number;
}

export class HungProbers {
  readonly most: number;
  readonly #hung = new Map<number, Hung>();
  #isExitArmed = false;
  #isLeft = false;
  readonly #registry = new Registry();
  readonly #count = new Gauge({
    name: "sonde_probers_hung",
    help: "Prober threads that hang in native code; others stand in for them",
    registers: [this.#registry],
  });
  readonly #oldest = new Gauge({
    name: "sonde_probers_hung_since_timestamp_seconds",
    help: "When the prober that hangs longest was given up; 0 when none hangs",
    registers: [this.#registry],
  });

  constructor(most: number) {
    this.most = most;
  }

  get size(): number {
    return this.#hung.size;
  }

  get isFull(): boolean {
    return this.#hung.size >= this.most;
  }

  /** @param suspect the check that was last about to do something in it */
  add(prober: number, suspect: number | null, nowMs: number): void {
    this.#hung.set(prober, { suspect, sinceMs: nowMs });
    this.#armExit();
  }

  /** Lets the process end although some thread has not ended. */
  leave(): void {
    this.#isLeft = true;
    this.#armExit();
  }

  /** Node joins every thread before it ends: a process whose work is done would stay until the native call returns. */
  #armExit(): void {
    if (this.#isExitArmed) return;
    this.#isExitArmed = true;
    process.on("exit", (code) => {
      if (this.#isLeft || this.#hung.size > 0) loadLibc()?._exit(code);
    });
  }

  /** @returns how long it was known to hang, ms; undefined when it was not known to hang */
  remove(prober: number, nowMs: number): number | undefined {
    const hung = this.#hung.get(prober);
    this.#hung.delete(prober);
    return hung === undefined ? undefined : nowMs - hung.sinceMs;
  }

  /** One line for the operator about each hanging prober. */
  troubles(): readonly string[] {
    return [...this.#hung].map(([prober, { suspect, sinceMs }]) => {
      const check = suspect === null ? "no check is suspected" : `check ${suspect} is the suspect`;
      return `prober ${prober} hangs in native code since ${new Date(sinceMs).toISOString()}: ${check}`;
    });
  }

  /** In Prometheus' format. */
  metrics(): Promise<string> {
    const since = [...this.#hung.values()].map(({ sinceMs }) => sinceMs);
    this.#count.set(since.length);
    this.#oldest.set(since.length === 0 ? 0 : Math.min(...since) / 1_000);
    return this.#registry.metrics();
  }
}
