/** Healthy share links as files of clients: Clash (mihomo) and sing-box, the fastest first, with a group that takes the fastest. Pure. */
import { singbox, singboxOutbound } from "../../engine/direct/links.ts";
import type { ProxyConfig } from "../../engine/protocols/share-link/proxy-config.ts";
import { parseProxyLink } from "../../engine/protocols/share-link/proxy-link.ts";
import { clashText, FormatGap, writeClashProxy } from "../../engine/subscription/write-clash.ts";
import type { BulkResult } from "./tally.ts";

/** What clients ask to find the fastest, and how often, s. */
const TEST_URL = "https://www.gstatic.com/generate_204";
const TEST_EVERY_S = 300;
const FASTEST = "Fastest";

export interface ClientList {
  readonly text: string;
  /** Healthy ones that the client has no place for, and why. */
  readonly leftOut: readonly { readonly at: number | string; readonly reason: string }[];
}

type Written = { readonly name: string; readonly value: object };

export function clashList(healthy: readonly BulkResult[]): ClientList {
  const { written, leftOut } = writeAll(healthy, writeClashProxy);
  const names = written.map(({ name }) => name);
  const group = { name: FASTEST, type: "url-test", url: TEST_URL, interval: TEST_EVERY_S, proxies: names };
  const document = {
    proxies: written.map(({ value }) => value),
    ...(names.length > 0 && { "proxy-groups": [group], rules: [`MATCH,${FASTEST}`] }),
  };
  return { text: clashText(document), leftOut };
}

export function singboxList(healthy: readonly BulkResult[]): ClientList {
  const { written, leftOut } = writeAll(healthy, (config, tag) => {
    const gap = singbox.supports(config);
    if (gap !== undefined) throw new FormatGap(gap);
    return singboxOutbound({ tag, config, address: config.host });
  });
  const names = written.map(({ name }) => name);
  const group = { type: "urltest", tag: FASTEST, outbounds: names, url: TEST_URL, interval: `${TEST_EVERY_S}s` };
  const outbounds = [...(names.length > 0 ? [group] : []), ...written.map(({ value }) => value)];
  return { text: `${JSON.stringify({ outbounds }, null, 2)}\n`, leftOut };
}

function writeAll(healthy: readonly BulkResult[], write: (config: ProxyConfig, name: string) => object) {
  const written: Written[] = [];
  const leftOut: { at: number | string; reason: string }[] = [];
  const nameOf = createNames();
  for (const { item } of healthy) {
    const { url } = item.settings;
    try {
      if (typeof url !== "string") throw new FormatGap("it is no share link");
      const name = nameOf(item.name ?? item.place);
      written.push({ name, value: write(parseProxyLink(url).config, name) });
    } catch (error) {
      if (!(error instanceof FormatGap)) throw error;
      leftOut.push({ at: item.at, reason: error.message });
    }
  }
  return { written, leftOut };
}

/** Clients refuse a list in which a name stands twice. */
function createNames(): (wanted: string) => string {
  const taken = new Set([FASTEST]);
  const numbers = new Map<string, number>();
  return (wanted) => {
    let number = numbers.get(wanted) ?? 1;
    let name = wanted;
    while (taken.has(name)) name = `${wanted} ${++number}`;
    numbers.set(wanted, number);
    taken.add(name);
    return name;
  };
}
