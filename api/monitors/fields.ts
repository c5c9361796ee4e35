/** Which field of a monitor's body is for which kinds (docs/api-contract.md#monitors, #uptime-fields, #plans): asked of the kinds' descriptors. */
import {
  type AnyUptime,
  fieldsOf,
  isUptimeKind,
  TUNNEL_FIELD_NAMES,
  TUNNEL_FIELDS,
  tunnelOf,
  uptimeKinds,
  uptimeOf,
} from "../../engine/contract/registry.ts";
import { CONTRACT_KINDS, type Kind, type UptimeKind } from "../../model/kind.ts";
import type { JsonObject } from "../body.ts";
import { badRequest } from "../errors.ts";
import type { Known } from "../warnings.ts";

export { isUptimeKind };

/** Fields that make a body without `type` a tunnel. */
export const TUNNEL_BODY_FIELDS: readonly string[] = ["protocol", ...TUNNEL_FIELD_NAMES];

/** Fields of every kind that is checked; a passive one has none of them. */
const CHECKED_FIELDS = ["interval", "timeout", "timeout_follows_interval", "maxretries"] as const;

/** Of a passive kind, when it is made. */
const PASSIVE_FIELDS = ["token"] as const;

/** The uptime kinds that have a field; all kinds have name, type, tags and active. */
const KINDS_OF = kindsByField();

function kindsByField(): ReadonlyMap<string, readonly AnyUptime[]> {
  const byField = new Map<string, AnyUptime[]>();
  for (const kind of uptimeKinds) {
    for (const field of fieldsOfKind(kind)) byField.set(field, [...(byField.get(field) ?? []), kind]);
  }
  return byField;
}

function fieldsOfKind(kind: AnyUptime): readonly string[] {
  return [...(kind.isPassive ? PASSIVE_FIELDS : CHECKED_FIELDS), ...Object.keys(fieldsOf(kind))];
}

/** @throws 400 naming the first field, in the order of the body, that checks of this kind do not have */
export function refuseForeignFields(kind: UptimeKind, body: JsonObject): void {
  for (const field of Object.keys(body)) {
    const kinds = KINDS_OF.get(field);
    if (kinds !== undefined) {
      if (!kinds.some((one) => one.kind === kind))
        throw badRequest(`${field} is for ${listed(namedOf(field, kinds))} checks.`);
    } else if (TUNNEL_BODY_FIELDS.includes(field)) {
      // A monitor reads back with `protocol` equal to its `type`; sending it back changes nothing.
      if (field === "protocol" && body[field] === kind) continue;
      throw badRequest(`${field} is for vpn checks.`);
    }
  }
}

const knownFields = new Map<Kind, Known>();

/** What counts in a body of this kind. Of an uptime check what is for another kind was refused; of a tunnel it is ignored. */
export function knownFieldsOf(kind: Kind): Known {
  const known = knownFields.get(kind) ?? makeKnown(kind);
  knownFields.set(kind, known);
  return known;
}

function makeKnown(kind: Kind): Known {
  const ofAll = ["name", "type", "protocol", "tags", "active"];
  if (isUptimeKind(kind)) return { names: new Set([...ofAll, ...fieldsOfKind(uptimeOf(kind))]) };
  const { fields, form } = tunnelOf(kind);
  const own = TUNNEL_FIELD_NAMES.filter((name) => {
    const { aliasOf } = TUNNEL_FIELDS[name];
    return fields.some((field) => field === (aliasOf ?? name)) && (aliasOf === null || form.by === "wg-quick");
  });
  return {
    names: new Set([...ofAll, ...CHECKED_FIELDS, ...own]),
    elsewhere: new Set([...TUNNEL_FIELD_NAMES, ...KINDS_OF.keys()]),
    sort: kind,
  };
}

/** The contract's messages name the kinds of the contract, without those that take the field as an addition of ours. */
function namedOf(field: string, kinds: readonly AnyUptime[]): readonly string[] {
  const named = kinds.filter(
    ({ kind, unnamedFields = [] }) => CONTRACT_KINDS.some((one) => one === kind) && !unnamedFields.includes(field),
  );
  return (named.length > 0 ? named : kinds).map(({ kind }) => kind);
}

/** The kind's own fields among those sent. */
export function settingsFields(kind: UptimeKind, body: JsonObject): Record<string, unknown> {
  const sent: Record<string, unknown> = {};
  for (const field of Object.keys(fieldsOf(uptimeOf(kind)))) {
    if (Object.hasOwn(body, field)) sent[field] = body[field];
  }
  return sent;
}

/** Shown by every uptime check, whether its kind has them or not, and a heartbeat's own (view.ts). */
const SHOWN_FIELDS: ReadonlySet<string> = new Set(
  "url host domain port keyword invert_keyword accepted_statuscodes ssl_expiration domain_expiration ip_version period grace".split(
    " ",
  ),
);

type FieldAndStandard = readonly [field: string, standard: unknown];
const moreFields = new Map<UptimeKind, readonly FieldAndStandard[]>();

/** Fields that only checks of this kind show, each with what it is where nothing is stored: what says nothing is not (null: nothing). */
export function moreFieldsOf(kind: UptimeKind): readonly FieldAndStandard[] {
  const known = moreFields.get(kind);
  if (known !== undefined) return known;
  const all = Object.entries(fieldsOf(uptimeOf(kind)));
  const own = all
    .filter(([field]) => !SHOWN_FIELDS.has(field))
    .map(([field, schema]) => [field, schema.safeParse(undefined).data ?? null] as const);
  moreFields.set(kind, own);
  return own;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
