/** What documents of this version may say of monitors: asked of the kinds' descriptors. */
import { fieldsOf, TUNNEL_FIELD_NAMES, UPTIME_KINDS, uptimeKinds } from "../../engine/contract/registry.ts";
import type { DocumentWords, Shape } from "../../model/document/shape.ts";
import { selectableKinds } from "../../model/selector.ts";

const texts: Shape = { type: "list", of: { type: "text" } };

/** Fields that the document knows itself; all others are judged by their kinds. */
const KNOWN: Readonly<Record<string, Shape>> = {
  type: { type: "text" },
  name: { type: "text" },
  active: { type: "boolean" },
  interval: { type: "seconds" },
  timeout: { type: "seconds" },
  timeout_follows_interval: { type: "boolean" },
  maxretries: { type: "number" },
  tags: texts,
  tags_add: { ...texts, about: "Beside the defaults' list" },
  tags_remove: { ...texts, about: "Of the defaults' list" },
  locations: texts,
  disabled_locations: texts,
  notify_on_partial: { type: "boolean" },
  period: { type: "seconds" },
  grace: { type: "seconds" },
  token: { type: "text", about: "Of a heartbeat, 10 to 64 letters or digits; read when it is made" },
  replace: { type: "boolean", about: "Another kind under the same key: removed with its history, and made anew" },
  protocol: { type: "text" },
};

/** Fields with requests of their own, or of the document alone: in no body of POST /servers. */
export const OWN_FIELDS: ReadonlySet<string> = new Set([
  "tags_add",
  "tags_remove",
  "locations",
  "disabled_locations",
  "notify_on_partial",
  "token",
  "replace",
]);

export const DEFAULT_FIELDS = [
  "interval",
  "timeout",
  "timeout_follows_interval",
  "maxretries",
  "tags",
  "locations",
  "notify_on_partial",
] as const;

function monitorFields(): Readonly<Record<string, Shape>> {
  const any: Shape = { type: "any", nullable: true };
  const names = [...uptimeKinds.flatMap((kind) => Object.keys(fieldsOf(kind))), ...TUNNEL_FIELD_NAMES];
  return { ...Object.fromEntries(names.map((name) => [name, any])), ...KNOWN };
}

export const WORDS: DocumentWords = {
  monitorFields: monitorFields(),
  defaultFields: DEFAULT_FIELDS,
  kinds: selectableKinds(UPTIME_KINDS),
};
