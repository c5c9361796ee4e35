/**
 * The scheduler's side of the quarantine: keeps in SQL which configurations brought any prober down, and stops probers from running them.
 * A held spec is defined again as one that cannot be run. So the same code serves threads of this process and separate
 * checkers, monitors, tests and one-off checks; a monitor of many configs loses only the harmful one.
 */
import type { Logger } from "pino";
import { configsOf, type Fingerprint } from "../../engine/contract/fingerprint.ts";
import type { CheckRun, CheckSpec } from "../../engine/contract/messages.ts";
import type { HarmOfRun, Probers } from "../../engine/pool/probers.ts";
import { BoundedMap } from "../../model/bounded-map.ts";
import { quarantineMessage, strike } from "../../model/quarantine.ts";
import type { Harm, Quarantines } from "../../store/sql/coordination/quarantine-port.ts";

/** How often the store is read for what other processes found, and our own findings are written again that it did not take, ms. */
export const REFRESH_MS = 5_000;
/** Most findings that wait for a store that is away; beyond it the oldest are forgotten. */
const MOST_UNSAVED = 1_000;

export interface QuarantineOptions {
  readonly store: Quarantines;
  readonly fingerprint: Fingerprint;
  readonly nowMs: () => number;
  readonly log: Pick<Logger, "warn" | "error">;
  /** The store has a new entry: other processes should read it. */
  readonly onStruck: () => void;
}

interface Held {
  readonly message: string;
  readonly untilMs: number;
}

interface Known {
  readonly spec: CheckSpec;
  fingerprints: readonly { readonly id: number; readonly fingerprint: string }[] | null;
  /** The faults of its quarantined configs with which it is defined now; empty: it is defined as it came. */
  shown: string;
  revision: number;
  /** Its definition is right while the quarantine has this version, and until `untilMs`. */
  version: number;
  untilMs: number;
}

export class SchedulerQuarantine {
  readonly #options: QuarantineOptions;
  readonly #specs = new Map<number, Known>();
  #held: ReadonlyMap<string, Held> = new Map();
  /** Specs that are defined with a fault instead of as they came. */
  #altered = 0;
  #version = 1;
  /** By fingerprint: findings that the store has not confirmed yet. */
  readonly #unsaved = new BoundedMap<string, Harm>(MOST_UNSAVED);
  #harms = 0;

  constructor(options: QuarantineOptions) {
    this.#options = options;
  }

  /** Configurations that are held now. */
  get size(): number {
    return this.#held.size;
  }

