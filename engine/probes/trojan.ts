import { defineProbe } from "../probe.ts";
import { parseTrojan } from "../protocols/trojan/config.ts";
import { linkSettings } from "../tunnels/link-settings.ts";
import { checkShareLink } from "../tunnels/share-link.ts";

/** Trojan: a request through the server to an endpoint whose answer proves the passage. */
export const trojan = defineProbe({
  summary: "Trojan: opens the link in a proxy core and asks a known endpoint through it",
  settings: linkSettings(parseTrojan),
  run: checkShareLink,
});
