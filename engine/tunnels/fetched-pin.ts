/** The certificate that a server shows now, as a pin for a core that takes none unchecked (cores/choice.ts, needsPin). */
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import { NetworkFault } from "../net/fault.ts";
import type { ProxyConfig } from "../protocols/share-link/proxy-config.ts";
import { endSocket } from "../transport/end-socket.ts";
import { tlsOptionsOf } from "../transport/server-certificate.ts";
import type { Address } from "../transport/transport.ts";

/** What a hello offers where the link says nothing: a server may have a certificate for each. */
const COMMON_ALPN = ["h2", "http/1.1"];

/** @returns SHA-256 of the certificate's DER in hex. @throws NetworkFault when the server does not speak TLS */
export async function fetchPin(
  { security, host, port }: ProxyConfig,
  addresses: readonly Address[],
  context: ProbeContext,
): Promise<string> {
  const { sni = null, alpn = [] } = security.kind === "tls" ? security : {};
  const options = { ...tlsOptionsOf(sni ?? host), ALPNProtocols: alpn.length > 0 ? [...alpn] : COMMON_ALPN };
  const socket = await context.transport.connectTls(addresses, port, options, context);
  const certificate = socket.getPeerX509Certificate();
  endSocket(socket);
  if (certificate === undefined) throw new NetworkFault("handshake-failed", "The server shows no certificate");
  return certificate.fingerprint256.replaceAll(":", "").toLowerCase();
}

/** A server that does not keep to the pin is not wrong: the link takes any certificate. @throws NetworkFault `unsupported` */
export function ofFetchedPin(outcome: Outcome): Outcome {
  if (outcome.verdict !== "cert-invalid") return outcome;
  const reason = "the server shows another certificate at each connection";
  throw new NetworkFault("unsupported", `No proxy core can do this: ${reason}`, { peerAnswered: true });
}