  /** Reads the quarantined configurations, and writes the findings that the store has not taken yet. Rejects when the store is away; then nothing changes. */
  async refresh(): Promise<void> {
    const { store, nowMs } = this.#options;
    for (const [fingerprint] of [...this.#unsaved]) await this.#save(fingerprint);
    const harms = this.#harms;
    const records = await store.held(nowMs());
    // A finding that came meanwhile is not in these records: the next look reads it.
    if (harms !== this.#harms) return;
    const held = new Map<string, Held>();
    for (const { fingerprint, reason, untilMs } of records) {
      held.set(fingerprint, { untilMs, message: quarantineMessage(reason, untilMs) });
    }
    for (const [fingerprint] of this.#unsaved) {
      const known = this.#held.get(fingerprint);
      if (known !== undefined) held.set(fingerprint, known);
    }
    if (isSame(held, this.#held)) return;
    this.#held = held;
    this.#version += 1;
  }

  /** A run brought its prober down, here or at a checker. */
  harmed({ place }: Pick<CheckRun, "place">, { spec, configId, reason }: HarmOfRun): void {
    const { nowMs, fingerprint, log } = this.#options;
    const all = configsOf(spec);
    const named = all.filter(({ id }) => id === configId);
    // One-off checks stand for no monitor.
    const monitorId = place !== undefined && place.home > 0 ? place.home : null;
    const location = place?.location ?? "any";
    const held = new Map(this.#held);
    for (const config of named.length > 0 ? named : all) {
      const harm: Harm = { fingerprint: fingerprint(config), kind: config.kind, reason, monitorId, location };
      const { untilMs } = strike(undefined, nowMs());
      held.set(harm.fingerprint, { untilMs, message: quarantineMessage(reason, untilMs) });
      log.warn({ monitorId, location, kind: config.kind, reason }, "a configuration is quarantined");
      this.#unsaved.set(harm.fingerprint, harm);
      void this.#save(harm.fingerprint);
    }
    this.#held = held;
    this.#version += 1;
    this.#harms += 1;
  }

  /** Wraps the probers, so that they run no quarantined configuration. */
  guard(probers: Probers): Probers {
    const adapt = (runs: readonly CheckRun[]): void => {
      if (this.#held.size === 0 && this.#altered === 0) return;
      const changed: CheckSpec[] = [];
      for (const { specKey } of runs) {
        const spec = this.#settle(specKey);
        if (spec !== undefined) changed.push(spec);
      }
      if (changed.length > 0) probers.define(changed);
    };
    return {
      define: (specs) => {
        for (const spec of specs) this.#remember(spec);
        probers.define(specs);
      },
      forget: (specKeys) => {
        for (const key of specKeys) this.#forget(key);
        probers.forget(specKeys);
      },
      run: (runs) => {
        adapt(runs);
        probers.run(runs);
      },
      get size() {
        return probers.size;
      },
      get inFlight() {
        return probers.inFlight;
      },
      get overBudget() {
        return probers.overBudget;
      },
      close: () => probers.close(),
    };
  }

  #remember(spec: CheckSpec): void {
    this.#forget(spec.key);
    this.#specs.set(spec.key, { spec, fingerprints: null, shown: "", revision: 0, version: 0, untilMs: 0 });
  }

  #forget(key: number): void {
    if (this.#specs.get(key)?.shown !== "") this.#altered -= this.#specs.has(key) ? 1 : 0;
    this.#specs.delete(key);
  }

  /** @returns the spec as it must be defined again; undefined when its definition is right */
  #settle(key: number): CheckSpec | undefined {
    const known = this.#specs.get(key);
    const nowMs = this.#options.nowMs();
    if (known === undefined || (known.version === this.#version && nowMs < known.untilMs)) return undefined;
    known.fingerprints ??= configsOf(known.spec).map((config) => ({
      id: config.id,
      fingerprint: this.#options.fingerprint(config),
    }));
    const faults = new Map<number, string>();
    known.version = this.#version;
    known.untilMs = Number.POSITIVE_INFINITY;
    for (const { id, fingerprint } of known.fingerprints) {
      const held = this.#held.get(fingerprint);
      if (held === undefined || nowMs >= held.untilMs) continue;
      faults.set(id, held.message);
      known.untilMs = Math.min(known.untilMs, held.untilMs);
    }
    const shown = [...faults].join("\n");
    if (shown === known.shown) return undefined;
    this.#altered += (shown === "" ? 0 : 1) - (known.shown === "" ? 0 : 1);
    known.shown = shown;
    known.revision += 1;
    return { ...withFaults(known.spec, faults), revision: known.revision };
  }

  async #save(fingerprint: string): Promise<void> {
    const { store, nowMs, log, onStruck } = this.#options;
    const harm = this.#unsaved.get(fingerprint);
    if (harm === undefined) return;
    try {
      await store.strike(harm, nowMs());
      this.#unsaved.delete(fingerprint);
      onStruck();
    } catch (error) {
      log.error({ err: error }, "a quarantined configuration is not in the store yet; it is tried again");
    }
  }
}

/** Replaces quarantined configurations by their faults, so that their settings go to no prober. */
function withFaults(spec: CheckSpec, faults: ReadonlyMap<number, string>): CheckSpec {
  if (faults.size === 0) return spec;
  const { configs = [] } = spec;
  const own = configs.length === 0 ? faults.values().next().value : undefined;
  if (own !== undefined) return { ...spec, settings: {}, fault: own };
  return {
    ...spec,
    configs: configs.map((config) => {
      const fault = faults.get(config.id);
      return fault === undefined ? config : { ...config, settings: {}, fault };
    }),
  };
}

function isSame(one: ReadonlyMap<string, Held>, other: ReadonlyMap<string, Held>): boolean {
  if (one.size !== other.size) return false;
  for (const [fingerprint, { untilMs }] of one) if (other.get(fingerprint)?.untilMs !== untilMs) return false;
  return true;
}
