import { describe, expect, it } from "vitest";
import type { TunnelFields } from "../contract/tunnel.ts";
import { configOf as amneziaConfigOf, parseAmneziawg } from "../protocols/amneziawg/config.ts";
import { configOf as openvpnConfigOf, parseOpenvpn } from "../protocols/openvpn/config.ts";
import { takeLink } from "../protocols/share-link/tunnel.ts";
import { parseTrojan } from "../protocols/trojan/config.ts";
import { parseWireguard, configOf as wireguardConfigOf } from "../protocols/wireguard/config.ts";
import { EXAMPLE_FILE } from "../protocols/wireguard/example.ts";
import { linkOf, linkSettings } from "../tunnels/link-settings.ts";
import { tunnelSettings } from "../tunnels/settings.ts";
import { Handover } from "./handover.ts";

describe("what a parser leaves", () => {
  it("is taken once, and by the very object only", () => {
    const handover = new Handover<object, string>();
    const key = {};
    handover.leave(key, "config");
    expect(handover.take({})).toBeUndefined();
    expect([handover.take(key), handover.take(key)]).toEqual(["config", undefined]);
  });

  const file = { config: EXAMPLE_FILE, host: "192.0.2.7", port: 4_500 };
  const profile = {
    config: "client\ndev tun\nremote vpn.test-site.org 1194 udp\n<ca>\nx\n</ca>\n",
    username: "a",
    password: "b",
  };
  it.each<[string, Parameters<typeof tunnelSettings>[0], (fields: TunnelFields) => unknown, TunnelFields]>([
    ["wireguard", parseWireguard, wireguardConfigOf, file],
    ["amneziawg", parseAmneziawg, amneziaConfigOf, file],
    ["openvpn", parseOpenvpn, openvpnConfigOf, profile],
  ])("%s: the schema's own reading is what runs, and equals another one", (_name, parse, configOf, fields) => {
    const settings = tunnelSettings(parse).parse(fields);
    const spoilt = Object.assign(settings, { config: "no configuration at all" });
    const taken = configOf(spoilt);
    expect(taken).toEqual(configOf(tunnelSettings(parse).parse(fields)));
    expect(() => configOf(spoilt)).toThrow();
  });

  it("of a share link is its config; the probe parses nothing again", () => {
    const settings = linkSettings(parseTrojan).parse({ url: "trojan://secret@vpn.test-site.org:443", engine: "xray" });
    const link = linkOf(Object.assign(settings, { url: "no link" }));
    expect(link.config).toMatchObject({
      host: "vpn.test-site.org",
      account: { protocol: "trojan", password: "secret" },
    });
    const { fields } = parseTrojan({ url: "trojan://secret@vpn.test-site.org:443" });
    expect(takeLink(fields)).toEqual(link);
  });
});
