import { z } from "zod";
import { defineUptime } from "../contract/kind.ts";
import { hostText } from "../net/host-text.ts";
import { hostField, ipVersionField, portField, readHostAndPort } from "./target-fields.ts";

/** A TCP port: ok when it accepts a connection, which is reset at once; latency is the time that took. */
export const port = defineUptime(
  {
    kind: "port",
    summary: "TCP port: connects and measures how long that takes",
    settings: z.object({
      host: hostField.describe("Name or address to connect to"),
      port: portField.describe("TCP port, 1 to 65535"),
      ip_version: ipVersionField,
    }),
    example: { host: "www.test-site.org", port: 5432 },
    target: ({ host, port }) => ({ host: hostText(host), port }),
    address: { schemes: ["tcp"], read: (address) => readHostAndPort(address, null) },
    demo: {
      name: "Mail port",
      serve: (socket) => void socket.end("220 ready\r\n"),
      settings: ({ host, port }) => ({ host, port }),
    },
  },
  async (settings, context) => {
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
);
