/** What is remembered of configs: that a core refuses them, or that one died with them inside. Pure, within a bound. */

/** Of each of the two. */
const REMEMBERED = 10_000;
/** A config with which so many cores died, the last of them with nobody else inside, is to blame. */
const DEATHS_OF_THE_GUILTY = 3;

/** A config by what it is, not by what it is called. */
export interface Known {
  /** Costly: only asked for where somebody is remembered. */
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
