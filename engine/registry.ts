/** The probes by kind. The only file of the engine that the API may import. */
import type { ZodType } from "zod";
import type { TunnelProtocol } from "../model/kind.ts";
import type { Probe } from "./probe.ts";
import * as list from "./probes/index.ts";
import { pushSettings } from "./probes/push.ts";
import type { ParsedTunnel, TunnelFields } from "./tunnel.ts";
import { tunnelParsers } from "./tunnel-parsers.ts";

export { createFingerprint } from "./fingerprint.ts";
/** Anonymous callers may not have PKCS #12 files opened. */
export { hasPkcs12 } from "./protocols/openvpn/key-files.ts";
/** The API refuses addresses with the guard that the probers dial through. */
export { createGuard, isDocumentationName, type Judgement } from "./transport/guard.ts";
/** Names are asked of the same servers as by the probers. */
export { createNameLookup } from "./transport/name-lookup.ts";
export { type ParsedTunnel, TunnelConfigError, type TunnelFields } from "./tunnel.ts";

/** A probe of some kind; its settings are what its own schema yields. */
export type AnyProbe = Probe<unknown>;
export type ProbeList = Readonly<Record<string, AnyProbe>>;

/** Does not compile when the list exports anything but probes. */
export const probes: ProbeList = list;

/** Heartbeats have settings and no probe: the scheduler judges them. */
const WITHOUT_PROBE: Readonly<Record<string, ZodType>> = { push: pushSettings };

/** The schema of a kind's own API fields; undefined for a kind that cannot be measured here. */
export function settingsOf(kind: string): ZodType | undefined {
  return probeOf(probes, kind)?.settings ?? (Object.hasOwn(WITHOUT_PROBE, kind) ? WITHOUT_PROBE[kind] : undefined);
}

/** Kinds are foreign words: `constructor` is not one. */
export function probeOf(among: ProbeList, kind: string): AnyProbe | undefined {
  return Object.hasOwn(among, kind) ? among[kind] : undefined;
}

/** What a tunnel's configuration means, whether or not it can be measured here. @throws TunnelConfigError */
export function parse(protocol: TunnelProtocol, fields: TunnelFields): ParsedTunnel {
  return tunnelParsers[protocol](fields);
}
