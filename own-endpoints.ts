/** Our own listeners and stores, as the address guard compares them: refused whatever SONDE_ALLOW_NETS says (design, section 8). */
import { lookup } from "node:dns/promises";
import { isIPv6 } from "node:net";

/** Where stores listen when their URL names no port. */
const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  "postgres:": 5_432,
  "postgresql:": 5_432,
  "redis:": 6_379,
  "rediss:": 6_379,
  "http:": 80,
  "https:": 443,
};

/**
 * @param listener host and port of the API; null where there is none
 * @param storeUrls URLs of stores; null for those that have none
 * @returns `ip:port`, IPv6 in brackets
 */
export async function ownEndpoints(
  listener: { readonly host: string; readonly port: number } | null,
  storeUrls: readonly (string | null)[],
): Promise<readonly string[]> {
  const stores = storeUrls
    .filter((url) => url !== null)
    .map((text) => {
      const url = new URL(text);
      return {
        host: url.hostname.replace(/^\[|\]$/g, ""),
        port: url.port === "" ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port),
      };
    });
  const endpoints = await Promise.all(
    [...(listener === null ? [] : [listener]), ...stores].map(({ host, port }) => addressesOf(host, port)),
  );
  return [...new Set(endpoints.flat())];
}

async function addressesOf(host: string, port: number): Promise<readonly string[]> {
  try {
    const found = await lookup(host, { all: true });
    return found.map(({ address }) => `${isIPv6(address) ? `[${address}]` : address}:${port}`);
  } catch {
    // A store whose name does not resolve now is not reachable by a check either; opening it has failed or will.
    return [];
  }
}
