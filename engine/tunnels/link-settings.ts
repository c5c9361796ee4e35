/** Settings of a share link's probe: the link, and the one engine that is wanted, if any. */

import { z } from "zod";
import type { Engine } from "../../model/subscription.ts";
import { TunnelConfigError, type TunnelParser } from "../contract/tunnel.ts";
import type { NamedConfig } from "../protocols/share-link/proxy-config.ts";
import { parseProxyLink } from "../protocols/share-link/proxy-link.ts";
import { takeLink } from "../protocols/share-link/tunnel.ts";

export interface LinkSettings {
  readonly url: string;
  readonly engine?: Engine | undefined;
}

const fields = z.object({ url: z.string().optional(), engine: z.enum(["xray", "singbox"]).optional() });

/** Refuses what the parser refuses, with its reason. */
export function linkSettings(parse: TunnelParser): z.ZodType<LinkSettings> {
  return fields.transform(({ url, engine }, context): LinkSettings => {
    try {
      const { fields } = parse(url === undefined ? {} : { url });
      const settings = { url: fields.url ?? "", ...(engine !== undefined && { engine }) };
      const link = takeLink(fields);
      if (link !== undefined) links.set(settings, link);
      return settings;
    } catch (error) {
      if (!(error instanceof TunnelConfigError)) throw error;
      context.addIssue({ code: "custom", message: `Invalid VPN configuration: ${error.message}` });
      return z.NEVER;
    }
  });
}

const links = new WeakMap<LinkSettings, NamedConfig>();

/** Read once: settings are one object for as long as a prober knows the monitor. */
export function linkOf(settings: LinkSettings): NamedConfig {
  const link = links.get(settings) ?? parseProxyLink(settings.url);
  links.set(settings, link);
  return link;
}
