/** Bodies of tunnel monitors, and the calls that the cases about them share. */
import { expect } from "vitest";
import { TUNNEL_PROTOCOLS } from "../../model/kind.ts";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import type { World } from "./world.suite.ts";

export const UUID = "0f3c1d2e-1111-4222-8333-444455556666";
export const KEY = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
export const PEER = "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=";
export const wg = (endpoint: string) =>
  `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.9.0.2/32\n[Peer]\nPublicKey = ${PEER}\nEndpoint = ${endpoint}\nAllowedIPs = 0.0.0.0/0\n`;
export const ovpn = (server: string) => `client\ndev tun\nremote ${server} 1194 udp\n<ca>\nsecret-ca\n</ca>\n`;
export const base64 = (text: string) => Buffer.from(text).toString("base64");
export const login = { username: "secret-user", password: "secret-password" };

/** One good body of each protocol, its host `<protocol>.test-site.org`. */
export const GOOD: Readonly<Record<string, Record<string, unknown>>> = {
  wireguard: { protocol: "wireguard", config: wg("wireguard.test-site.org:51820") },
  amneziawg: {
    protocol: "amneziawg",
    config: `${wg("amneziawg.test-site.org:51820")}`.replace("[Peer]", "Jc = 4\n[Peer]"),
  },
  openvpn: { protocol: "openvpn", config: ovpn("openvpn.test-site.org") },
  openconnect: { protocol: "openconnect", host: "openconnect.test-site.org", ...login },
  ikev2: { protocol: "ikev2", host: "ikev2.test-site.org", ...login },
  vless: { url: `vless://${UUID}@vless.test-site.org:443?security=tls#secret-name` },
  vmess: {
    url: `vmess://${base64(JSON.stringify({ v: "2", ps: "n", add: "vmess.test-site.org", port: 443, id: UUID }))}`,
  },
  trojan: { url: "trojan://secret-password@trojan.test-site.org:443" },
  shadowsocks: { url: `ss://${base64("aes-256-gcm:secret-password")}@shadowsocks.test-site.org:8388` },
  hysteria2: { url: "hy2://secret-password@hysteria2.test-site.org:443" },
  tuic: { url: `tuic://${UUID}:secret-password@tuic.test-site.org:443` },
};
export const ELEVEN = TUNNEL_PROTOCOLS.join(", ");

/** @param world the one that is open when a call is made */
export function tunnelCalls(world: () => World) {
  const create = (body: unknown) => world().send("POST", "/api/v1/servers", { body });
  const change = (id: string, body: unknown) => world().send("PUT", `/api/v1/servers/${id}`, { body });
  const made = async (body: Record<string, unknown>) => {
    const answer = await create({ name: "T", ...body });
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
    return answer.body;
  };
  const numberOf = (id: string) => Number(id.slice(4));
  const settings = async (id: string) => {
    const row = await world().controlPlane.monitors.recall(numberOf(id));
    return JSON.parse(world().sealing.open(SEALED_CELLS.tunnel(numberOf(id)), row?.monitor.sealed ?? ""));
  };
  return { create, change, made, numberOf, settings };
}
