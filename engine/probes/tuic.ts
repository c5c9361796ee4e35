import { defineProbe } from "../probe.ts";
import { parseTuic } from "../protocols/tuic/config.ts";
import { linkSettings } from "../tunnels/link-settings.ts";
import { checkShareLink } from "../tunnels/share-link.ts";

/** TUIC: a request through the server to an endpoint whose answer proves the passage. */
export const tuic = defineProbe({
  summary: "TUIC: opens the link in a proxy core and asks a known endpoint through it",
  settings: linkSettings(parseTuic),
  run: checkShareLink,
});
