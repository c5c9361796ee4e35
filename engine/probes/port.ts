import { z } from "zod";
import { defineProbe } from "../probe.ts";
import { hostField, ipVersionField, portField } from "./target-fields.ts";

/** A TCP port: ok when it accepts a connection, which is reset at once; latency is the time that took. */
export const port = defineProbe({
  summary: "TCP port: connects and measures how long that takes",

  settings: z.object({
    host: hostField.describe("Name or address to connect to"),
    port: portField.describe("TCP port, 1 to 65535"),
    ip_version: ipVersionField,
  }),

  async run(settings, context) {
    context.phase("resolve");
    const addresses = await context.transport.resolve(
      settings.host,
      settings.port,
      settings.ip_version ?? "both",
      context,
    );
    context.phase("connect");
    const { connectMs } = await context.transport.connectTime(addresses, settings.port, context);
    return { verdict: "ok", latencyMs: connectMs };
  },
});
