/**
 * Lists that have taken the thread of syncs along: such a list is not read again for an hour. A workspace with several of them rests as a whole,
 * so that a thousand subscriptions to one hostile list cost a thread no more than a few. Pure: the clock is an argument.
 */

const REST_MS = 60 * 60_000;
/** So many lists of one workspace within an hour, and none of its lists is read until the oldest of them has rested. */
const MOST_OF_WORKSPACE = 3;
/** Lists that are remembered; beyond it the oldest is forgotten. */
const MOST_REMEMBERED = 10_000;

export interface ListAddress {
  readonly workspaceId: number;
  readonly subscriptionId: number;
  /** Of the subscription's address: another address is another list. */
  readonly addressHash: string;
}

export interface RestingList extends ListAddress {
  /** What it took too much of, for people. */
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
