/** THE LIST: every probe the engine can run, one line each; the exported name is its kind. */
export { amneziawg } from "./amneziawg.ts";
export { dns } from "./dns.ts";
export { http } from "./http.ts";
export { hysteria2 } from "./hysteria2.ts";
export { ikev2 } from "./ikev2.ts";
export { keyword } from "./keyword.ts";
export { openconnect } from "./openconnect.ts";
export { openvpn } from "./openvpn.ts";
export { ping } from "./ping.ts";
export { port } from "./port.ts";
export { shadowsocks } from "./shadowsocks.ts";
export { trojan } from "./trojan.ts";
export { tuic } from "./tuic.ts";
export { vless } from "./vless.ts";
export { vmess } from "./vmess.ts";
export { wireguard } from "./wireguard.ts";
