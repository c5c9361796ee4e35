/** Tunnel configurations: the input of a monitor or a one-off check, and the result of a protocol's parser. Pure. */
import { createHash } from "node:crypto";
import type { TunnelProtocol } from "../model/kind.ts";

/** One of the servers that an OpenVPN client tries in order (docs/api-contract.md#tunnel-fields). */
export interface TunnelServer {
  readonly host: string;
  readonly port: number;
  readonly proto: "udp" | "tcp";
}

/** Fields as the contract names them, aliases resolved. Which of them a protocol reads is its parser's business. */
export interface TunnelFields {
  /** Share link. */
  readonly url?: string;
  /** Text of a config file. */
  readonly config?: string;
  readonly host?: string;
  readonly username?: string;
  readonly password?: string;
  readonly port?: number;
  readonly proto?: "udp" | "tcp";
  readonly remote_id?: string;
  /** Literal address used instead of resolving the host. */
  readonly ip?: string;
  readonly servers?: readonly TunnelServer[];
  readonly group?: string;
  readonly ca?: string;
  readonly pin?: string;
  readonly psk?: string;
}

export interface TunnelEndpoint {
  /** Name in its ASCII form, lowercase, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

export interface ParsedTunnel {
  readonly protocol: TunnelProtocol;
  /** What the protocol uses of the fields; kept sealed and handed to its probe. Parsing it again yields the same. */
  readonly fields: TunnelFields;
  /** Everything that may be dialled, at least one; the first names the monitor's host. */
  readonly endpoints: readonly TunnelEndpoint[];
  /**
   * A hash of the account at its server: checks with the same one never run at the same time, because servers of these protocols drop the
   * older session of a key or login. null: any number may.
   */
  readonly identity: string | null;
}

/** A configuration that cannot work. The message is the reason in words for people, never a secret. */
export class TunnelConfigError extends Error {
  override readonly name = "TunnelConfigError";

  /** Without a stack: a list of junk is refused by the hundred thousand, and where costs more to write down than to find out. */
  constructor(message: string, options?: ErrorOptions) {
    const before = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = before;
  }
}

export type TunnelParser = (fields: TunnelFields) => ParsedTunnel;

/** @throws TunnelConfigError `missing <field>` when the text is absent or blank */
export function required<Field extends "url" | "config" | "host" | "username" | "password">(
  fields: TunnelFields,
  field: Field,
): string {
  const value = fields[field];
  if (value === undefined || value.trim() === "") throw missing(field);
  return value;
}

export function missing(field: string): TunnelConfigError {
  return new TunnelConfigError(`missing ${field}`);
}

/** @param account what the server tells its clients apart by */
export function identityOf(protocol: TunnelProtocol, account: string, server: TunnelEndpoint): string {
  return createHash("sha256").update(`${protocol}\0${server.host}\0${account}`).digest("base64url");
}

/** The fields that were given, in one order, blank texts left out: equal configurations have equal text. */
export function given(fields: TunnelFields): TunnelFields {
  const present: Record<string, unknown> = {};
  for (const name of FIELD_NAMES) {
    const value = fields[name];
    if (value !== undefined && value !== "") present[name] = value;
  }
  return present;
}

/** Every field, in the order in which they are kept. */
export const FIELD_NAMES = [
  "url",
  "config",
  "host",
  "username",
  "password",
  "port",
  "proto",
  "remote_id",
  "ip",
  "servers",
  "group",
  "ca",
  "pin",
  "psk",
] as const satisfies readonly (keyof TunnelFields)[];
