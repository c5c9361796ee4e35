/** Request bodies of monitors for the document, put together from the very schemas that validate them. */
import { z } from "zod";
import { type AnyUptime, fieldsOf, uptimeKinds } from "../../engine/contract/registry.ts";
import { TUNNEL_PROTOCOLS } from "../../model/kind.ts";
import { commonFields, nameField } from "./every-kind.ts";
import { tokenField } from "./token.ts";
import { tunnelSchemas } from "./tunnels.ts";

type Shape = Readonly<Record<string, z.ZodType>>;

const everyKind: Shape = {
  tags: commonFields.tags.optional(),
  active: commonFields.active.optional(),
};
const checked: Shape = {
  interval: commonFields.interval.optional(),
  timeout: commonFields.timeout.optional(),
  timeout_follows_interval: commonFields.timeout_follows_interval.optional(),
  maxretries: commonFields.maxretries.optional(),
};

function createBodyOf(described: AnyUptime) {
  const { kind, summary, example, isPassive } = described;
  return z
    .object({
      type: z.literal(kind),
      name: nameField,
      ...(isPassive ? { token: tokenField.optional() } : checked),
      ...everyKind,
      ...fieldsOf(described),
    })
    .meta({
      id: `Create${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
      description: summary,
      examples: [{ type: kind, name: "Berlin 1", ...example }],
    });
}

const tunnelFields: Shape = {
  protocol: z.enum(TUNNEL_PROTOCOLS).optional().describe("May be left out when url begins with a known scheme"),
  ...Object.fromEntries(Object.entries(tunnelSchemas).map(([field, schema]) => [field, schema.nullable().optional()])),
};

const createTunnel = z
  .object({ type: z.literal("vpn").optional(), name: nameField, ...checked, ...everyKind, ...tunnelFields })
  .meta({ id: "CreateVpn" });

export const createBody = z.union([...uptimeKinds.map(createBodyOf), createTunnel]).meta({ id: "CreateMonitor" });

/** Every field of any kind, none required; fields of several kinds take what any of them takes. */
function updateShape(): Shape {
  const byField = new Map<string, z.ZodType[]>();
  for (const shape of [...uptimeKinds.map(fieldsOf), tunnelFields]) {
    for (const [field, schema] of Object.entries(shape)) {
      const known = byField.get(field) ?? [];
      if (!known.includes(schema)) byField.set(field, [...known, schema]);
    }
  }
  const fields = [...byField].map(([field, [first, ...others]]) => {
    const schema = first === undefined ? z.unknown() : others.length === 0 ? first : z.union([first, ...others]);
    return [field, schema.optional()] as const;
  });
  return Object.fromEntries(fields);
}

export const updateBody = z
  .object({
    name: nameField.optional(),
    type: z.string().optional().describe("Only the type it has"),
    ...checked,
    ...everyKind,
    ...updateShape(),
  })
  .meta({ id: "UpdateMonitor" });
