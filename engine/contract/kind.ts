/**
 * A kind's descriptor: everything in which kinds differ, said once, in engine/probes/<kind>.ts. The API, the document, the store's callers, the
 * command line, the demo and the probers read it. Descriptors are loaded by processes that check nothing, so the code of a check is loaded
 * apart from them (`load`).
 */

import type { Socket } from "node:net";
import { z } from "zod";
import type { PassiveKind, TunnelProtocol, UptimeKind } from "../../model/kind.ts";
import type { Engine } from "../../model/subscription.ts";
import type { Outcome, ProbeContext } from "./probe.ts";
import type { TunnelParser } from "./tunnel.ts";
import type { OwnFieldName } from "./tunnel-fields.ts";

/** One check. Settings are what the kind's schema yields. */
export interface Runner<Settings> {
  run(settings: Settings, context: ProbeContext): Promise<Outcome>;
}

interface Facts<Settings> {
  /** One line for people, as `Website: requests a URL and judges the status code`. */
  readonly summary: string;
  /**
   * The kind's own fields with the API's names, messages and descriptions: checks the body, documents it, and yields what is stored and run. It
   * is idempotent: parse(parse(x)) equals parse(x). Every refusal carries its message. Its secrets are named by `secretFields`; all fields of a tunnel are.
   */
  readonly settings: z.ZodType<Settings>;
  /** A body that creates a monitor of the kind, without `type` and `name`. The document shows it. */
  readonly example: Readonly<Record<string, unknown>>;
}

export interface Target {
  /** Lowercase, without brackets: one text for one host. */
  readonly host: string;
  /** 0 for what has none: ping. */
  readonly port: number;
}

/** The form of addresses that `sonde check` takes for the kind. */
export interface AddressForm {
  /** Without `://`. */
  readonly schemes: readonly string[];
  /** @param address whole, with its scheme when it has one. @returns settings before their schema, and the address as it is shown; undefined: it has another form */
  read(address: string): AddressRead | undefined;
}
export interface AddressRead {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly place: string;
}

/** A monitor of the demo, and its target on loopback. */
export interface DemoMonitor {
  readonly name: string;
  /** What the local target does with a TCP connection, or answers to a datagram; neither: the kind needs no port. */
  serve?(socket: Socket): void;
  answer?(datagram: Uint8Array): Uint8Array | undefined;
  /** The kind's own fields of the monitor's body. */
  settings(target: Target): Readonly<Record<string, unknown>>;
}

interface UptimeFacts<Settings> extends Facts<Settings> {
  readonly kind: UptimeKind;
  /** Fields that the contract does not name for this kind of the contract: its messages do not list the kind for them. */
  readonly unnamedFields?: readonly string[];
  /** Fields that are kept sealed and shown as ***: a text whole, of an object its values. */
  readonly secretFields?: readonly string[];
  /** Fields that the version before does not have, and that change what is asked (wire-kind.ts). */
  readonly laterFields?: readonly string[];
}

interface ActiveFacts<Settings> extends UptimeFacts<Settings> {
  readonly kind: Exclude<UptimeKind, PassiveKind>;
  /** What a check of these settings dials: the address guard judges it, and monitors of one host share its limits. */
  target(settings: Settings): Target;
  /** Whether a check of these settings sees a certificate whose expiry can be alerted on. Asked where the schema has `ssl_expiration`. */
  seesCertificate?(settings: Settings): boolean;
  /** null: `sonde check` has no address for it. */
  readonly address: AddressForm | null;
  readonly demo: DemoMonitor | null;
}

interface PassiveFacts<Settings> extends UptimeFacts<Settings> {
  readonly kind: PassiveKind;
}

export interface ActiveUptime<Settings> extends ActiveFacts<Settings> {
  readonly family: "uptime";
  readonly isPassive: false;
  /** In the thread that runs checks: loads the code. */
  load(): Promise<Runner<Settings>>;
}
export interface PassiveUptime<Settings> extends PassiveFacts<Settings> {
  readonly family: "uptime";
  readonly isPassive: true;
}

/** What a tunnel is configured by. */
export type TunnelForm =
  /** A share link, which a proxy core opens. */
  | {
      readonly by: "link";
      readonly schemes: readonly [string, ...string[]];
      readonly cores: readonly [Engine, ...Engine[]];
    }
  /** A file of wg-quick: the fields' other names are understood, and an endpoint may come as `host`. */
  | { readonly by: "wg-quick" }
  /** A file of OpenVPN, or the same as fields. */
  | { readonly by: "openvpn-file" }
  /** Fields only. */
  | { readonly by: "server" };

interface TunnelFacts<Settings> extends Facts<Settings> {
  readonly kind: TunnelProtocol;
  readonly form: TunnelForm;
  /** The fields that its parser reads. */
  readonly fields: readonly OwnFieldName[];
  /** Reads and checks the fields, and names the account behind them. */
  readonly parse: TunnelParser;
  /** What the server identifies its clients by: checks with the same one never overlap. null: the server takes any number of sessions. */
  readonly account: string | null;
  /** Why an anonymous caller may not have it checked, as text for people; undefined: it may. */
  refuseAnonymous?(fields: Parameters<TunnelParser>[0]): string | undefined;
}

export interface Tunnel<Settings> extends TunnelFacts<Settings> {
  readonly family: "tunnel";
  readonly isPassive: false;
  load(): Promise<Runner<Settings>>;
}

/** Of some kind; its settings are what its own schema yields. */
export type AnyUptime = ActiveUptime<unknown> | PassiveUptime<unknown>;
export type AnyTunnel = Tunnel<unknown>;
export type AnyKind = AnyUptime | AnyTunnel;

type Run<Settings> = Runner<Settings>["run"];
/** Code that is loaded with the first check of the kind: a module with an export `run`. */
type Load<Settings> = { readonly load: () => Promise<Runner<Settings>> };

/** @param run the check itself where it is short, or a loader of the module where it has many dependencies */
export function defineUptime<Settings>(
  facts: ActiveFacts<Settings>,
  run: Run<Settings> | Load<Settings>,
): ActiveUptime<Settings> {
  return { ...facts, family: "uptime", isPassive: false, load: loaderOf(run) };
}

export function definePassive<Settings>(facts: PassiveFacts<Settings>): PassiveUptime<Settings> {
  return { ...facts, family: "uptime", isPassive: true };
}

export function defineTunnel<Settings>(
  facts: TunnelFacts<Settings>,
  run: Run<Settings> | Load<Settings>,
): Tunnel<Settings> {
  return { ...facts, family: "tunnel", isPassive: false, load: loaderOf(run) };
}

function loaderOf<Settings>(run: Run<Settings> | Load<Settings>): () => Promise<Runner<Settings>> {
  return typeof run === "function" ? async () => ({ run }) : run.load;
}

export type Fields = Readonly<Record<string, z.ZodType>>;

/** The fields of a kind's own schema, whatever rules stand around them. */
export function fieldsOf({ settings }: Facts<unknown>): Fields {
  let schema: unknown = settings;
  while (schema instanceof z.ZodPipe) schema = schema.in;
  return schema instanceof z.ZodObject ? (schema.shape as Fields) : {};
}
