/**
 * ChannelSlots for attempts: each channel has a few, one while it fails, and failing channels share a separate set. So hundreds of receivers that
 * hang take no place from the others.
 */

/** Attempts at once; our choice: hundreds of channels that begin to hang at once leave places to the others, and sockets are few. */
const PLACES = { healthy: 256, failing: 64 } as const;
/** Attempts at once of one channel. */
const PLACES_OF_ONE = 4;
/** Attempts at once beyond each channel's first: when many begin to hang, each of the others still gets a first place. */
const EXTRA_PLACES = 32;

interface Taken {
  readonly channelId: number;
  readonly groupId: number;
  readonly failing: boolean;
  readonly isExtra: boolean;
}

export class ChannelSlots {
  /** By message. */
  readonly #taken = new Map<number, Taken>();
  readonly #ofChannel = new Map<number, number>();

  get taken(): number {
    return this.#taken.size;
  }

  get perChannel(): number {
    return PLACES_OF_ONE;
  }

  left(failing: boolean): number {
    const used = [...this.#taken.values()].filter((one) => one.failing === failing).length;
    return (failing ? PLACES.failing : PLACES.healthy) - used;
  }

  /** Channels that have all their places. */
  full(failing: boolean): readonly number[] {
    const most = failing || this.#extra >= EXTRA_PLACES ? 1 : PLACES_OF_ONE;
    return [...this.#ofChannel].flatMap(([channelId, count]) => (count >= most ? [channelId] : []));
  }

  /** Messages that have a place. */
  get underWay(): readonly number[] {
    return [...this.#taken.keys()];
  }

  get #extra(): number {
    return [...this.#taken.values()].filter(({ isExtra }) => isExtra).length;
  }

  /** @returns false: it is under way, another of its group is (they keep their order), or there is no place */
  take(
    message: { readonly id: number; readonly channelId: number; readonly groupId: number },
    failing: boolean,
  ): boolean {
    const { id, channelId, groupId } = message;
    const count = this.#ofChannel.get(channelId) ?? 0;
    const others = [...this.#taken.values()];
    if (this.#taken.has(id) || this.left(failing) <= 0 || count >= (failing ? 1 : PLACES_OF_ONE)) return false;
    if (count > 0 && others.some((one) => one.channelId === channelId && one.groupId === groupId)) return false;
    const isExtra = count > 0;
    if (isExtra && this.#extra >= EXTRA_PLACES) return false;
    this.#taken.set(id, { channelId, groupId, failing, isExtra });
    this.#ofChannel.set(channelId, count + 1);
    return true;
  }

  free(id: number): void {
    const taken = this.#taken.get(id);
    if (taken === undefined) return;
    this.#taken.delete(id);
    const count = (this.#ofChannel.get(taken.channelId) ?? 1) - 1;
    if (count > 0) this.#ofChannel.set(taken.channelId, count);
    else this.#ofChannel.delete(taken.channelId);
  }
}
