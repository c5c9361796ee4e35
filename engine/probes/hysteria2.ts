import { defineProbe } from "../probe.ts";
import { parseHysteria2 } from "../protocols/hysteria2/config.ts";
import { linkSettings } from "../tunnels/link-settings.ts";
import { checkShareLink } from "../tunnels/share-link.ts";

/** Hysteria2: a request through the server to an endpoint whose answer proves the passage. */
export const hysteria2 = defineProbe({
  summary: "Hysteria2: opens the link in a proxy core and asks a known endpoint through it",
  settings: linkSettings(parseHysteria2),
  run: checkShareLink,
});
