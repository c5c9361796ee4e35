/** TLS for a website check: certificate seen also when it is not valid, HTTP/1.1 offered first, HTTP/2 only to a server that insists. */
import type { Socket } from "node:net";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import type { CertificateState } from "../../model/status.ts";
import type { ProbeContext } from "../contract/probe.ts";
import { certificateFaultOf } from "../net/certificate-fault.ts";
import type { NetworkFault } from "../net/fault.ts";
import type { Hop } from "../protocols/http/hop.ts";
import { certificateOf } from "../transport/server-certificate.ts";
import type { Address } from "../transport/transport.ts";
import type { WebPlan } from "./plan.ts";

export interface OpenedTls {
  readonly socket: Socket;
  readonly certificate: CertificateState | null;
  /** Why the certificate is not to be trusted; null when it is, or when that is not asked. */
  readonly fault: NetworkFault | null;
  readonly http2: boolean;
}

export async function openTls(
  addresses: readonly Address[],
  hop: Hop,
  { verifiesCertificate, client }: WebPlan,
  context: ProbeContext,
): Promise<OpenedTls> {
  // A redirect may lead anywhere, and the client's certificate identifies the client.
  const own = hop.isAtHome && client !== null ? client : {};
  let socket: TLSSocket;
  try {
    socket = await connect(addresses, hop, { ...own, ALPNProtocols: ["http/1.1"] }, context);
  } catch (error) {
    if (!refusesHttp1(error)) throw error;
    context.phase("connect");
    socket = await connect(addresses, hop, { ...own, ALPNProtocols: ["h2", "http/1.1"] }, context);
  }
  const shown = socket.getPeerX509Certificate();
  const certificate = certificateOf(socket, shown);
  const isTaken = socket.authorized || !verifiesCertificate;
  const fault = isTaken ? null : certificateFaultOf(socket, hop.host, shown, context.wallNowMs());
  if (fault !== null) socket.destroy();
  return { socket, certificate, fault, http2: socket.alpnProtocol === "h2" };
}

function connect(
  addresses: readonly Address[],
  hop: Hop,
  more: ConnectionOptions,
  context: ProbeContext,
): Promise<TLSSocket> {
  const options: ConnectionOptions = {
    ...more,
    // Judged by us after the handshake, so that an invalid certificate is seen as well.
    rejectUnauthorized: false,
    ...(hop.servername === "" ? { host: hop.host } : { servername: hop.servername }),
  };
  return context.transport.connectTls(addresses, hop.port, options, context);
}

/** The alert of a server that has none of the protocols we offered (RFC 7301 section 3.2). */
function refusesHttp1(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if ("code" in each && String(each.code).endsWith("_NO_APPLICATION_PROTOCOL")) return true;
  }
  return false;
}
