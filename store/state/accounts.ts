/**
 * Accounts in use: checks with the same identity at the same server never run at once (docs/decisions/0002-one-check-one-way.md), whichever process asked for them.
 * Within a scheduler a gate sees to it; between processes a lease, which runs out by itself, so that a death blocks no account for long.
 */
export interface AccountLeases {
  /**
   * Takes the account, or goes on holding it.
   * @param token of this use
   * @param keepMs from now until it is free again, unless it is renewed
   * @returns false while another use holds it
   * @throws StoreError when it cannot be known
   */
  hold(identity: string, token: string, keepMs: number): Promise<boolean>;
  /** Only its own; never throws: it runs out otherwise. */
  release(identity: string, token: string): Promise<void>;
}

export interface OpenAccountLeases extends AccountLeases {
  close(): Promise<void>;
}

/** How soon one that is held by another is asked for again, ms. */
export const ASK_AGAIN_MS = 100;
