/** The kinds by name. The only file of the engine that the API may import. */
import type { ZodType } from "zod";
import { CONTRACT_KINDS, type Kind, TUNNEL_PROTOCOLS, type TunnelProtocol, type UptimeKind } from "../../model/kind.ts";
import type { Engine } from "../../model/subscription.ts";
import { NetworkFault } from "../net/fault.ts";
import * as list from "../probes/index.ts";
import { withOpenedKey } from "../protocols/amneziavpn/key.ts";
import { parseProxyLink } from "../protocols/share-link/proxy-link.ts";
import type { AnyKind, AnyTunnel, AnyUptime, Runner } from "./kind.ts";
import type { Probe } from "./probe.ts";
import type { ParsedTunnel, TunnelFields } from "./tunnel.ts";

/** A key names its protocol itself. */
export { type AmneziaKey, isAmneziaKey, parseAmneziaKey } from "../protocols/amneziavpn/key.ts";
/** The API refuses websites that no check could dial. */
export { webUrlFault } from "../protocols/http/web-url.ts";
/** For the rule of the API that such a file must say where it leads. */
export { hasEndpoint } from "../protocols/wireguard/loose-entries.ts";
/** The API refuses addresses with the guard that the probers dial through. */
export { createGuard, isDocumentationName, type Judgement } from "../transport/guard.ts";
/** Names are asked of the same servers as by the probers. */
export { createNameLookup } from "../transport/name-lookup.ts";
export { accountName, createFingerprint } from "./fingerprint.ts";
export { type AnyTunnel, type AnyUptime, fieldsOf, type Target } from "./kind.ts";
export { type ParsedTunnel, TunnelConfigError, type TunnelFields } from "./tunnel.ts";
export * from "./tunnel-fields.ts";

type Listed = keyof typeof list;
/** Does not compile when the list lacks a kind, or exports what is none. */
const byKind: Readonly<Record<Kind, AnyKind> & Record<Exclude<Listed, Kind>, never>> = list;

/** Why the core cannot run the link. What knows is loaded where a caller names a core: few do. */
export async function engineGap(link: string, engine: Engine): Promise<string | undefined> {
  const choice = await import("../cores/choice.ts");
  return choice.engineGap(parseProxyLink(link).config, engine);
}

/** In the order of messages and of the document: the contract's, then those beside it by name. */
export const uptimeKinds: readonly AnyUptime[] = [
  ...CONTRACT_KINDS,
  ...Object.keys(byKind)
    .filter((kind) => ![...CONTRACT_KINDS, ...TUNNEL_PROTOCOLS].some((other) => other === kind))
    .sort(),
].map((kind) => uptimeOf(kind as UptimeKind));
export const tunnels: readonly AnyTunnel[] = TUNNEL_PROTOCOLS.map(tunnelOf);
export const UPTIME_KINDS: readonly UptimeKind[] = uptimeKinds.map(({ kind }) => kind);
export const KINDS: readonly Kind[] = [...UPTIME_KINDS, ...TUNNEL_PROTOCOLS];

/** Kinds are foreign words: `constructor` is not one. */
export function kindNamed(word: string): AnyKind | undefined {
  return Object.hasOwn(byKind, word) ? byKind[word as Kind] : undefined;
}

export function isUptimeKind(word: string): word is UptimeKind {
  return kindNamed(word)?.family === "uptime";
}

export function uptimeOf(kind: UptimeKind): AnyUptime {
  const described = byKind[kind];
  if (described.family !== "uptime" || described.kind !== kind)
    throw new Error(`${kind} is described as ${described.kind}`);
  return described;
}

export function tunnelOf(kind: TunnelProtocol): AnyTunnel {
  const described = byKind[kind];
  if (described.family !== "tunnel" || described.kind !== kind)
    throw new Error(`${kind} is described as ${described.kind}`);
  return described;
}

/** Whether settings say something that the version before does not know (wire-kind.ts). */
export function hasLaterField(kind: string, settings: Readonly<Record<string, unknown>>): boolean {
  const described = kindNamed(kind);
  const later = described?.family === "uptime" ? (described.laterFields ?? []) : [];
  return later.some((field) => settings[field] !== undefined && settings[field] !== null);
}

/** The schema of a kind's own API fields; undefined for what is no kind. */
export function settingsOf(kind: string): ZodType | undefined {
  return kindNamed(kind)?.settings;
}

/** What a tunnel's configuration means, whether or not it can be measured here. @throws TunnelConfigError */
export function parse(protocol: TunnelProtocol, fields: TunnelFields): ParsedTunnel {
  return tunnelOf(protocol).parse(withOpenedKey(protocol, fields));
}

/** A probe of some kind; its settings are what its own schema yields. */
export type AnyProbe = Probe<unknown>;
export type ProbeList = Readonly<Record<string, AnyProbe>>;

/** In the thread that runs checks: every kind that has code to run. */
export function probeList(kinds: readonly AnyKind[] = Object.values<AnyKind>(byKind)): ProbeList {
  const active = kinds.filter((described) => described.isPassive === false);
  return Object.fromEntries(active.map((described) => [described.kind, probeOf(described)]));
}

/** Who owns a monitor can do nothing about it, and is not to read where the program lies. */
const NOT_LOADED = "A part of Sonde cannot be loaded: its files have changed while it runs. It must be started again";

/**
 * Its code is loaded by its first check: most services watch a few of the kinds, and every prober's thread would keep the code of all. What cannot be
 * loaded is left to the thread as a stray rejection once, so that the log has it with its paths.
 */
function probeOf({ settings: schema, load }: Exclude<AnyKind, { readonly isPassive: true }>): AnyProbe {
  let runner: Runner<unknown> | null = null;
  let isLogged = false;
  const fail = (error: unknown): never => {
    if (!isLogged) void Promise.reject(error);
    isLogged = true;
    throw new NetworkFault("internal-error", NOT_LOADED);
  };
  return {
    settings: schema,
    run(settings, context) {
      if (runner !== null) return runner.run(settings, context);
      return load()
        .catch(fail)
        .then((loaded) => {
          runner = loaded;
          return loaded.run(settings, context);
        });
    },
  };
}
