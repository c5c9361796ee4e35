/** Makes the input of a monitor's check: settings with the whole address and the secrets of a website, or the opened fields of a tunnel. */
import type { ConfigSpec } from "../../engine/contract/messages.ts";
import {
  isUptimeKind,
  parse,
  TunnelConfigError,
  type TunnelFields,
  tunnelOf,
  uptimeOf,
} from "../../engine/contract/registry.ts";
import { hiddenField, restoreSecrets } from "../../model/hidden-settings.ts";
import { familyOf, type TunnelProtocol } from "../../model/kind.ts";
import type { Monitor } from "../../model/monitor.ts";
import { configCell, SEALED_CELLS, type SealedCell } from "../../store/sealed-cells.ts";
import { openTarget } from "../../store/sealing/target.ts";

export interface CheckInput {
  readonly settings: Monitor["settings"];
  /** The account's name: checks with the same one never run at the same time (docs/decisions/0002-one-check-one-way.md); null: no account stands behind it. */
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

type Open = (where: SealedCell, sealed: string) => string;

/** Of an account that a tunnel's parser identified. */
type NameAccount = (protocol: TunnelProtocol, identity: string) => string;

/** @param open takes secrets out of their seal. @param onFault one that does not open, with the row that it is in */
export function createInputReader(
  open: Open,
  nameAccount: NameAccount,
  onFault: (error: unknown) => void = () => {},
): ReadInput {
  const opening: Open = (where, sealed) => {
    try {
      return open(where, sealed);
    } catch (error) {
      onFault(error);
      throw error;
    }
  };
  return (monitor) => {
    const { id, kind, sealed } = monitor;
    if (familyOf(kind) === "uptime") return readTarget(monitor, opening);
    if (sealed === undefined) return readConfigs(monitor, opening);
    const fields = fieldsIn(SEALED_CELLS.tunnel(id), sealed, opening);
    if (fields === undefined) return { settings: {}, identity: null, fault: SEALED_WITH_ANOTHER };
    const protocol = kind as TunnelProtocol;
    const identity = identityOf(protocol, fields);
    return { settings: { ...fields }, identity: identity === null ? null : nameAccount(protocol, identity) };
  };
}

function readTarget(monitor: Monitor, open: Open): CheckInput {
  try {
    return readSettings(withSecrets(openTarget(monitor, open), open));
  } catch {
    return { settings: {}, identity: null, fault: SEALED_WITH_ANOTHER };
  }
}

/** @throws when a secret is not there: a check without it would ask for something else */
function withSecrets(monitor: Monitor, open: Open): Monitor {
  const { id, kind, settings, sealed } = monitor;
  const fields = isUptimeKind(kind) ? (uptimeOf(kind).secretFields ?? []) : [];
  if (hiddenField(settings, fields) === undefined) return monitor;
  const secrets =
    sealed === undefined ? {} : (JSON.parse(open(SEALED_CELLS.tunnel(id), sealed)) as Monitor["settings"]);
  const whole = restoreSecrets(settings, fields, secrets);
  const missing = hiddenField(whole, fields);
  if (missing !== undefined) throw new Error(`the ${missing} of monitor ${id} is not there`);
  return { ...monitor, settings: whole };
}

/** Servers of share links take any number of sessions of one account, so none of them waits for another. */
function readConfigs({ configs, projectId, subscriptionEngines }: Monitor, open: Open): CheckInput {
  if (configs === undefined || configs.length === 0) return { settings: {}, identity: null, fault: NOTHING_SEALED };
  const engine =
    subscriptionEngines === undefined || subscriptionEngines === "both" ? {} : { engine: subscriptionEngines };
  const specs = configs.map(({ id, kind, identity, sealed }): ConfigSpec => {
    const fields = fieldsIn(configCell(projectId, identity), sealed, open);
    return fields === undefined
      ? { id, kind, settings: {}, fault: SEALED_WITH_ANOTHER }
      : { id, kind, settings: { ...fields, ...engine } };
  });
  return { settings: {}, identity: null, configs: specs };
}

/** @returns undefined when they were sealed with another key, or for another row */
function fieldsIn(where: SealedCell, sealed: string, open: Open): TunnelFields | undefined {
  try {
    return JSON.parse(open(where, sealed)) as TunnelFields;
  } catch {
    return undefined;
  }
}

/** Expiry settings are shared by a host's website checks, so they are columns; the probe asks for the domain's expiry when one is set. */
export function readSettings({ settings, domainExpirationDays }: Monitor): CheckInput {
  const whole = domainExpirationDays === null ? settings : { ...settings, domain_expiration: domainExpirationDays };
  return { settings: whole, identity: null };
}

/** Parses nothing when the kind has no account. A configuration that this version no longer accepts gives null: its probe refuses it. */
function identityOf(protocol: TunnelProtocol, fields: TunnelFields): string | null {
  if (tunnelOf(protocol).account === null) return null;
  try {
    return parse(protocol, fields).identity;
  } catch (error) {
    if (error instanceof TunnelConfigError) return null;
    throw error;
  }
}
