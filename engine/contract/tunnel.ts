/** Tunnel configurations: the input of a monitor or a one-off check, and the result of a protocol's parser. Pure. */
import { createHash } from "node:crypto";
import type { TunnelProtocol } from "../../model/kind.ts";
import { OWN_FIELD_NAMES, type TunnelFields } from "./tunnel-fields.ts";

export type { TunnelFields } from "./tunnel-fields.ts";

/** One of the servers that an OpenVPN client tries in order (docs/api-contract.md#tunnel-fields). */
export type TunnelServer = NonNullable<TunnelFields["servers"]>[number];

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
   * A hash of the account at its server, with what proves it: checks with the same one never run at the same time, because servers of these protocols
   * drop the older session of a key or login. null: any number may. It is no name to show or to store: a password could be guessed by it.
   */
  readonly identity: string | null;
}

/** A configuration that cannot work. The message is the reason in words for people, never a secret. */
export class TunnelConfigError extends Error {
  override readonly name = "TunnelConfigError";

  /** No stack trace: an import may create 100,000 of these errors, and capturing stacks would dominate the cost. */
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

/**
 * @param account what the server identifies its clients by
 * @param secret what proves it. A login without it drops no session, and a caller who knows the name of an account, and often that is the server's name
 *   alone, must not keep its owner's checks waiting.
 */
export function identityOf(protocol: TunnelProtocol, account: string, secret: string, server: TunnelEndpoint): string {
  return createHash("sha256").update(`${protocol}\0${server.host}\0${account}\0${secret}`).digest("base64url");
}

/** The fields that are present, in one order, blank texts left out: equal configurations have equal text. */
export function presentFields(fields: TunnelFields): TunnelFields {
  const present: Record<string, unknown> = {};
  for (const name of OWN_FIELD_NAMES) {
    const value = fields[name];
    if (value !== undefined && value !== "") present[name] = value;
  }
  return present;
}
