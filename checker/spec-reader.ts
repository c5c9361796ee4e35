/** Parses the specs that schedulers send to a checker. Settings are not parsed here: the probes' schemas do that. */
import type { CheckSpec, ConfigSpec } from "../engine/contract/messages.ts";
import { kindOfWire } from "../engine/contract/wire-kind.ts";
import type { Kind } from "../model/kind.ts";
import { booleanOf, countOf, listOf, numberOf, objectOf, Refused, textOf } from "../model/plain-values.ts";
import { MAX_CONFIGS } from "../model/subscription.ts";

/** Only the form of a kind's name. The probers know the kinds, and answer `unsupported` for one that this version does not have. */
const KIND = /^[a-z][a-z0-9]{0,31}$/;
/** Characters; a fault is a text that a scheduler of ours wrote. */
const MOST_FAULT = 2_000;
/** An imported server may take 120 s; ten times that, ms. */
const MOST_TIMEOUT_MS = 1_200_000;

/** @throws Refused */
export function readSpec(value: unknown): CheckSpec {
  const from = objectOf(value, "spec");
  return {
    key: countOf(from.key, "key"),
    kind: kindOf(from.kind, "kind"),
    settings: objectOf(from.settings, "settings"),
    timeoutMs: numberOf(from.timeoutMs, 1, MOST_TIMEOUT_MS, "timeoutMs"),
    ...(from.configs !== undefined && { configs: listOf(from.configs, MAX_CONFIGS, "configs").map(configOf) }),
    ...(from.fault !== undefined && { fault: textOf(from.fault, MOST_FAULT, "fault") }),
    ...(from.isPublic !== undefined && { isPublic: booleanOf(from.isPublic, "isPublic") }),
    ...(from.workspace !== undefined && { workspace: countOf(from.workspace, "workspace") }),
    // Without the revision a checker would keep the spec that it knows, and would run a quarantined configuration.
    ...(from.revision !== undefined && { revision: countOf(from.revision, "revision") }),
  };
}

function configOf(value: unknown): ConfigSpec {
  const from = objectOf(value, "configs");
  return {
    id: countOf(from.id, "configs.id"),
    kind: kindOf(from.kind, "configs.kind"),
    settings: objectOf(from.settings, "configs.settings"),
    ...(from.fault !== undefined && { fault: textOf(from.fault, MOST_FAULT, "configs.fault") }),
  };
}

function kindOf(value: unknown, what: string): Kind {
  if (typeof value !== "string" || !KIND.test(value)) throw new Refused(`${what} is no kind's name`);
  return kindOfWire(value) as Kind;
}
