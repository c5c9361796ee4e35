/** Settings of tunnel probes: the fields that the protocol's parser made, kept as they are; what they mean is read once per monitor. */
import { z } from "zod";
import { presentFields, TunnelConfigError, type TunnelFields, type TunnelParser } from "../contract/tunnel.ts";
import { OWN_FIELD_NAMES, TUNNEL_FIELDS } from "../contract/tunnel-fields.ts";

const fields = z.object(
  Object.fromEntries(OWN_FIELD_NAMES.map((name) => [name, TUNNEL_FIELDS[name].schema.optional()])),
);

/** Refuses what the parser refuses, with its reason. */
export function tunnelSettings(parse: TunnelParser): z.ZodType<TunnelFields> {
  return fields.transform((text, context): TunnelFields => {
    try {
      return parse(present(text)).fields;
    } catch (error) {
      if (!(error instanceof TunnelConfigError)) throw error;
      context.addIssue({ code: "custom", message: `Invalid VPN configuration: ${error.message}` });
      return z.NEVER;
    }
  });
}

/** Without members that are undefined. */
function present(text: z.infer<typeof fields>): TunnelFields {
  return presentFields(text as TunnelFields);
}

/** What is made of settings is made once: they are one object for as long as a prober knows the monitor. */
export function preparedOnce<Prepared>(
  prepare: (settings: TunnelFields) => Prepared,
): (settings: TunnelFields) => Prepared {
  const known = new WeakMap<TunnelFields, Prepared>();
  return (settings) => {
    const ready = known.get(settings) ?? prepare(settings);
    known.set(settings, ready);
    return ready;
  };
}
