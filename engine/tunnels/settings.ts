/** Settings of tunnel probes: the fields that the protocol's parser made, kept as they are; what they mean is read once per monitor. */
import { z } from "zod";
import { given, TunnelConfigError, type TunnelFields, type TunnelParser } from "../tunnel.ts";

const fields = z.object({
  url: z.string().optional(),
  config: z.string().optional(),
  host: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  port: z.int().min(1).max(65_535).optional(),
  proto: z.enum(["udp", "tcp"]).optional(),
  remote_id: z.string().optional(),
  ip: z.string().optional(),
  servers: z
    .array(z.object({ host: z.string(), port: z.int().min(1).max(65_535), proto: z.enum(["udp", "tcp"]) }))
    .optional(),
  group: z.string().optional(),
  ca: z.string().optional(),
  pin: z.string().optional(),
  psk: z.string().optional(),
});

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
  return given(text as TunnelFields);
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
