/** What a TLS handshake of our own tells of a proxy server: its certificate, as a pin for a core that takes none unchecked (cores/choice.ts, needsPin), and its version. */
import type { TLSSocket } from "node:tls";
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import { NetworkFault } from "../net/fault.ts";
import type { ProxyConfig } from "../protocols/share-link/proxy-config.ts";
import { endSocket } from "../transport/end-socket.ts";
import { tlsOptionsOf } from "../transport/server-certificate.ts";
import type { Address, DialContext, Transport } from "../transport/transport.ts";

/** What a hello offers where the link says nothing: a server may have a certificate for each. */
const COMMON_ALPN = ["h2", "http/1.1"];
const FLOW_NEEDS_TLS_13 = "The link's flow needs TLS 1.3, and the server has an older one";

/** @returns SHA-256 of the certificate's DER in hex. @throws NetworkFault when the server does not speak TLS */
export async function fetchPin(
  config: ProxyConfig,
  addresses: readonly Address[],
  context: ProbeContext,
): Promise<string> {
  const socket = await shakeHands(config, addresses, context.transport, context);
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

/**
 * sing-box's client does not look at the version of TLS that vision needs; a server of 1.2 then ends each connection, as with a wrong credential.
 * @returns the outcome, or what xray's client says of such a server
 */
export async function withFlowsVersion(
  outcome: Outcome,
  { config, addresses }: { readonly config: ProxyConfig; readonly addresses: readonly Address[] },
  context: ProbeContext,
): Promise<Outcome> {
  const { account, security } = config;
  const hasFlow = account.protocol === "vless" && account.flow !== "" && security.kind === "tls";
  if (!hasFlow || outcome.verdict !== "auth-failed" || outcome.tunnel?.engineUsed !== "singbox") return outcome;
  // A look aside: what it meets says nothing of the check.
  const { transport, signal, onAbort } = context;
  const aside: DialContext = { signal, onAbort, phase() {}, tried() {}, answered() {} };
  const socket = await shakeHands(config, addresses, transport, aside).catch(() => null);
  if (socket === null) return outcome;
  const version = socket.getProtocol();
  endSocket(socket);
  return version === "TLSv1.3" ? outcome : { ...outcome, verdict: "misconfigured", message: FLOW_NEEDS_TLS_13 };
}

function shakeHands(
  { security, host, port }: ProxyConfig,
  addresses: readonly Address[],
  transport: Transport,
  dial: DialContext,
): Promise<TLSSocket> {
  const { sni = null, alpn = [] } = security.kind === "tls" ? security : {};
  const options = { ...tlsOptionsOf(sni ?? host), ALPNProtocols: alpn.length > 0 ? [...alpn] : COMMON_ALPN };
  return transport.connectTls(addresses, port, options, dial);
}
