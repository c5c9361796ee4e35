/** Configs that a core refused, or that were in a core when it died. Bounded. Pure. */
import { BoundedMap } from "../../model/bounded-map.ts";

/** Configs that each of the two lists remembers. */
const MAX_REMEMBERED = 10_000;
/** A config is blamed when this many cores died while they ran it, the last one with no other config in it. */
const CRASHES_TO_BLAME = 3;

/** A config, identified by its content. */
export interface QuarantineKey {
  /** Costly (a hash): read only when at least one config is remembered. */
  readonly key: string;
  readonly crashes: number;
}

export class ConfigQuarantine {
  readonly #quarantine = new BoundedMap<string, string>(MAX_REMEMBERED);
  readonly #crashes = new BoundedMap<string, number>(MAX_REMEMBERED);

  get quarantined(): number {
    return this.#quarantine.size;
  }

  /** Why it is blocked; undefined when it is not. */
  refusalOf(config: QuarantineKey): string | undefined {
    return this.#quarantine.size === 0 ? undefined : this.#quarantine.get(config.key);
  }

  crashesOf(config: QuarantineKey): number {
    return this.#crashes.size === 0 ? 0 : (this.#crashes.get(config.key) ?? 0);
  }

  block({ key }: QuarantineKey, reason: string): void {
    this.#quarantine.set(key, reason);
  }

  /** A core died with it inside. @returns whether it was to blame */
  recordCrash({ key, crashes }: QuarantineKey): boolean {
    if (crashes + 1 >= CRASHES_TO_BLAME) return true;
    this.#crashes.set(key, crashes + 1);
    return false;
  }

  /** Its check ended, and the core still ran. */
  forgetCrashes(config: QuarantineKey): void {
    if (this.#crashes.size > 0) this.#crashes.delete(config.key);
  }
}
