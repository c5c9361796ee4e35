/** What a monitor's check is given: settings as they are, or a tunnel's fields out of their seal. */
import type { ConfigSpec } from "../engine/check.ts";
import { parse, TunnelConfigError, type TunnelFields } from "../engine/registry.ts";
import { familyOf, type TunnelProtocol } from "../model/kind.ts";
import type { Monitor } from "../model/monitor.ts";

export interface CheckInput {
  readonly settings: Monitor["settings"];
  /** Checks with the same one never run at the same time (design 3.3); null: no account stands behind it. */
  readonly identity: string | null;
  /** Of an imported server: what is run instead of settings. */
  readonly configs?: readonly ConfigSpec[];
  /** Why it cannot be run: a fault of ours. */
  readonly fault?: string;
}

/** No configuration of its own, and none from a subscription. */
const NOTHING_SEALED = "The monitor has no configuration";
const SEALED_WITH_ANOTHER = "The monitor's secrets cannot be opened with the sealing key";

export type ReadInput = (monitor: Monitor) => CheckInput;

/** @param open takes a tunnel's fields out of their seal */
export function createInputReader(open: (sealed: string) => string): ReadInput {
  return (monitor) => {
    const { kind, sealed } = monitor;
    if (familyOf(kind) === "uptime") return readSettings(monitor);
    if (sealed === undefined) return readConfigs(monitor, open);
    const fields = fieldsIn(sealed, open);
    if (fields === undefined) return { settings: {}, identity: null, fault: SEALED_WITH_ANOTHER };
    return { settings: { ...fields }, identity: identityOf(kind as TunnelProtocol, fields) };
  };
}

/** Servers of share links take any number of sessions of one account, so none of them waits for another. */
function readConfigs({ configs, subscriptionEngines }: Monitor, open: (sealed: string) => string): CheckInput {
  if (configs === undefined || configs.length === 0) return { settings: {}, identity: null, fault: NOTHING_SEALED };
  const engine =
    subscriptionEngines === undefined || subscriptionEngines === "both" ? {} : { engine: subscriptionEngines };
  const specs = configs.map(({ id, kind, sealed }): ConfigSpec => {
    const fields = fieldsIn(sealed, open);
    return fields === undefined
      ? { id, kind, settings: {}, fault: SEALED_WITH_ANOTHER }
      : { id, kind, settings: { ...fields, ...engine } };
  });
  return { settings: {}, identity: null, configs: specs };
}

/** @returns undefined when they were sealed with another key */
function fieldsIn(sealed: string, open: (sealed: string) => string): TunnelFields | undefined {
  try {
    return JSON.parse(open(sealed)) as TunnelFields;
  } catch {
    return undefined;
  }
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
