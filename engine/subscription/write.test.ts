/** What is written as Clash or sing-box is read as the same config again, for every protocol, carrier and security. */
import { dump } from "js-yaml";
import { describe, expect, it } from "vitest";
import { singbox, singboxOutbound } from "../cores/singbox.ts";
import { LINKS } from "../protocols/share-link/links.suite.ts";
import type { ProxyConfig } from "../protocols/share-link/proxy-config.ts";
import { parseProxyLink } from "../protocols/share-link/proxy-link.ts";
import { entriesOf } from "./body.ts";
import { FormatGap, writeClashProxy } from "./write-clash.ts";

const CONFIGS = [...LINKS].map(([name, link]) => [name, parseProxyLink(link).config] as const);

function onlyConfigIn(text: string): ProxyConfig | undefined {
  const [entry, ...others] = [...entriesOf(text)];
  if (others.length > 0 || entry?.kind !== "config") return undefined;
  expect(entry.read.name).toBe("n: #1");
  return entry.read.config;
}

/** What sing-box says of a config is less than what it may hold; of what it says, nothing may get lost. */
const asSingbox = (config: ProxyConfig): object => singboxOutbound({ tag: "n: #1", config, address: config.host });

/** xray's HTTP header is an HTTP transport to sing-box, and is read as that. */
const hasHeader = ({ transport }: ProxyConfig): boolean => transport.type === "raw" && transport.header !== null;

describe("a config that is written", () => {
  it.each(CONFIGS)("as Clash is the same when it is read: %s", (_, config) => {
    let proxy: object;
    try {
      proxy = writeClashProxy(config, "n: #1");
    } catch (error) {
      expect(error).toBeInstanceOf(FormatGap);
      return;
    }
    expect(onlyConfigIn(dump({ proxies: [proxy] }))).toEqual(config);
  });

  it("as Clash has a place in it but for what Clash has not", () => {
    const kept = CONFIGS.filter(([, config]) => {
      try {
        return writeClashProxy(config, "n") !== null;
      } catch {
        return false;
      }
    });
    expect(kept.length).toBeGreaterThan(CONFIGS.length / 2);
  });

  it.each(CONFIGS.filter(([, config]) => singbox.supports(config) === undefined && !hasHeader(config)))(
    "as sing-box says the same when it is read: %s",
    (_, config) => {
      const read = onlyConfigIn(JSON.stringify({ outbounds: [asSingbox(config)] }));
      expect(read).toBeDefined();
      if (read !== undefined) expect(asSingbox(read)).toEqual(asSingbox(config));
    },
  );
});
