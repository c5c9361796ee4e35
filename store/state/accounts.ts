/**
 * Accounts in use: checks with the same identity at the same server never run at once (docs/decisions/0002-one-check-one-way.md), whichever process asked for them.
 * Within a scheduler a limit of one place ensures that; between processes a lease, which expires, so that a process that dies blocks no account for long.
 */
export interface AccountLeases {
  /**
   * Takes the account, or renews the lease on it.
   * @param token names this use of the account
   * @param keepMs from now until it is free again, unless it is renewed
   * @returns false while another use holds it
   * @throws StoreError when the store cannot say
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
