/** The configs that are measured: a realistic mix, each at an address of its own, all of them to one server process. */

import type { ChildProcess } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { freePort } from "../../testkit/free-port.ts";
import { type Authority, startServers } from "./processes.ts";

const NAME = "bench.test";
const WS = { type: "ws", path: "/ws" } as const;

export type Kind = "vless" | "vmess" | "trojan" | "shadowsocks" | "hysteria2" | "tuic";

export interface Offered {
  readonly kind: Kind;
  readonly url: string;
}

export interface Mix {
  readonly server: ChildProcess;
  /** So many configs, in turn of every sort. @param sorts of SORTS. @param port of another server than the right one */
  offer(sorts: readonly Sort[], count: number, port?: number): readonly Offered[];
  /** A vless config of one of the users that one port has, or of a user that it does not know. */
  member(isKnown: boolean): Offered;
}

export type Sort = "vless tcp" | "vless ws" | "vmess" | "ss2022" | "trojan tls" | "vless tls" | "hysteria2" | "tuic";
export const PLAIN: readonly Sort[] = ["vless tcp", "vless ws", "vmess", "ss2022"];
export const MIXED: readonly Sort[] = [...PLAIN, "trojan tls", "vless tls"];
export const WITH_QUIC: readonly Sort[] = [...MIXED, "hysteria2", "tuic"];

export async function startMix(program: string, { certificate, key }: Authority): Promise<Mix> {
  const uuid = randomUUID();
  const password = randomBytes(12).toString("hex");
  const key2022 = randomBytes(16).toString("base64");
  const tls = { enabled: true, server_name: NAME, certificate, key };
  const quic = { ...tls, alpn: ["h3"] };
  // Sockets of datagrams answer from the address that they were bound to: the QUIC servers have one each.
  const forms: Readonly<Record<Sort, object>> = {
    "vless tcp": { type: "vless", users: [{ uuid }] },
    "vless ws": { type: "vless", users: [{ uuid }], transport: WS },
    vmess: { type: "vmess", users: [{ uuid }] },
    ss2022: { type: "shadowsocks", method: "2022-blake3-aes-128-gcm", password: key2022 },
    hysteria2: { type: "hysteria2", users: [{ password }], tls: quic, listen: "127.0.0.1" },
    tuic: { type: "tuic", users: [{ uuid, password }], tls: quic, listen: "127.0.0.1" },
    "trojan tls": { type: "trojan", users: [{ password }], tls },
    "vless tls": { type: "vless", users: [{ uuid }], tls },
  };
  const ports = new Map<Sort, number>();
  for (const sort of Object.keys(forms) as Sort[]) ports.set(sort, await freePort());
  const inbounds = Object.entries(forms).map(([sort, form]) => ({
    tag: sort,
    listen: "0.0.0.0",
    listen_port: ports.get(sort as Sort),
    ...form,
  }));
  const server = await startServers(program, inbounds, ports.get("vless tls") ?? 0);
  const secured = `security=tls&sni=${NAME}`;
  const write: Readonly<Record<Sort, (at: string) => Offered>> = {
    "vless tcp": (at) => ({ kind: "vless", url: `vless://${uuid}@${at}?encryption=none&security=none&type=tcp` }),
    "vless ws": (at) => ({
      kind: "vless",
      url: `vless://${uuid}@${at}?encryption=none&security=none&type=ws&path=%2Fws&host=${NAME}`,
    }),
    vmess: (at) => ({ kind: "vmess", url: `vmess://${uuid}@${at}?encryption=aes-128-gcm&security=none&type=tcp` }),
    ss2022: (at) => ({
      kind: "shadowsocks",
      url: `ss://2022-blake3-aes-128-gcm:${encodeURIComponent(key2022)}@${at}`,
    }),
    "trojan tls": (at) => ({ kind: "trojan", url: `trojan://${password}@${at}?${secured}` }),
    "vless tls": (at) => ({ kind: "vless", url: `vless://${uuid}@${at}?encryption=none&type=tcp&${secured}` }),
    hysteria2: (at) => ({ kind: "hysteria2", url: `hysteria2://${password}@${at}?sni=${NAME}` }),
    tuic: (at) => ({ kind: "tuic", url: `tuic://${uuid}:${password}@${at}?sni=${NAME}&alpn=h3` }),
  };
  let written = 0;
  return {
    server,
    offer: (sorts, count, port) =>
      Array.from({ length: count }, (_, index) => {
        const sort = sorts[index % sorts.length] ?? "vless tcp";
        const isQuic = sort === "hysteria2" || sort === "tuic";
        const address = isQuic ? "127.0.0.1" : addressOf(written++);
        return write[sort](`${address}:${port ?? ports.get(sort)}`);
      }),
    member: (isKnown) => ({
      kind: "vless",
      url: `vless://${isKnown ? uuid : randomUUID()}@127.0.0.1:${ports.get("vless tcp")}?encryption=none&security=none`,
    }),
  };
}

/** All of 127.0.0.0/8 is this machine (RFC 1122, 3.2.1.3): a host for each config. */
function addressOf(index: number): string {
  return `127.${1 + ((index >> 16) & 63)}.${(index >> 8) & 255}.${1 + (index % 250)}`;
}
