/** What several open incidents have in common: the host that their monitors ask. Pure. */
import type { Schemas } from "../api/client.ts";

type Row = Schemas["IncidentRow"];

export interface SharedHost {
  readonly host: string;
  readonly incidents: readonly Row[];
}

/** @returns what a monitor asks, without ports; of a tunnel the servers of its configurations */
export function hostsOf({ host, url, subscription }: Schemas["Monitor"]): readonly string[] {
  if (host) return [host];
  if (url && URL.canParse(url)) return [new URL(url).hostname];
  return [...new Set((subscription?.configs ?? []).map(({ server }) => server))];
}

/**
 * @param incidents the open ones
 * @param hosts by the monitor's id
 * @returns hosts that two monitors or more share, the one of most first; of hosts with the same incidents only the first
 */
export function sharedHosts(
  incidents: readonly Row[],
  hosts: ReadonlyMap<string, readonly string[]>,
): readonly SharedHost[] {
  const found = new Map<string, Row[]>();
  for (const incident of incidents) {
    for (const host of hosts.get(incident.server_id) ?? []) found.set(host, [...(found.get(host) ?? []), incident]);
  }
  const seen = new Set<string>();
  return [...found]
    .map(([host, rows]) => ({ host, incidents: rows }))
    .filter(({ incidents: rows }) => {
      const ids = rows.map(({ id }) => id).join();
      const isNew = !seen.has(ids);
      seen.add(ids);
      return isNew && new Set(rows.map(({ server_id: id }) => id)).size > 1;
    })
    .sort((a, b) => b.incidents.length - a.incidents.length);
}
