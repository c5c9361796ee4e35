import { defineProbe } from "../probe.ts";
import { parseVless } from "../protocols/vless/config.ts";
import { linkSettings } from "../tunnels/link-settings.ts";
import { checkShareLink } from "../tunnels/share-link.ts";

/** VLESS: a request through the server to an endpoint whose answer proves the passage. */
export const vless = defineProbe({
  summary: "VLESS: opens the link in a proxy core and asks a known endpoint through it",
  settings: linkSettings(parseVless),
  run: checkShareLink,
});
