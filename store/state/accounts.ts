/**
 * Accounts in use: checks with the same identity at the same server never run at once (docs/decisions/0002-one-check-one-way.md), whichever process asked for them.
 * Within a scheduler a gate ensures it; between processes a lease, which expires, so that a process that dies blocks no account for long.
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
  /** Releases only the lease of this token. Never throws: a lease that is not released expires. */
  release(identity: string, token: string): Promise<void>;
}

export interface OpenAccountLeases extends AccountLeases {
  close(): Promise<void>;
}

/** Wait before an account that another use holds is asked for again, ms. */
export const ASK_AGAIN_MS = 100;
