/**
 * Places of sealed texts in SQL. Each text is bound to its column and row, so a process that may write to the database but has no key
 * cannot put one secret in the place of another.
 */

/** What a location's checkers, a start's check value and the form before the present one are sealed for: a word alone. */
export const SEALED_FOR = {
  heartbeat: "heartbeat",
  /** Configs, passwords and share links, of monitors and of what subscriptions brought. */
  tunnel: "tunnel",
  /** A website's whole address. */
  target: "target",
  /** A subscription's URL. */
  subscription: "subscription",
  /** The key of the hashes that subscriptions' URLs are compared by. */
  hashKey: "hash key",
  /** A webhook's signing secret. */
  webhook: "webhook",
  /** A webhook's whole address. */
  webhookUrl: "webhook url",
  /** A location's own key: what goes to its checkers is sealed with it. */
  location: "location",
} as const;

/** The one key of address hashes so far, among hash_keys. */
export const URL_HASH_KEY = 1;

export interface SealedPlace {
  /** What the form before was bound to. */
  readonly purpose: string;
  /** Table and column. Two columns between which a text moves within its row have one name. */
  readonly column: string;
  /** What never changes of the row: its id, or what it is known by before it has one. */
  readonly row: string;
}

function placesOf(column: string, purpose: string): (row: number | string) => SealedPlace {
  return (row) => ({ purpose, column, row: String(row) });
}

export const SEALED_AT = {
  /** By the monitor's id. */
  heartbeat: placesOf("heartbeats.token_sealed", SEALED_FOR.heartbeat),
  /** By id. */
  hashKey: placesOf("hash_keys.sealed", SEALED_FOR.hashKey),
  /** By the monitor's id. */
  tunnel: placesOf("monitors.sealed", SEALED_FOR.tunnel),
  /** By the monitor's id. */
  target: placesOf("monitors.url_sealed", SEALED_FOR.target),
  /** By id. */
  subscription: placesOf("subscriptions.url_sealed", SEALED_FOR.subscription),
  /** By the webhook's id; the secret before is kept beside the present one. */
  webhook: placesOf("webhooks.secret_sealed", SEALED_FOR.webhook),
  /** By the webhook's id. */
  webhookUrl: placesOf("webhooks.url_sealed", SEALED_FOR.webhookUrl),
  /** By code; the next key becomes the present one. */
  location: placesOf("locations.key_sealed", SEALED_FOR.location),
} as const;

const config = placesOf("imported_configs.sealed", SEALED_FOR.tunnel);

/** A config is sealed before it has a row; its identity is a keyed hash of all that it says. */
export function configPlace(projectId: number, identity: string): SealedPlace {
  return config(`${projectId} ${identity}`);
}
