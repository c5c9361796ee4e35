/**
 * A check on its way to a checker of any version. A checker leaves out settings that it does not know. Of a field that changes what is asked that
 * would be a check of something else, and might call a target down that is up. So a spec with such fields goes under a kind's name that no earlier
 * version has: an older checker answers `unsupported`, which counts for nothing, and one that knows the name gives the kind back. Pure.
 */
import type { Kind } from "../../model/kind.ts";
import type { CheckSpec } from "./messages.ts";

/** The kind with its fields since this version; later ones get a name of their own. */
const NAMES: Readonly<Partial<Record<Kind, string>>> = { http: "httprequest", keyword: "keywordrequest" };
const KINDS: ReadonlyMap<string, string> = new Map(Object.entries(NAMES).map(([kind, name]) => [name, kind]));

/** @param hasLater whether it has a field that the version before does not know */
export function toWire(spec: CheckSpec, hasLater: boolean): CheckSpec {
  const name = NAMES[spec.kind];
  return name === undefined || !hasLater ? spec : { ...spec, kind: name as Kind };
}

/** @param name well-formed; one that this version does not know stays what it is */
export function kindOfWire(name: string): string {
  return KINDS.get(name) ?? name;
}
