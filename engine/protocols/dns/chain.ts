/** What a reply says about the name that was asked: aliases followed inside the answer section (RFC 1034 section 3.6.2). Pure. */
import type { DnsRecord, Query, Reply } from "./message.ts";

/** Aliases followed in one answer and over further questions together; resolvers in use stop between 8 and 16. */
export const ALIAS_LIMIT = 12;

export interface ChainResult {
  /** Where the aliases led. */
  readonly name: string;
  readonly aliases: number;
  /** Records of the asked type at that name. */
  readonly records: readonly DnsRecord[];
  /** Smallest TTL on the way; what follows from the whole chain may be kept no longer. */
  readonly ttlS: number;
}

/** Undefined when the aliases run in a circle or are too many. */
export function followChain(reply: Reply, query: Query): ChainResult | undefined {
  const aliasOf = new Map<string, DnsRecord>();
  // A question for the alias itself ends at the alias.
  if (query.type !== "CNAME") {
    for (const record of reply.records) if (record.type === "CNAME") aliasOf.set(record.name, record);
  }
  let name = query.name;
  let ttlS = Number.POSITIVE_INFINITY;
  let aliases = 0;
  for (let alias = aliasOf.get(name); alias !== undefined; alias = aliasOf.get(name)) {
    aliases++;
    if (aliases > ALIAS_LIMIT) return undefined;
    ttlS = Math.min(ttlS, alias.ttlS);
    name = alias.data;
  }
  const records = reply.records.filter((record) => record.type === query.type && record.name === name);
  for (const record of records) ttlS = Math.min(ttlS, record.ttlS);
  return { name, aliases, records, ttlS };
}
