/** Lists of share links in any format of providers. */

export interface LinkList {
  readonly links: readonly { readonly at: number; readonly link: string }[];
  /** The first ones that cannot be read. */
  readonly bad: readonly { readonly at: number; readonly reason: string }[];
  readonly badCount: number;
  /** What the provider says in the first entry that is no server. */
  readonly message: string | null;
}

/** Why there is no list: a whole sentence, which has nothing of the address but its host. */
export interface NoLinkList {
  readonly fault: string;
}

export interface LinkLists {
  /**
   * Has the list from a subscription's address, past the address guard.
   * @param read makes links of what came
   */
  fetch(
    url: string,
    read: (text: string) => Promise<LinkList | NoLinkList>,
    signal: AbortSignal,
  ): Promise<LinkList | NoLinkList>;
}
