/** Configs that a core refused, or that were in a core when it died. Bounded. Pure. */

/** Of each of the two. */
const REMEMBERED = 10_000;
/** A config is blamed when this many cores died while they ran it, the last one with no other config in it. */
const DEATHS_OF_THE_GUILTY = 3;

/** A config by what it is, not by what it is called. */
export interface Known {
  /** Costly (a hash): read only when at least one config is remembered. */
  readonly key: string;
  readonly deaths: number;
}

export class Reputation {
  readonly #quarantine = new Map<string, string>();
  readonly #deaths = new Map<string, number>();

  get quarantined(): number {
    return this.#quarantine.size;
  }

  /** Why it is kept out; undefined when it is not. */
  refusalOf(config: Known): string | undefined {
    return this.#quarantine.size === 0 ? undefined : this.#quarantine.get(config.key);
  }

  deathsOf(config: Known): number {
    return this.#deaths.size === 0 ? 0 : (this.#deaths.get(config.key) ?? 0);
  }

  keepOut({ key }: Known, reason: string): void {
    remember(this.#quarantine, key, reason);
  }

  /** A core died with it inside. @returns whether it was to blame */
  died({ key, deaths }: Known): boolean {
    if (deaths + 1 >= DEATHS_OF_THE_GUILTY) return true;
    remember(this.#deaths, key, deaths + 1);
    return false;
  }

  /** Its core outlived it. */
  survived(config: Known): void {
    if (this.#deaths.size > 0) this.#deaths.delete(config.key);
  }
}

function remember<Value>(among: Map<string, Value>, key: string, value: Value): void {
  among.delete(key);
  among.set(key, value);
  const [oldest] = among.keys();
  if (among.size > REMEMBERED && oldest !== undefined) among.delete(oldest);
}
