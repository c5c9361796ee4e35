/**
 * Lists that have ended the thread of syncs: such a list is not read again for an hour. When a workspace has several of them, none of its lists
 * is read, so a thousand subscriptions to one hostile list end no more threads than a few do. Pure: the clock is an argument.
 */

const REST_MS = 60 * 60_000;
/** When a workspace has so many of them within an hour, none of its lists is read until the hour of the oldest is over. */
const MOST_OF_WORKSPACE = 3;
/** Lists in memory; beyond it the oldest is forgotten. */
const MOST_REMEMBERED = 10_000;

export interface ListAddress {
  readonly workspaceId: number;
  readonly subscriptionId: number;
  /** Of the subscription's address: another address is another list. */
  readonly addressHash: string;
}

export interface RestingList extends ListAddress {
  /** The bound that it exceeded, in words for operators and users. */
  readonly reason: string;
  readonly untilMs: number;
}

export class RestingLists {
  #lists: RestingList[];

  constructor(lists: readonly RestingList[] = []) {
    this.#lists = [...lists];
  }

  add(list: ListAddress, reason: string, nowMs: number): void {
    this.#lists.push({ ...list, reason, untilMs: nowMs + REST_MS });
    if (this.#lists.length > MOST_REMEMBERED) this.#lists.shift();
  }

  /** Those that rest now, the oldest first. */
  all(nowMs: number): readonly RestingList[] {
    this.#lists = this.#lists.filter(({ untilMs }) => untilMs > nowMs);
    return this.#lists;
  }

  /** @returns the sentence that a sync fails with; undefined when the list may be read */
  refusal(list: ListAddress, nowMs: number): string | undefined {
    const resting = this.all(nowMs);
    const same = resting.findLast(
      ({ subscriptionId, addressHash }) => subscriptionId === list.subscriptionId && addressHash === list.addressHash,
    );
    if (same !== undefined) {
      return `The list took more than ${same.reason} to read and is not read again before ${new Date(same.untilMs).toISOString()}.`;
    }
    const ofWorkspace = resting.filter(({ workspaceId }) => workspaceId === list.workspaceId);
    const oldest = ofWorkspace.at(-MOST_OF_WORKSPACE);
    if (oldest === undefined) return undefined;
    return `Lists of this workspace took too long to read several times: none is read before ${new Date(oldest.untilMs).toISOString()}.`;
  }
}
