/** Lists of share links in any format of providers: read from their text, or had from a subscription's address past the address guard. */

export interface LinkList {
  readonly links: readonly { readonly at: number; readonly link: string }[];
  /** The first ones that cannot be read. */
  readonly bad: readonly { readonly at: number; readonly reason: string }[];
  readonly badCount: number;
}

/** Why there is no list: a whole sentence, which has nothing of the address but its host. */
export interface NoLinkList {
  readonly fault: string;
}

export interface LinkLists {
  read(text: string): Promise<LinkList | NoLinkList>;
  fetch(url: string, signal: AbortSignal): Promise<LinkList | NoLinkList>;
}
