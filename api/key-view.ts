/** The API key record, without its secret (docs/api-contract.md#keys): camelCase, integer ids. */
import { keyStatus } from "../model/key.ts";
import { formatUtc } from "../model/time.ts";
import type { KeyRecord } from "../store/sql/accounts/keys-port.ts";

/** As listed: `active` is 1 or 0. */
export function viewKey(key: KeyRecord, nowMs: number) {
  return {
    id: key.id,
    name: key.name,
    userID: key.userId,
    organizationId: key.organizationId,
    createdDate: formatUtc(key.createdAtMs),
    active: key.active ? 1 : 0,
    expires: utcOrNull(key.expiresAtMs),
    lastUsedAt: utcOrNull(key.lastUsedAtMs),
    status: keyStatus(key, nowMs),
  };
}

function utcOrNull(atMs: number | null): string | null {
  return atMs === null ? null : formatUtc(atMs);
}
