/** The tunnel of a share link: where it leads, and that a core can be given it. */
import {
  type ParsedTunnel,
  presentFields,
  required,
  TunnelConfigError,
  type TunnelEndpoint,
  type TunnelFields,
} from "../../contract/tunnel.ts";
import { Handover } from "../../net/handover.ts";
import { parseHost, parsePort } from "../endpoint.ts";
import { canonical } from "./canonical.ts";
import type { ShareLink } from "./link.ts";
import type { NamedConfig } from "./proxy-config.ts";

const links = new Handover<TunnelFields, NamedConfig>();

/** Of the fields that tunnelOf() returned, once. */
export function takeLink(fields: TunnelFields): NamedConfig | undefined {
  return links.take(fields);
}

/** The tunnel of a link: the link itself is what is kept. */
export function tunnelOf(fields: TunnelFields, read: (link: string) => ShareLink): ParsedTunnel {
  const url = required(fields, "url").trim();
  const link = read(url);
  // Whatever a core would stumble over is refused here, by the name of its field.
  const kept = presentFields({ url });
  links.leave(kept, canonical(link));
  return {
    protocol: link.protocol,
    fields: kept,
    endpoints: [{ host: link.host, port: link.port }, ...otherServers(link)],
    // Servers of these protocols take any number of sessions of one account.
    identity: null,
  };
}

/** xhttp can load what comes back from another server: that one is dialled too. */
function otherServers({ parameters }: ShareLink): readonly TunnelEndpoint[] {
  const extra = parameters.get("extra");
  if (extra === undefined || extra === "") return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(extra);
  } catch {
    throw new TunnelConfigError("extra is not JSON");
  }
  const download = member(parsed, "downloadSettings");
  const address = member(download, "address");
  if (address === undefined) return [];
  const port = member(download, "port");
  if (typeof address !== "string") throw new TunnelConfigError("the address of downloadSettings is not a text");
  return [
    {
      host: parseHost(address, "the address of downloadSettings"),
      port: parsePort(String(port ?? "443"), "the port of downloadSettings"),
    },
  ];
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
