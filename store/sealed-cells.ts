/**
 * Cells of SQL that hold sealed texts. Each text is bound to its column and row, so a process that may write to the database but has no key
 * cannot put one secret in the place of another.
 */

/** What a location's checkers, a start's check value and the form before the present one are sealed for: a word alone. */
export const SEALED_FOR = {
  heartbeat: "heartbeat",
  /** Configs, passwords and share links, of monitors and of what subscriptions brought; secrets of websites' requests. */
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
  /** What is secret of a channel's settings: addresses with a password in them, tokens. */
  channel: "channel",
  /** A location's own key: what goes to its checkers is sealed with it. */
  location: "location",
  /** What a status page's links, badges and password are made and judged with. */
  statusPage: "status page",
} as const;

/** The one key of address hashes so far, among hash_keys. */
export const URL_HASH_KEY = 1;

export interface SealedCell {
  /** What the form before was bound to. */
  readonly purpose: string;
  /** Table and column. Two columns between which a text moves within its row have one name. */
  readonly column: string;
  /** What never changes of the row: its id, or what it is known by before it has one. */
  readonly row: string;
}

function cellsOf(column: string, purpose: string): (row: number | string) => SealedCell {
  return (row) => ({ purpose, column, row: String(row) });
}

export const SEALED_CELLS = {
  /** By the monitor's id. */
  heartbeat: cellsOf("heartbeats.token_sealed", SEALED_FOR.heartbeat),
  /** By id. */
  hashKey: cellsOf("hash_keys.sealed", SEALED_FOR.hashKey),
  /** By the monitor's id. */
  tunnel: cellsOf("monitors.sealed", SEALED_FOR.tunnel),
  /** By the monitor's id. */
  target: cellsOf("monitors.url_sealed", SEALED_FOR.target),
  /** By id. */
  subscription: cellsOf("subscriptions.url_sealed", SEALED_FOR.subscription),
  /** By the webhook's id; the secret before is kept beside the present one. */
  webhook: cellsOf("webhooks.secret_sealed", SEALED_FOR.webhook),
  /** By the webhook's id. */
  webhookUrl: cellsOf("webhooks.url_sealed", SEALED_FOR.webhookUrl),
  /** By the channel's id. */
  channel: cellsOf("channels.sealed", SEALED_FOR.channel),
  /** By the page's id. */
  statusPage: cellsOf("status_pages.access_sealed", SEALED_FOR.statusPage),
  /** By code; the next key becomes the present one. */
  location: cellsOf("locations.key_sealed", SEALED_FOR.location),
} as const;

const config = cellsOf("imported_configs.sealed", SEALED_FOR.tunnel);

/** A config is sealed before it has a row; its identity is a keyed hash of all that it says. */
export function configCell(projectId: number, identity: string): SealedCell {
  return config(`${projectId} ${identity}`);
}
