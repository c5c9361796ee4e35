/** What a server keeps of its clients. Tests look at the first things; a demo runs for days. */

/** Of each list. */
const MOST_LISTED = 1_000;
/** Clients at one time: a check is over within seconds, and its client does not come back. */
const MOST_CLIENTS = 64;

/** Adds to a list while it is short. */
export function list<Item>(items: Item[], ...more: readonly Item[]): void {
  if (items.length < MOST_LISTED) items.push(...more);
}

/** Adds a client; the oldest one goes when there are many. @returns the one that went */
export function admit<Client>(clients: Map<number, Client>, key: number, client: Client): Client | undefined {
  clients.set(key, client);
  if (clients.size <= MOST_CLIENTS) return undefined;
  const [oldest] = clients;
  if (oldest === undefined) return undefined;
  clients.delete(oldest[0]);
  return oldest[1];
}
