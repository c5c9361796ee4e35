import { isIP, type Socket } from "node:net";
import { withoutBrackets } from "../../model/url.ts";
import type { Turn } from "./handshake-gate.ts";
import type { Transport } from "./transport.ts";

/** The parts of a URL that a connection needs, as URL and undici name them. */
export interface HttpOrigin {
  /** `https:` with TLS, anything else without. */
  readonly protocol: string;
  /** IPv6 with or without brackets. */
  readonly hostname: string;
  /** Empty: the protocol's. */
  readonly port: string;
}

/**
 * Dials a server of HTTP/1.1 for code that is not a check: the transport resolves the name, judges each address and connects.
 * @param signal ends the socket too, for as long as it lives
 * @param turn of DialContext
 * @throws NetworkFault, errors of node:net and node:tls
 */
export async function dialHttp(
  transport: Transport,
  { protocol, hostname, port: portText }: HttpOrigin,
  signal: AbortSignal,
  turn?: Turn,
): Promise<Socket> {
  const context = { signal, turn, phase() {}, tried() {}, answered() {} };
  const host = withoutBrackets(hostname);
  const isTls = protocol === "https:";
  const port = Number(portText) || (isTls ? 443 : 80);
  const addresses = await transport.resolve(host, port, "both", context);
  if (!isTls) return transport.connectTcp(addresses, port, context);
  const name = isIP(host) === 0 ? { servername: host.replace(/\.$/, "") } : { host };
  return transport.connectTls(addresses, port, { ...name, ALPNProtocols: ["http/1.1"] }, context);
}
