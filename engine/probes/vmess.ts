import { defineProbe } from "../probe.ts";
import { parseVmess } from "../protocols/vmess/config.ts";
import { linkSettings } from "../tunnels/link-settings.ts";
import { checkShareLink } from "../tunnels/share-link.ts";

/** VMess: a request through the server to an endpoint whose answer proves the passage. */
export const vmess = defineProbe({
  summary: "VMess: opens the link in a proxy core and asks a known endpoint through it",
  settings: linkSettings(parseVmess),
  run: checkShareLink,
});
