/** What a monitor's check is given: settings as they are, or a tunnel's fields out of their seal. */
import { parse, TunnelConfigError, type TunnelFields } from "../engine/registry.ts";
import { familyOf, type TunnelProtocol } from "../model/kind.ts";
import type { Monitor } from "../model/monitor.ts";

export interface CheckInput {
  readonly settings: Monitor["settings"];
  /** Checks with the same one never run at the same time (design 3.3); null: no account stands behind it. */
  readonly identity: string | null;
  /** Why it cannot be run: a fault of ours. */
  readonly fault?: string;
}

/** An imported monitor has no configuration of its own: its subscription's configs are what a check runs. */
const NOTHING_SEALED = "The monitor's configs come from a subscription, and this version does not run them";

export type ReadInput = (monitor: Monitor) => CheckInput;

/** @param open takes a tunnel's fields out of their seal */
export function createInputReader(open: (sealed: string) => string): ReadInput {
  return (monitor) => {
    const { kind, sealed } = monitor;
    if (familyOf(kind) === "uptime") return readSettings(monitor);
    if (sealed === undefined) return { settings: {}, identity: null, fault: NOTHING_SEALED };
    let fields: TunnelFields;
    try {
      fields = JSON.parse(open(sealed)) as TunnelFields;
    } catch {
      return { settings: {}, identity: null, fault: "The monitor's secrets cannot be opened with the sealing key" };
    }
    return { settings: { ...fields }, identity: identityOf(kind as TunnelProtocol, fields) };
  };
}

/** Expiry settings are shared by a host's website checks, so they are columns; the probe asks for the domain's expiry when one is set. */
export function readSettings({ settings, domainExpirationDays }: Monitor): CheckInput {
  const whole = domainExpirationDays === null ? settings : { ...settings, domain_expiration: domainExpirationDays };
  return { settings: whole, identity: null };
}

/** A configuration that this version no longer takes is for its probe to refuse. */
function identityOf(protocol: TunnelProtocol, fields: TunnelFields): string | null {
  try {
    return parse(protocol, fields).identity;
  } catch (error) {
    if (error instanceof TunnelConfigError) return null;
    throw error;
  }
}
