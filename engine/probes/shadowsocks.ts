import { defineProbe } from "../probe.ts";
import { parseShadowsocks } from "../protocols/shadowsocks/config.ts";
import { linkSettings } from "../tunnels/link-settings.ts";
import { checkShareLink } from "../tunnels/share-link.ts";

/** Shadowsocks: a request through the server to an endpoint whose answer proves the passage. */
export const shadowsocks = defineProbe({
  summary: "Shadowsocks: opens the link in a proxy core and asks a known endpoint through it",
  settings: linkSettings(parseShadowsocks),
  run: checkShareLink,
});
