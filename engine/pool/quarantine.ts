/**
 * Configurations that brought a prober of this process down, so that the next prober does not run them. They are kept for minutes only: the
 * scheduler is informed, keeps them for hours and days, and lets the operator lift the quarantine (scheduler/run/quarantine.ts). Pure.
 */
import { BoundedMap } from "../../model/bounded-map.ts";
import { quarantineMessage } from "../../model/quarantine.ts";
import { configsOf, type Fingerprint } from "../contract/fingerprint.ts";
import type { CheckSpec } from "../contract/messages.ts";

/** Long enough for a store that is away for a moment, short enough that a lifted quarantine ends soon, ms; our choice. */
const HELD_HERE_MS = 5 * 60_000;
/** Configurations that are remembered; beyond it those go that were held first. */
const MAX_HELD = 10_000;

export class Quarantine {
  readonly #fingerprint: Fingerprint;
  readonly #held = new BoundedMap<string, { readonly untilMs: number; readonly message: string }>(MAX_HELD);
  /** By spec, made when first asked for while something is held. */
  readonly #fingerprints = new Map<number, readonly string[]>();

  constructor(fingerprint: Fingerprint) {
    this.#fingerprint = fingerprint;
  }

  /**
   * @param configId the one of the spec's configs that did it; null: not known, or it has none
   * @returns the message that its runs are answered with
   */
  add(spec: CheckSpec, configId: number | null, reason: string, nowMs: number): string {
    const all = configsOf(spec);
    const named = all.filter(({ id }) => id === configId);
    const untilMs = nowMs + HELD_HERE_MS;
    const message = quarantineMessage(reason, untilMs);
    for (const config of named.length > 0 ? named : all)
      this.#held.set(this.#fingerprint(config), { untilMs, message });
    return message;
  }

  /** The spec is another one from now on, or none. */
  forget(specKey: number): void {
    this.#fingerprints.delete(specKey);
  }

  /** Why a spec must not run now; undefined when it may. */
  refusal(spec: CheckSpec, nowMs: number): string | undefined {
    if (this.#held.size === 0) return undefined;
    let fingerprints = this.#fingerprints.get(spec.key);
    if (fingerprints === undefined) {
      fingerprints = configsOf(spec).map(this.#fingerprint);
      this.#fingerprints.set(spec.key, fingerprints);
    }
    for (const fingerprint of fingerprints) {
      const held = this.#held.get(fingerprint);
      if (held === undefined) continue;
      if (nowMs < held.untilMs) return held.message;
      this.#held.delete(fingerprint);
    }
    if (this.#held.size === 0) this.#fingerprints.clear();
    return undefined;
  }
}
