/** Links to the lab's servers by the name of the case: each one that is all right, and each way to be wrong. */
import { FINGERPRINTS } from "../../engine/protocols/share-link/proxy-config.ts";
import type { ProxyFixtures } from "./proxy-fixtures.ts";
import {
  AEAD_METHODS,
  CARRIED,
  CARRIERS,
  type Carried,
  HELD,
  type SecurityName,
  securitiesOf,
  VLESS_LOOKS,
} from "./proxy-inbounds.ts";
import { type Material, NAME, SECRETS, SERVER_NAME } from "./proxy-material.ts";
import type { ProxyServers } from "./proxy-servers.ts";

type Pairs = Readonly<Record<string, string>>;
export type Cases = ReadonlyMap<string, string>;

export async function casesOf(material: Material, servers: ProxyServers, fixtures: ProxyFixtures): Promise<Cases> {
  const make = new Maker(material, servers, fixtures);
  const hops = await fixtures.relayUdp(servers.port("hysteria2 @singbox"));
  return new Map([
    ...make.carried(),
    ...make.fingerprints(),
    ...make.hidden(),
    ...make.shadowsocks(),
    ...make.quic(hops),
    ...make.wrongCredentials(),
    ...make.wrongCarriers(),
    ...make.oddFields(),
    ...make.certificates(),
    ...make.network(),
    ...make.egress(),
  ]);
}

type Case = readonly [name: string, link: string];

class Maker {
  readonly #material: Material;
  readonly #servers: ProxyServers;
  readonly #fixtures: ProxyFixtures;

  constructor(material: Material, servers: ProxyServers, fixtures: ProxyFixtures) {
    this.#material = material;
    this.#servers = servers;
    this.#fixtures = fixtures;
  }

