/** THE LIST of sealed columns: what a rotation of the sealing key seals anew. A new one is one line. */
import { configPlace, SEALED_AT, type SealedPlace } from "../sealed-places.ts";

export interface SealedColumn {
  readonly table: string;
  /** The table's primary key, one number. */
  readonly key: string;
  readonly column: string;
  /** SQL expressions of what the place of a row is made of, as the code that seals it makes it. */
  readonly row: readonly string[];
  readonly place: (...row: readonly (string | number)[]) => SealedPlace;
}

export const SEALED_COLUMNS: readonly SealedColumn[] = [
  byKey("heartbeats", "monitor_id", "token_sealed", SEALED_AT.heartbeat),
  byKey("hash_keys", "id", "sealed", SEALED_AT.hashKey),
  byKey("monitors", "id", "sealed", SEALED_AT.tunnel),
  byKey("monitors", "id", "url_sealed", SEALED_AT.target),
  {
    table: "imported_configs",
    key: "id",
    column: "sealed",
    row: ["(select m.project_id from monitors m where m.id = imported_configs.monitor_id)", "identity"],
    place: (projectId = 0, identity = "") => configPlace(Number(projectId), String(identity)),
  },
  byKey("subscriptions", "id", "url_sealed", SEALED_AT.subscription),
  byKey("webhooks", "id", "secret_sealed", SEALED_AT.webhook),
  byKey("webhooks", "id", "old_secret_sealed", SEALED_AT.webhook),
  byKey("webhooks", "id", "url_sealed", SEALED_AT.webhookUrl),
  { ...byKey("locations", "id", "key_sealed", SEALED_AT.location), row: ["code"] },
  { ...byKey("locations", "id", "next_key_sealed", SEALED_AT.location), row: ["code"] },
];

function byKey(
  table: string,
  key: string,
  column: string,
  placeOf: (row: string | number) => SealedPlace,
): SealedColumn {
  return { table, key, column, row: [key], place: (row = "") => placeOf(row) };
}
