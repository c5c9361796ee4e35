/** THE LIST: every kind that can be watched, one line each. Its file describes it and exports it under its name. */
export { amneziawg } from "./amneziawg.ts";
export { dns } from "./dns.ts";
export { http } from "./http.ts";
export { ikev2 } from "./ikev2.ts";
export { keyword } from "./keyword.ts";
export { openconnect } from "./openconnect.ts";
export { openvpn } from "./openvpn.ts";
export { ping } from "./ping.ts";
export { port } from "./port.ts";
export { push } from "./push.ts";
export { hysteria2, shadowsocks, trojan, tuic, vless, vmess } from "./share-links.ts";
export { smtp } from "./smtp.ts";
export { tls } from "./tls.ts";
export { wireguard } from "./wireguard.ts";
