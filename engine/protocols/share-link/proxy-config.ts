/**
 * One config of a proxy server, whatever it was written in: the only thing that a core's file is made from. Every text in it has passed
 * its field's check; the server's name is kept apart from the address that is dialled, and what people call it is no part of it.
 */

/** Both ends included. */
export type PortRange = readonly [from: number, to: number];

export interface ProxyConfig {
  /** ASCII name or address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly account: Account;
  readonly security: Security;
  readonly transport: Transport;
  /** How UDP is packed inside vless and vmess. */
  readonly packetEncoding: "xudp" | "packetaddr" | "none";
}

/** What people call a config, beside it. */
export interface NamedConfig {
  readonly config: ProxyConfig;
  readonly name: string | null;
  /** What of the link was left out, or kept although it is odd, in words for people. */
  readonly ignored: readonly string[];
}

export type Account =
  | { readonly protocol: "vless"; readonly uuid: string; readonly flow: Flow; readonly encryption: string }
  | { readonly protocol: "vmess"; readonly uuid: string; readonly cipher: VmessCipher; readonly alterId: number }
  | { readonly protocol: "trojan"; readonly password: string }
  | {
      readonly protocol: "shadowsocks";
      readonly method: string;
      readonly password: string;
      readonly plugin: Plugin | null;
      readonly isUdpOverTcp: boolean;
    }
  | {
      readonly protocol: "hysteria2";
      readonly password: string;
      /** Where the client hops; empty: it stays at the port. */
      readonly hops: readonly PortRange[];
      readonly hopIntervalS: number | null;
      readonly obfs: Obfs | null;
    }
  | {
      readonly protocol: "tuic";
      readonly uuid: string;
      readonly password: string;
      readonly congestion: "bbr" | "cubic" | "new_reno";
      readonly udpRelay: "native" | "quic";
      readonly isZeroRtt: boolean;
      readonly heartbeatMs: number | null;
    };

export type ProxyProtocol = Account["protocol"];
export type Flow = "" | "xtls-rprx-vision" | "xtls-rprx-vision-udp443";
export type VmessCipher = "auto" | "aes-128-gcm" | "chacha20-poly1305" | "none" | "zero";

/** Both are built into sing-box; nothing is started for them. */
export type Plugin =
  | { readonly name: "obfs-local"; readonly mode: "http" | "tls"; readonly host: string }
  | {
      readonly name: "v2ray-plugin";
      readonly mode: "websocket" | "quic";
      readonly hasTls: boolean;
      readonly host: string;
      readonly path: string;
      /** 0: off. */
      readonly mux: number;
    };

export interface Obfs {
  readonly type: "salamander" | "gecko";
  readonly password: string;
  /** gecko's packet sizes; null for salamander. */
  readonly sizesBytes: PortRange | null;
}

export type Security = { readonly kind: "none" } | TlsSecurity | RealitySecurity;

export interface TlsSecurity {
  readonly kind: "tls";
  /** null: the server is an address and no name was given. */
  readonly sni: string | null;
  readonly alpn: readonly string[];
  readonly fingerprint: Fingerprint | null;
  readonly isInsecure: boolean;
  readonly hasNoSni: boolean;
  /** SHA-256 of the leaf certificate's DER, lowercase hex. */
  readonly pins: readonly string[];
  readonly verifyNames: readonly string[];
  /** ECHConfigList in base64. */
  readonly ech: string | null;
}

export interface RealitySecurity {
  readonly kind: "reality";
  readonly sni: string;
  readonly fingerprint: Fingerprint;
  /** 32 bytes, base64url without padding. */
  readonly publicKey: string;
  /** Hex, at most 8 bytes. */
  readonly shortId: string;
  /** ML-DSA-65 verify key, base64url without padding. */
  readonly mldsa65: string | null;
}

export const FINGERPRINTS = [
  "chrome",
  "firefox",
  "safari",
  "ios",
  "android",
  "edge",
  "360",
  "qq",
  "random",
  "randomized",
] as const;
export type Fingerprint = (typeof FINGERPRINTS)[number];

export type Transport =
  | {
      readonly type: "raw";
      readonly header: { readonly hosts: readonly string[]; readonly paths: readonly string[] } | null;
    }
  | {
      readonly type: "ws";
      readonly path: string;
      readonly host: string;
      /** Bytes sent with the handshake; 0: none. */
      readonly earlyDataBytes: number;
      readonly earlyDataHeader: string;
    }
  | { readonly type: "httpupgrade"; readonly path: string; readonly host: string }
  | { readonly type: "grpc"; readonly serviceName: string; readonly authority: string; readonly isMulti: boolean }
  | {
      readonly type: "xhttp";
      readonly path: string;
      readonly host: string;
      readonly mode: "auto" | "packet-up" | "stream-up" | "stream-one";
      readonly extra: XhttpExtra;
      /** It would load from a second server. */
      readonly hasDownload: boolean;
    }
  | {
      readonly type: "kcp";
      readonly header: KcpHeader;
      readonly seed: string;
      readonly mtu: number | null;
      readonly ttiMs: number | null;
    }
  | { readonly type: "http"; readonly path: string; readonly hosts: readonly string[] }
  | { readonly type: "quic" };

export const KCP_HEADERS = ["none", "dns", "dtls", "srtp", "utp", "wechat-video", "wireguard"] as const;
export type KcpHeader = (typeof KCP_HEADERS)[number];

/** xhttp's own fields by xray's names, each of its checked type. */
export type XhttpExtra = Readonly<
  Record<string, string | number | boolean | Readonly<Record<string, string | number>>>
>;