  #security(name: SecurityName): Pairs {
    if (name === "none") return { security: "none" };
    if (name === "tls") return { security: "tls", sni: NAME };
    const { publicKey: pbk } = this.#material.reality;
    return { security: "reality", sni: NAME, fp: "chrome", pbk, sid: SECRETS.shortId };
  }

  /** To the inbound of that name, with changes; by its port alone, nothing is looked up. */
  #to(server: string | number, protocol: Carried, pairs: Pairs, secret?: string): string {
    const user = secret ?? SECRETS[protocol];
    const port = typeof server === "number" ? server : this.#servers.port(server);
    return link(protocol, user, port, pairs);
  }

  *carried(): Generator<Case> {
    for (const server of ["xray", "singbox"] as const) {
      for (const [carrier, { query, [server]: form }] of Object.entries(CARRIERS)) {
        if (form === null) continue;
        for (const protocol of CARRIED) {
          for (const security of securitiesOf(server, carrier)) {
            const name = `${protocol} ${carrier} ${security} @${server}`;
            yield [name, this.#to(name, protocol, { ...query, ...this.#security(security) })];
          }
        }
      }
    }
    for (const server of ["xray", "singbox"] as const) {
      const name = `vless vision tls @${server}`;
      for (const security of ["tls", "reality"] as const) {
        const to = `vless vision ${security} @${server}`;
        const vision = { flow: "xtls-rprx-vision", ...this.#security(security) };
        yield [to, this.#to(to, "vless", vision, SECRETS.vision)];
        if (security === "reality") yield [`wrong user, ${to}`, this.#to(to, "vless", vision, SECRETS.wrongUuid)];
      }
      yield [
        `vless without the user's flow @${server}`,
        this.#to(name, "vless", this.#security("tls"), SECRETS.vision),
      ];
    }
    const ofOldTls = "vless vision tls 1.2 @xray";
    const vision = { flow: "xtls-rprx-vision", ...this.#security("tls") };
    yield [ofOldTls, this.#to(ofOldTls, "vless", vision, SECRETS.vision)];
    yield [
      "vless xhttp h3 @xray",
      this.#to("vless xhttp h3 @xray", "vless", {
        ...CARRIERS["xhttp auto"]?.query,
        ...this.#security("tls"),
        alpn: "h3",
      }),
    ];
    for (const cipher of ["aes-128-gcm", "chacha20-poly1305", "none", "zero"]) {
      yield [
        `vmess ${cipher} @singbox`,
        this.#to("vmess none @singbox", "vmess", { security: "none", encryption: cipher }),
      ];
    }
    const port = this.#servers.port("vmess ws tls @xray");
    const json = { v: "2", ps: "n", add: "127.0.0.1", port, id: SECRETS.vmess, aid: 0, scy: "auto", net: "ws" };
    const text = JSON.stringify({ ...json, type: "none", host: NAME, path: "/ws", tls: "tls", sni: NAME });
    yield ["vmess as JSON @xray", `vmess://${Buffer.from(text).toString("base64")}`];
    yield [
      "vless by a name @xray",
      this.#to("vless tcp tls @xray", "vless", this.#security("tls")).replace("127.0.0.1", SERVER_NAME),
    ];
  }

  /** VLESS's own encryption, and names that TLS hides. */
  *hidden(): Generator<Case> {
    const { reality, ech } = this.#material;
    for (const look of VLESS_LOOKS) {
      const to = `vless encrypted ${look} @xray`;
      for (const round of ["0rtt", "1rtt"]) {
        const encryption = `mlkem768x25519plus.${look}.${round}.${reality.publicKey}`;
        yield [`vless encrypted ${look} ${round} @xray`, this.#to(to, "vless", { encryption, security: "none" })];
      }
    }
    const to = "vless encrypted native @xray";
    const wrong = `mlkem768x25519plus.native.0rtt.${reality.otherPublicKey}`;
    yield ["vless encrypted, wrong key @xray", this.#to(to, "vless", { encryption: wrong, security: "none" })];
    const right = { encryption: `mlkem768x25519plus.native.0rtt.${reality.publicKey}`, security: "none" };
    yield ["vless encrypted, wrong user @xray", this.#to(to, "vless", right, SECRETS.wrongUuid)];
    yield ["vless unencrypted to an encrypted one @xray", this.#to(to, "vless", { security: "none" })];
    yield ["vless encrypted to a plain one @xray", this.#to("vless tcp none @xray", "vless", right)];
    const tls = this.#security("tls");
    for (const server of ["xray", "singbox"]) {
      const ours = `vless ech @${server}`;
      yield [ours, this.#to(ours, "vless", { ...tls, ech: ech.configList })];
      yield [`vless ech of another server @${server}`, this.#to(ours, "vless", { ...tls, ech: ech.otherConfigList })];
      yield [
        `vless ech to a server without @${server}`,
        this.#to(`vless tcp tls @${server}`, "vless", { ...tls, ech: ech.configList }),
      ];
    }
  }

  *fingerprints(): Generator<Case> {
    for (const fp of FINGERPRINTS) {
      for (const server of ["xray", "singbox"] as const) {
        for (const security of ["tls", "reality"] as const) {
          const pairs = { ...this.#security(security), fp };
          yield [`vless ${security} as ${fp} @${server}`, this.#to(`vless tcp ${security} @${server}`, "vless", pairs)];
        }
      }
    }
  }

  *shadowsocks(): Generator<Case> {
    for (const server of ["xray", "singbox"] as const) {
      for (const method of AEAD_METHODS) yield this.#ss(`ss ${method} @${server}`, method, SECRETS.shadowsocks);
      yield this.#ss(`ss 2022 128 @${server}`, "2022-blake3-aes-128-gcm", SECRETS.ss2022Server128);
      yield this.#ss(`ss 2022 256 @${server}`, "2022-blake3-aes-256-gcm", SECRETS.ss2022Server256);
      yield this.#ss(`ss 2022 chacha @${server}`, "2022-blake3-chacha20-poly1305", SECRETS.ss2022Server256);
      const users = `ss 2022 users @${server}`;
      const of = (key: string) => `${SECRETS.ss2022Server128}:${key}`;
      yield this.#ss(users, "2022-blake3-aes-128-gcm", of(SECRETS.ss2022User128));
      yield this.#ss(users, "2022-blake3-aes-128-gcm", of(SECRETS.ss2022Other128), `ss 2022 second user @${server}`);
      yield this.#ss(users, "2022-blake3-aes-128-gcm", of(SECRETS.wrongKey128), `ss 2022 wrong user @${server}`);
      const wrong = `${SECRETS.wrongKey128}:${SECRETS.ss2022User128}`;
      yield this.#ss(users, "2022-blake3-aes-128-gcm", wrong, `ss 2022 wrong server key @${server}`);
      const name = `ss aes-256-gcm @${server}`;
      yield this.#ss(name, "aes-256-gcm", SECRETS.wrongPassword, `ss wrong password @${server}`);
      yield this.#ss(name, "chacha20-ietf-poly1305", SECRETS.shadowsocks, `ss wrong method @${server}`);
      const wrong256 = SECRETS.wrongKey256;
      yield this.#ss(`ss 2022 256 @${server}`, "2022-blake3-aes-256-gcm", wrong256, `ss 2022 wrong key @${server}`);
    }
    // Without a clock in its protocol it works; the others take nothing that is older than 30 s.
    yield this.#ss("ss aes-256-gcm @ahead", "aes-256-gcm", SECRETS.shadowsocks);
    yield this.#ss("ss 2022 128 @ahead", "2022-blake3-aes-128-gcm", SECRETS.ss2022Server128);
    yield this.#ss("ss 2022 256 @ahead", "2022-blake3-aes-256-gcm", SECRETS.ss2022Server256);
    const both = `${SECRETS.ss2022Server256}:${SECRETS.ss2022User256}`;
    yield this.#ss("ss 2022 users 256 @singbox", "2022-blake3-aes-256-gcm", both);
    yield this.#ss("ss aes-192-gcm @singbox", "aes-192-gcm", SECRETS.shadowsocks);
    yield this.#ss("ss none @singbox", "none", "unused");
    const [, plugin] = this.#ss("ss v2ray-plugin @xray", "aes-256-gcm", SECRETS.shadowsocks);
    const options = "v2ray-plugin;mode=websocket;path=/plugin;host=lab.test;mux=0";
    yield ["ss v2ray-plugin @xray", `${plugin}/?plugin=${encodeURIComponent(options)}`];
  }

  #ss(server: string, method: string, password: string, name = server): Case {
    const user = method.startsWith("2022-")
      ? `${method}:${encodeURIComponent(password)}`
      : Buffer.from(`${method}:${password}`).toString("base64url");
    return [name, `ss://${user}@127.0.0.1:${this.#servers.port(server)}`];
  }

  #hysteria(server: string | number, pairs: Pairs = {}, password: string = SECRETS.hysteria2): string {
    const port = typeof server === "number" ? server : this.#servers.port(server);
    return `hysteria2://${encodeURIComponent(password)}@127.0.0.1:${port}?${query({ sni: NAME, ...pairs })}`;
  }

  #tuic(
    server: string | number,
    pairs: Pairs = {},
    uuid: string = SECRETS.tuic,
    password: string = SECRETS.tuicPassword,
  ): string {
    const port = typeof server === "number" ? server : this.#servers.port(server);
    return `tuic://${uuid}:${password}@127.0.0.1:${port}?${query({ sni: NAME, alpn: "h3", ...pairs })}`;
  }

  *quic(hops: readonly number[]): Generator<Case> {
    const salamander = { obfs: "salamander", "obfs-password": SECRETS.salamander };
    const wrongObfs = { obfs: "salamander", "obfs-password": SECRETS.wrongPassword };
    const pin = (name: "selfsigned" | "good") => ({ pinSHA256: this.#material.pin(name) });
    for (const server of ["xray", "singbox"]) {
      yield [`hysteria2 @${server}`, this.#hysteria(`hysteria2 @${server}`)];
      yield [`hysteria2 salamander @${server}`, this.#hysteria(`hysteria2 salamander @${server}`, salamander)];
      yield [`hysteria2 wrong password @${server}`, this.#hysteria(`hysteria2 @${server}`, {}, SECRETS.wrongPassword)];
      yield [`hysteria2 wrong obfs @${server}`, this.#hysteria(`hysteria2 salamander @${server}`, wrongObfs)];
      yield [`hysteria2 missing obfs @${server}`, this.#hysteria(`hysteria2 salamander @${server}`)];
      yield [`hysteria2 needless obfs @${server}`, this.#hysteria(`hysteria2 @${server}`, salamander)];
    }
    const gecko = { obfs: "gecko", "obfs-password": SECRETS.salamander };
    yield ["hysteria2 gecko @singbox", this.#hysteria("hysteria2 gecko @singbox", gecko)];
    yield ["hysteria2 hopping @singbox", this.#hysteria(hops[0] ?? 0, { mport: hops.join(",") })];
    yield ["hysteria2 self-signed, insecure", this.#hysteria("hysteria2 self-signed @singbox", { insecure: "1" })];
    yield ["hysteria2 self-signed, pinned", this.#hysteria("hysteria2 self-signed @singbox", pin("selfsigned"))];
    yield ["hysteria2 self-signed, other pin", this.#hysteria("hysteria2 self-signed @singbox", pin("good"))];
    yield ["hysteria2 self-signed", this.#hysteria("hysteria2 self-signed @singbox")];
    yield ["hysteria2 expired", this.#hysteria("hysteria2 expired @singbox")];
    yield ["hysteria2 wrong name", this.#hysteria("hysteria2 @singbox", { sni: "other.lab.test" })];
    for (const mode of ["native", "quic"]) {
      for (const congestion of ["cubic", "bbr", "new_reno"]) {
        const pairs = { udp_relay_mode: mode, congestion_control: congestion };
        yield [`tuic ${mode} ${congestion} @singbox`, this.#tuic("tuic @singbox", pairs)];
      }
    }
    yield ["tuic zero round trips @singbox", this.#tuic("tuic bbr @singbox", { reduce_rtt: "1" })];
    yield ["tuic wrong user", this.#tuic("tuic @singbox", {}, SECRETS.wrongUuid)];
    yield ["tuic wrong password", this.#tuic("tuic @singbox", {}, SECRETS.tuic, SECRETS.wrongPassword)];
    yield ["tuic self-signed, insecure", this.#tuic("tuic self-signed @singbox", { allow_insecure: "1" })];
    yield ["tuic self-signed", this.#tuic("tuic self-signed @singbox")];
    yield ["tuic wrong name", this.#tuic("tuic @singbox", { sni: "other.lab.test" })];
    yield ["tuic wrong alpn", this.#tuic("tuic @singbox", { alpn: "h2" })];
  }

  *wrongCredentials(): Generator<Case> {
    for (const server of ["xray", "singbox"] as const) {
      for (const protocol of CARRIED) {
        const wrong = protocol === "trojan" ? SECRETS.wrongPassword : SECRETS.wrongUuid;
        for (const [carrier, security] of [
          ["tcp", "none"],
          ["tcp", "tls"],
          ["ws", "tls"],
          ["grpc", "tls"],
        ] as const) {
          const pairs = { ...CARRIERS[carrier]?.query, ...this.#security(security) };
          const to = `${protocol} ${carrier} ${security} @${server}`;
          yield [`wrong user, ${to}`, this.#to(to, protocol, pairs, wrong)];
        }
      }
      const reality = (changes: Pairs): string =>
        this.#to(`vless tcp reality @${server}`, "vless", { ...this.#security("reality"), ...changes });
      yield [`reality wrong key @${server}`, reality({ pbk: this.#material.reality.otherPublicKey })];
      yield [`reality wrong short id @${server}`, reality({ sid: SECRETS.wrongShortId })];
      yield [`reality wrong name @${server}`, reality({ sni: "other.lab.test" })];
      yield [
        `reality wrong user @${server}`,
        this.#to(`vless tcp reality @${server}`, "vless", this.#security("reality"), SECRETS.wrongUuid),
      ];
      yield [`reality without REALITY @${server}`, reality({ security: "tls" })];
    }
    const tls = this.#security("tls");
    const xhttp = "vless xhttp auto tls @xray";
    const xhttpPairs = { ...CARRIERS["xhttp auto"]?.query, ...tls };
    yield [`wrong user, ${xhttp}`, this.#to(xhttp, "vless", { ...xhttpPairs, alpn: "h2" }, SECRETS.wrongUuid)];
    yield [`another HTTP, ${xhttp}`, this.#to(xhttp, "vless", { ...xhttpPairs, alpn: "http/1.1" })];
    yield [
      "wrong user, vless with a page behind @xray",
      this.#to("vless fallback @xray", "vless", tls, SECRETS.wrongUuid),
    ];
    for (const server of ["xray", "singbox"]) {
      const to = `trojan fallback @${server}`;
      yield [`wrong user, trojan with a page behind @${server}`, this.#to(to, "trojan", tls, SECRETS.wrongPassword)];
      yield [`trojan with a page behind @${server}`, this.#to(to, "trojan", tls)];
    }
  }

  *wrongCarriers(): Generator<Case> {
    const changes: Readonly<Record<string, Pairs>> = {
      ws: { path: "/elsewhere" },
      httpupgrade: { path: "/elsewhere" },
      grpc: { serviceName: "elsewhere" },
      "xhttp packet-up": { path: "/elsewhere" },
    };
    for (const [carrier, change] of Object.entries(changes)) {
      for (const server of carrier.startsWith("xhttp") ? (["xray"] as const) : (["xray", "singbox"] as const)) {
        for (const security of ["none", "tls"] as const) {
          const pairs = { ...CARRIERS[carrier]?.query, ...this.#security(security), ...change };
          const to = `vless ${carrier} ${security} @${server}`;
          yield [`wrong place, ${to}`, this.#to(to, "vless", pairs)];
        }
      }
    }
    yield [
      "wrong Host, vless ws none @xray",
      this.#to("vless ws none @xray", "vless", { ...CARRIERS.ws?.query, security: "none", host: "other.lab.test" }),
    ];
    for (const server of ["xray", "singbox"]) {
      yield [`TLS to a plain port @${server}`, this.#to(`vless tcp none @${server}`, "vless", this.#security("tls"))];
      yield [`plain to a TLS port @${server}`, this.#to(`vless tcp tls @${server}`, "vless", { security: "none" })];
    }
    const ws = { ...CARRIERS.ws?.query, security: "none" };
    yield ["ws to a plain tcp port @xray", this.#to("vless tcp none @xray", "vless", ws)];
  }

  /** Fields that are no names and no numbers, to servers that do not look at them. */
  *oddFields(): Generator<Case> {
    const odd = "https://lab.test/?join@them_them";
    const tls = this.#security("tls");
    const ofCarrier = (carrier: string, pairs: Pairs): Pairs => ({ ...CARRIERS[carrier]?.query, ...pairs });
    for (const server of ["xray", "singbox"] as const) {
      const cases: readonly (readonly [what: string, carrier: string, security: SecurityName, pairs: Pairs])[] = [
        ["ed with a tail", "ws", "tls", { ...tls, path: "/ws?ed=2048fp=chrome" }],
        ["ed that is no number", "ws", "tls", { ...tls, ed: "x" }],
        ["alpn", "ws", "tls", { ...tls, alpn: "@them,@them" }],
        ["alpn", "grpc", "tls", { ...tls, alpn: "@them,@them" }],
        ["authority", "grpc", "none", { security: "none", authority: odd }],
        ["sni, insecure", "tcp", "tls", { ...tls, sni: odd, allowInsecure: "1" }],
        ["sni", "tcp", "tls", { ...tls, sni: odd }],
        ["mode", "grpc", "tls", { ...tls, mode: "auto" }],
        ["header of tcp", "tcp", "none", { security: "none", headerType: "auto" }],
      ];
      for (const [what, carrier, security, pairs] of cases) {
        const to = `vless ${carrier} ${security} @${server}`;
        yield [`odd ${what}, ${to}`, this.#to(to, "vless", ofCarrier(carrier, pairs))];
      }
    }
    // xray's server looks at no Host there.
    const raw = { security: "none", host: odd };
    yield [
      "odd host, vless tcp http none @xray",
      this.#to("vless tcp http none @xray", "vless", ofCarrier("tcp http", raw)),
    ];
    yield ["odd sni, hysteria2 @singbox", this.#hysteria("hysteria2 @singbox", { sni: odd, insecure: "1" })];
  }

  *certificates(): Generator<Case> {
    const tls = this.#security("tls");
    for (const name of ["expired", "other", "selfsigned"] as const) {
      const to = `vless ${name} @xray`;
      yield [`certificate ${name}`, this.#to(to, "vless", tls)];
      yield [`certificate ${name}, insecure`, this.#to(to, "vless", { ...tls, allowInsecure: "1" })];
      yield [`certificate ${name}, pinned`, this.#to(to, "vless", { ...tls, pcs: this.#material.pin(name) })];
    }
    const insecure = { ...CARRIERS["xhttp auto"]?.query, ...tls, allowInsecure: "1" };
    const xhttp = "vless xhttp selfsigned @xray";
    yield ["certificate selfsigned, xhttp, insecure", this.#to(xhttp, "vless", insecure)];
    yield ["certificate selfsigned, xhttp", this.#to(xhttp, "vless", { ...insecure, allowInsecure: "0" })];
    yield ["page, vless xhttp insecure", this.#to(this.#fixtures.page, "vless", insecure)];
    const other = { ...tls, pcs: this.#material.pin("good") };
    yield ["certificate selfsigned, other pin", this.#to("vless selfsigned @xray", "vless", other)];
    yield [
      "certificate of another name than asked for",
      this.#to("vless tcp tls @xray", "vless", { ...tls, sni: "other.lab.test" }),
    ];
    const ws = { ...CARRIERS.ws?.query, ...tls, sni: "other.lab.test" };
    yield ["certificate of another name, ws", this.#to("vless ws tls @singbox", "vless", ws)];
  }

  *network(): Generator<Case> {
    const { page, pageTls, pageH2, silent, resetting, blackHole, silentUdp, closed } = this.#fixtures;
    const places = { closed, silent, resetting, "black hole": blackHole, page, "page in TLS": pageTls };
    for (const [place, port] of Object.entries(places)) {
      for (const [carrier, security] of [
        ["tcp", "none"],
        ["tcp", "tls"],
        ["ws", "none"],
        ["ws", "tls"],
        ["grpc", "tls"],
        ["tcp", "reality"],
      ] as const) {
        const pairs = { ...CARRIERS[carrier]?.query, ...this.#security(security) };
        yield [`${place}, vless ${carrier} ${security}`, this.#to(port, "vless", pairs)];
      }
      yield [`${place}, trojan tls`, this.#to(port, "trojan", this.#security("tls"))];
      yield [`${place}, vmess`, this.#to(port, "vmess", { security: "none" })];
      const user = Buffer.from(`aes-256-gcm:${SECRETS.shadowsocks}`).toString("base64url");
      yield [`${place}, ss`, `ss://${user}@127.0.0.1:${port}`];
    }
    const grpc = (security: SecurityName): Pairs => ({ ...CARRIERS.grpc?.query, ...this.#security(security) });
    yield ["page, vless grpc none", this.#to(page, "vless", grpc("none"))];
    yield ["page in HTTP/2, vless grpc tls", this.#to(pageH2, "vless", grpc("tls"))];
    for (const [place, port] of [
      ["closed", closed],
      ["silent", silentUdp],
    ] as const) {
      yield [`${place}, hysteria2`, this.#hysteria(port)];
      yield [`${place}, tuic`, this.#tuic(port)];
    }
    const nowhere = (text: string): string => text.replace("127.0.0.1", "nx.lab.invalid");
    yield ["no such name, vless", nowhere(this.#to(closed, "vless", { security: "none" }))];
    yield ["no such name, hysteria2", nowhere(this.#hysteria(closed))];
  }

  *egress(): Generator<Case> {
    const none = { security: "none" };
    for (const protocol of CARRIED) {
      for (const egress of ["held", "blocked"]) {
        for (const server of ["xray", "singbox"]) {
          yield [
            `egress ${egress}, ${protocol} @${server}`,
            this.#to(`${protocol} ${egress} @${server}`, protocol, none),
          ];
        }
      }
      yield [`a page instead, ${protocol} @xray`, this.#to(`${protocol} portal @xray`, protocol, none)];
    }
    for (const server of ["xray", "singbox"] as const) {
      for (const [protocol, carrier, security] of HELD) {
        const { query: own = {}, [server]: form = null } = CARRIERS[carrier] ?? {};
        if (form === null) continue;
        const name = `${protocol} ${carrier} ${security}`;
        const to = this.#to(`${name} held @${server}`, protocol, { ...own, ...this.#security(security) });
        yield [`egress held, ${name} @${server}`, to];
      }
      const held = `ss 2022 held @${server}`;
      yield this.#ss(held, "2022-blake3-aes-128-gcm", SECRETS.ss2022Server128, `egress held, ss 2022 @${server}`);
    }
    const ss = (name: string): Case => this.#ss(name, "aes-256-gcm", SECRETS.shadowsocks);
    for (const name of ["ss held @xray", "ss held @singbox", "ss blocked @singbox"]) {
      yield [`egress ${name.replace(/^ss (\w+)/, "$1, ss")}`, ss(name)[1]];
    }
    yield ["a page instead, ss @xray", ss("ss portal @xray")[1]];
    for (const name of [
      "held @xray",
      "held @singbox",
      "blocked @xray",
      "blocked @singbox",
      "refused @xray",
      "refused @singbox",
    ]) {
      yield [`egress ${name.replace(" ", ", hysteria2 ")}`, this.#hysteria(`hysteria2 ${name}`)];
    }
    yield ["a page instead, hysteria2 @xray", this.#hysteria("hysteria2 portal @xray")];
    for (const name of ["held", "blocked", "refused"])
      yield [`egress ${name}, tuic @singbox`, this.#tuic(`tuic ${name} @singbox`)];
  }
}

function link(protocol: Carried, user: string, port: number, pairs: Pairs): string {
  const more = protocol === "vless" ? { encryption: "none" } : {};
  return `${protocol}://${encodeURIComponent(user)}@127.0.0.1:${port}?${query({ ...more, ...pairs })}`;
}

function query(pairs: Pairs): string {
  return Object.entries(pairs)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join("&");
}
