/** Leases on accounts in Redis: one key for each account in use; its value names the use. */
import type { AccountLeases, OpenAccountLeases } from "./accounts.ts";
import { holdAccount } from "./lua/hold-account.ts";
import { releaseAccount } from "./lua/release-account.ts";
import { connect, end, type Link, type RedisLocation } from "./redis.ts";
import { PREFIX } from "./redis-prefix.ts";

export function accountLeasesOver(link: Link): AccountLeases {
  // The identity is a keyed hash, so the key shows neither an account nor its password.
  const keyOf = (identity: string): string => `${PREFIX}account:{${identity}}`;
  return {
    hold: async (identity, token, keepMs) =>
      (await link.call(holdAccount, [keyOf(identity)], [token, Math.ceil(keepMs)])) === 1,
    release: (identity, token) =>
      link.call(releaseAccount, [keyOf(identity)], [token]).then(
        () => undefined,
        () => undefined,
      ),
  };
}

export async function openRedisAccounts({ url }: RedisLocation): Promise<OpenAccountLeases> {
  const link = await connect(url);
  return { ...accountLeasesOver(link), close: () => end(link.redis) };
}
