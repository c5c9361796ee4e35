import type { TLSSocket } from "node:tls";
import { z } from "zod";
import { defineUptime } from "../contract/kind.ts";
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import { NetworkFault } from "../net/fault.ts";
import { hostText } from "../net/host-text.ts";
import { literalOf } from "../net/literal.ts";
import { toAsciiName } from "../protocols/dns/name.ts";
import type { Turn } from "../protocols/starttls/turn.ts";
import { STARTTLS_PROTOCOLS, turnsOf } from "../protocols/starttls/turns.ts";
import { Conversation, ownNameOf } from "../transport/conversation.ts";
import { endSocket } from "../transport/end-socket.ts";
import { type CertificateSeen, secured, tlsOptionsOf, withCertificate } from "../transport/server-certificate.ts";
import type { Address } from "../transport/transport.ts";
import { expiryDays } from "../web/settings.ts";
import { hostField, ipVersionField, portField, readHostAndPort } from "./target-fields.ts";

declare module "../../model/kind.ts" {
  interface AddedKinds {
    tls: true;
  }
}

const VERSIONS = ["1.2", "1.3"] as const;
const SERVERNAME_MESSAGE = "servername must be a name, an address or null.";
/** A server that knows only versions which we do not offer: what OpenSSL says of its hello, and of its alert (sslerr.h). */
const OLDER_VERSION = /^ERR_SSL_(?:UNSUPPORTED_PROTOCOL|(?:TLSV1|SSL\/TLS)_ALERT_PROTOCOL_VERSION)$/;

const settings = z.object({
  host: hostField.describe("Name or address to connect to"),
  port: portField.default(443).describe("TCP port"),
  starttls: z
    .enum(STARTTLS_PROTOCOLS, { error: `starttls must be ${STARTTLS_PROTOCOLS.join(", ")} or null.` })
    .nullable()
    .default(null)
    .describe("Protocol in which TLS is agreed on in the clear; null for TLS from the first byte"),
  servername: z
    .string({ error: SERVERNAME_MESSAGE })
    .trim()
    .refine((text) => toAsciiName(text) !== undefined || literalOf(text) !== undefined, SERVERNAME_MESSAGE)
    .nullable()
    .default(null)
    .describe("Name that is asked for and that the certificate must have; null for the host"),
  min_version: z
    .enum(VERSIONS, { error: "min_version must be 1.2, 1.3 or null." })
    .nullable()
    .default(null)
    .describe("Oldest version of TLS that counts as up; null for any that Sonde offers, which are 1.2 and 1.3"),
  ip_version: ipVersionField,
  ssl_expiration: expiryDays("ssl_expiration", "certificate"),
});
type TlsSettings = z.infer<typeof settings>;

/**
 * A server of any protocol over TLS: ok when the handshake succeeds with a certificate that is valid for the name. Latency is the time from the
 * start of the connect to the end of the handshake, with what is said in the clear between them.
 */
export const tls = defineUptime(
  {
    kind: "tls",
    summary: "TLS: certificate and version of any port, also after STARTTLS",
    settings,
    example: { host: "www.test-site.org", port: 993, min_version: "1.3" },
    target: ({ host, port }) => ({ host: hostText(host), port }),
    address: { schemes: ["tls"], read: (address) => readHostAndPort(address, 443) },
    // Its local target would need a certificate of an authority that is trusted here.
    demo: null,
  },
  (settings, context) => withCertificate({ certificate: null }, (seen) => check(settings, context, seen)),
);

async function check(settings: TlsSettings, context: ProbeContext, seen: CertificateSeen): Promise<Outcome> {
  const { host, port, servername, min_version, ip_version } = settings;
  context.phase("resolve");
  const addresses = await context.transport.resolve(host, port, ip_version ?? "both", context);
  const startedAt = context.now();
  context.phase("connect");
  let socket: TLSSocket;
  try {
    socket = await connect(settings, addresses, context);
  } catch (error) {
    if (min_version === null || !isOlderVersion(error)) throw error;
    return { verdict: "rejected", message: `The server has only versions of TLS before ${VERSIONS[0]}` };
  }
  const latencyMs = context.now() - startedAt;
  secured(socket, servername ?? host, seen);
  const version = socket.getProtocol();
  // With the alert that ends TLS, so that the server does not take it for a cut.
  endSocket(socket);
  if (min_version === "1.3" && version !== "TLSv1.3") {
    const message = `The server chooses ${version?.replace("v", " ") ?? "no version of TLS"}, older than TLS ${min_version}`;
    return { verdict: "rejected", message, latencyMs };
  }
  return { verdict: "ok", latencyMs };
}

async function connect(
  { host, port, servername, starttls }: TlsSettings,
  addresses: readonly Address[],
  context: ProbeContext,
): Promise<TLSSocket> {
  const { transport } = context;
  const options = tlsOptionsOf(servername ?? host);
  if (starttls === null) return transport.connectTls(addresses, port, options, context);
  const socket = await transport.connectTcp(addresses, port, context);
  context.phase("request");
  const talk = new Conversation(socket, context, starttls);
  for (const turn of turnsOf(starttls, ownNameOf(socket))) await take(turn, talk, context);
  return transport.startTls(talk.releaseForTls(), options, context);
}

/** @throws NetworkFault `rejected` where the server does not go on, `protocol-error` where it uses another protocol */
async function take(turn: Turn, talk: Conversation, context: ProbeContext): Promise<void> {
  const { agrees, words } = await talk.ask(turn.command, turn.read);
  context.answered();
  if (agrees) return;
  talk.release().destroy();
  const message = turn.command === "" ? "The server refuses to serve" : "The server does not agree to TLS";
  throw new NetworkFault("rejected", message, { peerAnswered: true, peer: words });
}

function isOlderVersion(error: unknown): boolean {
  return error instanceof Error && "code" in error && OLDER_VERSION.test(String(error.code));
}
