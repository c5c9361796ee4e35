/** Which configs use UDP to reach their server. Pure. */
import type { ProxyConfig } from "../protocols/share-link/proxy-config.ts";

/** Whether it travels in datagrams: there is no port to dial before. */
export function isDatagram({ account, security, transport }: ProxyConfig): boolean {
  if (account.protocol === "hysteria2" || account.protocol === "tuic") return true;
  if (account.protocol === "shadowsocks" && account.plugin?.name === "v2ray-plugin")
    return account.plugin.mode === "quic";
  // xhttp goes over QUIC when HTTP/3 is all that the link offers (xray, transport/internet/splithttp).
  if (transport.type === "xhttp" && security.kind === "tls" && security.alpn.join() === "h3") return true;
  return transport.type === "kcp" || transport.type === "quic";
}
