/** THE LIST of sealed columns: what a rotation of the sealing key seals anew. A new one is one line. */
import { SEALED_FOR } from "../sealing.ts";

export interface SealedColumn {
  readonly table: string;
  /** The table's primary key, one number. */
  readonly key: string;
  readonly column: string;
  /** What it is sealed for, as the code that seals it says. */
  readonly purpose: string;
}

export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: "heartbeats", key: "monitor_id", column: "token_sealed", purpose: SEALED_FOR.heartbeat },
  { table: "hash_keys", key: "id", column: "sealed", purpose: SEALED_FOR.hashKey },
  { table: "monitors", key: "id", column: "sealed", purpose: SEALED_FOR.tunnel },
  { table: "imported_configs", key: "id", column: "sealed", purpose: SEALED_FOR.tunnel },
  { table: "subscriptions", key: "id", column: "url_sealed", purpose: SEALED_FOR.subscription },
  { table: "webhooks", key: "id", column: "secret_sealed", purpose: SEALED_FOR.webhook },
  { table: "locations", key: "id", column: "key_sealed", purpose: SEALED_FOR.location },
  { table: "locations", key: "id", column: "next_key_sealed", purpose: SEALED_FOR.location },
  { table: "webhooks", key: "id", column: "old_secret_sealed", purpose: SEALED_FOR.webhook },
];
