/** The mailbox that a scheduler's outcomes go to. Names are few and fixed, and held by a lease: checkers may not write to new ones. */
import { holdMailbox } from "./lua/hold-mailbox.ts";
import type { Link } from "./redis.ts";
import { MAILBOXES, mailboxKey, outcomesKey } from "./redis-run-keys.ts";

/** A mailbox is free again this long after its last renewal, ms; and how often it is renewed. */
const KEPT_MS = 10_000;
const RENEW_MS = 2_000;

export interface MailboxOptions {
  readonly link: Link;
  /** New at each start. */
  readonly scheduler: string;
  readonly locations: () => readonly string[];
  readonly monotonicNowMs: () => number;
}

export class Mailbox {
  readonly #options: MailboxOptions;
  #mailbox: string | null = null;
  #heldAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: MailboxOptions) {
    this.#options = options;
  }

  /** Where outcomes for this scheduler go; null: it has none yet. */
  get address(): string | null {
    return this.#mailbox === null ? null : `${this.#mailbox}.${this.#options.scheduler}`;
  }

  /** Takes or renews a mailbox that no other scheduler reads. @returns its address @throws when Redis cannot say */
  async hold(): Promise<string> {
    const nowMs = this.#options.monotonicNowMs();
    if (this.address !== null && nowMs - this.#heldAtMs < RENEW_MS) return this.address;
    const all = [...MAILBOXES].sort(() => Math.random() - 0.5);
    for (const mailbox of this.#mailbox === null ? all : [this.#mailbox, ...all]) {
      const { link, scheduler, locations } = this.#options;
      const held = Number(await link.call(holdMailbox, [mailboxKey(mailbox)], [scheduler, KEPT_MS]));
      if (held === 0) continue;
      const address = `${mailbox}.${scheduler}`;
      // Entries for the scheduler that had the mailbox before carry that scheduler's address.
      const isOthers = this.#mailbox !== mailbox;
      if (isOthers) for (const location of locations()) await link.redis.unlink(outcomesKey(location, address));
      this.#mailbox = mailbox;
      this.#heldAtMs = nowMs;
      return address;
    }
    throw new Error(`${MAILBOXES.length} schedulers are there already`);
  }

  async release(): Promise<void> {
    if (this.#mailbox === null) return;
    await this.#options.link.redis.del(mailboxKey(this.#mailbox)).catch(() => 0);
    this.#mailbox = null;
  }
}
