/** The guard's vectors, as data: what an attacker sends by which door, and where nothing may be sent for it. Pure but for its counters. */
import { NET } from "./network.ts";
import { type Spelling, spellingsOf } from "./spellings.ts";

/** How it comes in. `put`: a harmless monitor is changed to it. */
export type Door = "server" | "put" | "check" | "public" | "subscription" | "webhook";
type Fields = Readonly<Record<string, unknown>>;

export interface Vector {
  readonly group: string;
  readonly name: string;
  readonly door: Door;
  readonly body: Fields;
  /** By `put`: the monitor before the change. */
  readonly before?: Fields;
  /** Nothing may be sent to this port, or to this address; but to those that are allowed. */
  readonly watched: { readonly port: number } | { readonly to: string };
  readonly allowed: readonly string[];
  /** A control: it must be sent, or the suite sees nothing. */
  readonly mustArrive?: boolean;
}

export interface Zone {
  readonly A?: readonly (readonly string[])[];
  readonly AAAA?: readonly (readonly string[])[];
  readonly cname?: string;
  readonly extra?: readonly (readonly [string, string])[];
  /** Over TCP, where UDP says that it is too long. */
  readonly tcp?: readonly (readonly string[])[];
}

export interface World {
  readonly vectors: readonly Vector[];
  readonly names: Readonly<Record<string, Zone>>;
  readonly lists: Readonly<Record<string, string>>;
}

const UUID = "5ec2e700-1111-4222-8333-444455556666";
const KEY = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
const FIRST_PORT = 20_001;
const DOMAIN = "evil-site.org";
/** What is there before a change. */
const HARMLESS = { host: `${NET.neighbours}.250`, port: 19_999 } as const;
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);
const at = (host: string, port: number): string => `${bracketed(host)}:${port}`;
const wireguard = (endpoint: string): string =>
  `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.9.0.2/32\n[Peer]\nPublicKey = ${KEY}\nEndpoint = ${endpoint}\nAllowedIPs = 0.0.0.0/0\n`;

/** Not packed, as older versions of the app write it. */
function amneziaKey(config: string): string {
  const containers = [{ container: "amnezia-awg", awg: { last_config: JSON.stringify({ config }) } }];
  return `vpn://${Buffer.from(JSON.stringify({ containers })).toString("base64url")}`;
}

/** Kinds that dial the port which they are given. */
export function bodiesOf(caPem: string): Readonly<Record<string, (host: string, port: number) => Fields>> {
  const openvpn = (host: string, port: number, proto: string): Fields => ({
    protocol: "openvpn",
    config: `client\ndev tun\nremote ${host} ${port} ${proto}\nauth-user-pass\n<ca>\n${caPem}</ca>\n`,
    username: "u",
    password: "secret-for-vectors",
  });
  return {
    http: (host, port) => ({ type: "http", url: `http://${at(host, port)}/` }),
    https: (host, port) => ({ type: "http", url: `https://${at(host, port)}/` }),
    keyword: (host, port) => ({ type: "keyword", url: `http://${at(host, port)}/`, keyword: "never" }),
    port: (host, port) => ({ type: "port", host, port }),
    dns: (host, port) => ({ type: "dns", domain: "a.test-site.org", host, port }),
    smtp: (host, port) => ({ type: "smtp", host, port }),
    "smtp over tls": (host, port) => ({ type: "smtp", host, port, security: "tls" }),
    tls: (host, port) => ({ type: "tls", host, port }),
    "tls after starttls": (host, port) => ({ type: "tls", host, port, starttls: "postgres" }),
    wireguard: (host, port) => ({ protocol: "wireguard", config: wireguard(at(host, port)) }),
    amneziawg: (host, port) => ({ protocol: "amneziawg", config: wireguard(at(host, port)) }),
    "amneziawg in a key": (host, port) => ({ protocol: "amneziawg", config: amneziaKey(wireguard(at(host, port))) }),
    openvpn: (host, port) => openvpn(host, port, "udp"),
    "openvpn over tcp": (host, port) => openvpn(host, port, "tcp"),
    openconnect: (host, port) => ({
      protocol: "openconnect",
      host,
      port,
      username: "u",
      password: "secret-for-vectors",
    }),
    vless: (host, port) => ({ url: `vless://${UUID}@${at(host, port)}?security=none` }),
    vmess: (host, port) => ({
      url: `vmess://${base64(JSON.stringify({ v: "2", add: host, port, id: UUID, net: "tcp" }))}`,
    }),
    trojan: (host, port) => ({ url: `trojan://pw@${at(host, port)}` }),
    shadowsocks: (host, port) => ({ url: `ss://${base64("aes-256-gcm:pw")}@${at(host, port)}` }),
    hysteria2: (host, port) => ({ url: `hy2://pw@${at(host, port)}?insecure=1` }),
    tuic: (host, port) => ({ url: `tuic://${UUID}:pw@${at(host, port)}?congestion_control=bbr` }),
  };
}

/** Kinds whose port is fixed, or that have none: they are watched by address. */
export const ADDRESSED: Readonly<Record<string, (host: string) => Fields>> = {
  ping: (host) => ({ type: "ping", host }),
  ikev2: (host) => ({ protocol: "ikev2", host, username: "u", password: "secret-for-vectors" }),
};
const LINKS = ["vless", "vmess", "trojan", "shadowsocks", "hysteria2", "tuic"] as const;

/** Where an attacker wants to get to. */
const TARGETS: Readonly<Record<string, string>> = {
  loopback: "127.0.0.1",
  "own public address": NET.public,
  "own address in an opened network": NET.lan,
  "metadata service": NET.metadata,
};

class Book {
  readonly vectors: Vector[] = [];
  readonly names: Record<string, Zone> = {};
  readonly lists: Record<string, string> = {};
  #port = FIRST_PORT;
  #names = 0;
  #hosts = 0;

  port(): number {
    return this.#port++;
  }

  name(zone: Zone): string {
    const name = `v${++this.#names}.${DOMAIN}`;
    this.names[name] = zone;
    return name;
  }

  /** The last part of an address that only one vector has. */
  host(): number {
    return (this.#hosts++ % 250) + 2;
  }

  list(lines: readonly string[]): string {
    const id = String(Object.keys(this.lists).length);
    this.lists[id] = lines.join("\n");
    return `http://${NET.site}/list/${id}`;
  }

  /** Watched by a port of its own, which the body is made with. */
  add(group: string, name: string, door: Door, body: (port: number) => Fields, allowed: readonly string[] = []): void {
    const port = this.port();
    this.vectors.push({ group, name, door, body: body(port), watched: { port }, allowed });
  }

  addTo(group: string, name: string, door: Door, to: string, body: Fields, mustArrive = false): void {
    this.vectors.push({ group, name, door, body, watched: { to }, allowed: [], mustArrive });
  }

  control(name: string, door: Door, body: (port: number) => Fields): void {
    const port = this.port();
    this.vectors.push({
      group: "controls",
      name,
      door,
      body: body(port),
      watched: { port },
      allowed: [],
      mustArrive: true,
    });
  }
}

/** Names that lie: the API's own look-up, which comes first, hears of a public address. */
function liesAbout(
  book: Book,
  ip: string,
): Readonly<Record<string, { readonly host: string; readonly allowed: readonly string[] }>> {
  const { site, siteV6 } = NET;
  const type = ip.includes(":") ? "AAAA" : "A";
  const turns = [[type === "A" ? site : siteV6], [ip]];
  const inner = book.name({ [type]: turns });
  const deep = book.name({ cname: book.name({ cname: inner, [type]: turns }), [type]: turns });
  const only = (host: string) => ({ host, allowed: [] });
  const beside = (host: string) => ({ host, allowed: [site, siteV6] });
  const mapped = type === "A" ? `::ffff:${ip}` : ip;
  return {
    "first public, then": only(book.name({ [type]: turns })),
    "one public among": beside(book.name({ [type]: [turns.flat()] })),
    "an alias of a name that moves to": only(book.name({ cname: inner })),
    "aliases of aliases to": only(deep),
    "the other family says": beside(book.name({ A: [[site]], AAAA: [[siteV6], [mapped]] })),
    "something about others says": beside(book.name({ A: [[site]], extra: [["another.test-site.org", ip]] })),
    "over TCP": beside(book.name({ tcp: type === "A" ? turns : [[site]], ...(type === "AAAA" && { AAAA: turns }) })),
    "translated to": only(book.name({ AAAA: [[siteV6], [type === "A" ? `64:ff9b::${ip}` : ip]] })),
  };
}

/** @param caPem any authority, for what does not begin without one */
export function worldOf(caPem: string): World {
  const book = new Book();
  const bodies = bodiesOf(caPem);
  controls(book, bodies);
  spellings(book, bodies);
  addresses(book);
  kinds(book, bodies);
  lies(book, bodies);
  changes(book, bodies);
  checks(book, bodies);
  redirects(book);
  urls(book);
  subscriptions(book, bodies);
  files(book, caPem);
  logins(book, caPem);
  webhooks(book);
  const { vectors, names, lists } = book;
  return { vectors: vectors.map((vector) => withBefore(vector, bodies)), names, lists };
}

/** The kind is the first word of such a vector's name. */
function withBefore(vector: Vector, bodies: Bodies): Vector {
  if (vector.door !== "put") return vector;
  const kind = vector.name.replace(/ (?:by|to) .*$/, "");
  const { host, port } = HARMLESS;
  return { ...vector, before: bodies[kind]?.(host, port) ?? ADDRESSED[kind]?.(host) ?? {} };
}

type Bodies = ReturnType<typeof bodiesOf>;
const bodyOf = (bodies: Bodies, kind: string, host: string, port: number): Fields => bodies[kind]?.(host, port) ?? {};
const isTunnel = (body: Fields): boolean => body.type === undefined;

/** A neighbour in an opened network: what every kind sends by every door must be seen. */
function controls(book: Book, bodies: Bodies): void {
  for (const kind of Object.keys(bodies)) {
    const body = (port: number) => bodyOf(bodies, kind, NET.neighbour, port);
    const doors: readonly Door[] = isTunnel(body(1)) ? ["server", "put", "check", "public"] : ["server", "put"];
    for (const door of doors) book.control(`${kind} by ${door}`, door, body);
  }
  for (const [kind, body] of Object.entries(ADDRESSED)) {
    for (const door of ["server", "put"] as const) {
      const host = `${NET.neighbours}.${book.host()}`;
      book.addTo("controls", `${kind} by ${door}`, door, host, body(host), true);
    }
  }
  const named = book.name({ A: [[NET.neighbour]] });
  book.control("a name", "server", (port) => bodyOf(bodies, "http", named, port));
  const late = book.name({ A: [[NET.site], [NET.neighbour]] });
  book.control("a name that moves", "server", (port) => bodyOf(bodies, "http", late, port));
  book.control("a redirect", "server", (port) => redirect(302, `http://${at(NET.neighbour, port)}/`));
  book.control("a subscription", "subscription", (port) => ({ url: `http://${at(NET.neighbour, port)}/` }));
  book.control("a list of links", "subscription", (port) => ({
    url: book.list([`trojan://pw@${at(NET.neighbour, port)}#n`]),
  }));
  book.control("a webhook", "webhook", (port) => ({ url: `http://${at(NET.neighbour, port)}/` }));
  book.control("opened by its own address", "server", (port) => bodyOf(bodies, "http", NET.lanNamed, port));
}

function redirect(status: number, to: string): Fields {
  return { type: "http", url: `http://${NET.site}/r/${status}/${Buffer.from(to).toString("base64url")}` };
}

function spellings(book: Book, bodies: Bodies): void {
  for (const [what, ip] of Object.entries(TARGETS)) {
    for (const { how, text } of spellingsOf(ip)) {
      book.add("spellings in a URL", `${what}: ${how}`, "server", (port) => bodyOf(bodies, "http", text, port));
    }
  }
  const inHosts = (each: Spelling): boolean => each.family === 6 || !/percent/.test(each.how);
  for (const { how, text } of spellingsOf(NET.public).filter(inHosts)) {
    book.add("spellings of a host", how, "server", (port) => bodyOf(bodies, "port", text, port));
  }
  for (const { how, text } of spellingsOf(NET.lan)) {
    book.add("spellings in a link", how, "check", (port) => bodyOf(bodies, "trojan", text, port));
  }
}

/** One each of all addresses that are this machine's, or that no caller may reach. */
function addresses(book: Book): void {
  const { second, near, publicV6, lanV6, anyIp, anyIpV6 } = NET;
  const all: Readonly<Record<string, string>> = {
    "an interface without a carrier": second,
    "a point-to-point link": near,
    "own public IPv6": publicV6,
    "own IPv6 in an opened network": lanV6,
    "a local route": `${anyIp}.200`,
    "a local route's first": `${anyIp}.0`,
    "a local IPv6 route": `${anyIpV6}beef`,
    "another part of loopback": "127.250.3.4",
    "IPv6 loopback": "::1",
    unspecified: "0.0.0.0",
    "this network": "0.0.0.9",
    "IPv6 unspecified": "::",
    "a private network": "192.168.77.1",
    "another private network": "172.20.0.1",
    "carrier-grade NAT": "100.100.100.200",
    "a cloud's platform": "168.63.129.16",
    multicast: "224.0.0.251",
    broadcast: "255.255.255.255",
    "an IPv6 metadata service": "fd00:ec2::254".replace("fd00", "fe80"),
    "site-local": "fec0::1",
    documentation: "192.0.2.7",
  };
  for (const [what, ip] of Object.entries(all)) {
    book.add("addresses", what, "server", (port) => ({ type: "port", host: ip, port }));
    const name = book.name({ [ip.includes(":") ? "AAAA" : "A"]: [[ip.includes(":") ? NET.siteV6 : NET.site], [ip]] });
    book.add("addresses behind names", what, "server", (port) => ({ type: "port", host: name, port }));
  }
}

function kinds(book: Book, bodies: Bodies): void {
  for (const kind of Object.keys(bodies)) {
    for (const [what, ip] of Object.entries(TARGETS)) {
      book.add("every kind", `${kind} to ${what}`, "server", (port) => bodyOf(bodies, kind, ip, port));
    }
  }
  for (const [kind, body] of Object.entries(ADDRESSED)) {
    for (const network of ["127.7.0", NET.anyIp, "192.168.78"]) {
      const ip = `${network}.${book.host()}`;
      book.addTo("every kind", `${kind} to ${ip}`, "server", ip, body(ip));
    }
  }
}

function lies(book: Book, bodies: Bodies): void {
  for (const ip of ["127.0.0.1", NET.public, NET.lan, NET.metadata, NET.publicV6]) {
    for (const [how, { host, allowed }] of Object.entries(liesAbout(book, ip))) {
      book.add("names that lie", `${how} ${ip}`, "server", (port) => bodyOf(bodies, "http", host, port), allowed);
    }
  }
  for (const kind of Object.keys(bodies)) {
    for (const ip of [NET.public, NET.lan]) {
      const host = book.name({ A: [[NET.site], [ip]] });
      book.add("names that move, every kind", `${kind} to ${ip}`, "server", (port) => bodyOf(bodies, kind, host, port));
    }
  }
  for (const [kind, body] of Object.entries(ADDRESSED)) {
    const to = `${NET.anyIp}.${book.host()}`;
    const host = book.name({ A: [[NET.site], [to]] });
    book.addTo("names that move, every kind", `${kind} to ${to}`, "server", to, body(host));
  }
}

function changes(book: Book, bodies: Bodies): void {
  for (const kind of Object.keys(bodies)) {
    const moving = book.name({ A: [[NET.site], [NET.second]] });
    for (const host of [NET.public, moving])
      book.add("changes", `${kind} to ${host}`, "put", (port) => bodyOf(bodies, kind, host, port));
  }
  for (const [kind, body] of Object.entries(ADDRESSED)) {
    const ip = `${NET.anyIp}.${book.host()}`;
    book.addTo("changes", `${kind} to ${ip}`, "put", ip, body(ip));
  }
}

function checks(book: Book, bodies: Bodies): void {
  for (const kind of Object.keys(bodies).filter((each) => isTunnel(bodyOf(bodies, each, "a", 1)))) {
    for (const door of ["check", "public"] as const) {
      const moving = book.name({ A: [[NET.site], [NET.public]] });
      for (const host of [NET.public, NET.lan, moving])
        book.add(`one-off by ${door}`, `${kind} to ${host}`, door, (port) => bodyOf(bodies, kind, host, port));
    }
  }
  const host = `${NET.anyIp}.${book.host()}`;
  book.addTo("one-off by check", "ikev2", "check", host, ADDRESSED.ikev2?.(host) ?? {});
}

function redirects(book: Book): void {
  const group = "redirects";
  for (const status of [301, 302, 303, 307, 308]) {
    for (const [what, ip] of Object.entries(TARGETS))
      book.add(group, `${status} to ${what}`, "server", (port) => redirect(status, `http://${at(ip, port)}/`));
  }
  const ways: readonly ((port: number) => string)[] = [
    (port) => `//${at(NET.public, port)}/`,
    (port) => `https://${at(NET.public, port)}/`,
    (port) => `http://user:pw@${at(NET.public, port)}/`,
    (port) => `http://0x2d.0x5a.0xc.7:${port}/`,
    (port) => `http:\\\\${at(NET.public, port)}/`,
    (port) => `gopher://${at(NET.public, port)}/`,
    (port) => `http://localhost.:${port}/`,
    (port) => `http://[::ffff:${NET.public}]:${port}/`,
    (port) => `http://${book.name({ A: [[NET.public]] })}:${port}/`,
    (port) => `http://${book.name({ cname: book.name({ A: [[NET.lan]] }), A: [[NET.lan]] })}:${port}/`,
    (port) => String(redirect(302, `http://${at(NET.public, port)}/`).url),
  ];
  for (const [index, to] of ways.entries())
    book.add(group, `way ${index + 1}`, "server", (port) => redirect(302, to(port)));
  book.add(group, "Refresh, Link and Alt-Svc", "server", (port) => ({
    type: "http",
    url: `http://${NET.site}/refresh/${Buffer.from(`http://${at(NET.public, port)}/`).toString("base64url")}`,
  }));
}

function urls(book: Book): void {
  const forms: readonly ((host: string, port: number) => string)[] = [
    (host, port) => `http://${NET.site}@${host}:${port}/`,
    (host, port) => `http:\\\\${host}:${port}\\`,
    (host, port) => `http:/${host}:${port}/`,
    (host, port) => `http:${host}:${port}/`,
    (host, port) => `http:///${host}:${port}/`,
    (host, port) => `http://${host}:${port}#@${NET.site}/`,
    (host, port) => `http://${NET.site}:80\\@${host}:${port}/`,
    (host, port) => `http://${NET.site}%00@${host}:${port}/`,
    (host, port) => ` \thttp://${host}:${port}/`,
    (host, port) => `ht\ntp://${host}:\n${port}/`,
    (host, port) => `HTTP://${host}:0${port}/`,
    (host, port) => `http://${host}.:${port}/`,
    (host, port) => `ftp://${host}:${port}/`,
    (host, port) => `ws://${host}:${port}/`,
    (host, port) => `http://%5B::ffff:${host}%5D:${port}/`,
    (host, port) => `http://[::ffff:${host}%25lo]:${port}/`,
  ];
  for (const [index, form] of forms.entries()) {
    for (const host of ["127.0.0.1", NET.public])
      book.add("tricks of URLs", `form ${index + 1} of ${host}`, "server", (port) => ({
        type: "http",
        url: form(host, port),
      }));
  }
  const loopback = [
    ...[
      "localhost",
      "LOCALHOST",
      "localhost.",
      "a.localhost",
      "ｌｏｃａｌｈｏｓｔ",
      "ⓛocalhost",
      "localhost%2e",
      "loc%61lhost",
    ],
    ...[
      "ip6-localhost",
      "[::1]",
      "[0:0:0:0:0:0:0:1]",
      "[::]",
      "[::1%25lo]",
      "[fe80::1%25wan]",
      "0",
      "0x0",
      "127.1",
      "00",
    ],
  ];
  for (const host of loopback)
    book.add("names of loopback", host, "server", (port) => ({ type: "http", url: `http://${host}:${port}/` }));
}

function subscriptions(book: Book, bodies: Bodies): void {
  for (const [what, ip] of Object.entries(TARGETS)) {
    book.add("subscriptions", `at ${what}`, "subscription", (port) => ({ url: `http://${at(ip, port)}/` }));
    const moving = book.name({ A: [[NET.site], [ip]] });
    book.add("subscriptions", `at a name that moves to ${what}`, "subscription", (port) => ({
      url: `http://${moving}:${port}/`,
    }));
    for (const status of [302, 308]) {
      const via = (port: number) => ({ url: redirect(status, `http://${at(ip, port)}/`).url });
      book.add("subscriptions", `${status} to ${what}`, "subscription", via);
    }
    for (const kind of LINKS) {
      const line = (host: string, port: number) => `${bodyOf(bodies, kind, host, port).url}#n`;
      const listed = (host: string) => (port: number) => ({ url: book.list([line(host, port)]) });
      book.add("links of a list", `${kind} to ${what}`, "subscription", listed(ip));
      const hidden = book.name({ A: [[ip]] });
      book.add("links of a list", `${kind} to a name of ${what}`, "subscription", listed(hidden));
    }
  }
}

/** Further hosts inside of one configuration. */
function files(book: Book, caPem: string): void {
  const { neighbour, lan, public: own } = NET;
  const group = "further hosts of a file";
  const profile = (remotes: readonly string[]): Fields => ({
    protocol: "openvpn",
    config: `client\ndev tun\n${remotes.map((line) => `${line}\n`).join("")}auth-user-pass\n<ca>\n${caPem}</ca>\n`,
    username: "u",
    password: "secret-for-vectors",
  });
  for (const ip of [own, lan]) {
    const moving = book.name({ A: [[NET.site], [ip]] });
    for (const door of ["server", "check"] as const) {
      for (const host of [ip, moving]) {
        const what = `${host} by ${door}`;
        book.add(group, `a second remote, ${what}`, door, (port) =>
          profile([`remote ${neighbour} ${book.port()} tcp`, `remote ${host} ${port} tcp`]),
        );
        book.add(group, `a connection block, ${what}`, door, (port) =>
          profile([
            `<connection>\nremote ${neighbour} ${book.port()} udp\n</connection>`,
            `<connection>\nremote ${host} ${port} udp\n</connection>`,
          ]),
        );
        book.add(group, `a proxy, ${what}`, door, (port) =>
          profile([`remote ${neighbour} ${book.port()} tcp`, `http-proxy ${host} ${port}`]),
        );
        book.add(group, `a second peer, ${what}`, door, (port) => ({
          protocol: "wireguard",
          config: `${wireguard(at(neighbour, book.port()))}[Peer]\nPublicKey = ${KEY}\nEndpoint = ${at(host, port)}\nAllowedIPs = 10.8.0.0/16\n`,
        }));
        const link = (query: string) => () => ({
          url: `vless://${UUID}@${at(neighbour, book.port())}?security=none&${query}`,
        });
        book.add(group, `a link's host, ${what}`, door, (port) => link(`type=ws&path=/&host=${host}:${port}`)());
        book.add(group, `a link's second server, ${what}`, door, (port) => {
          const extra = encodeURIComponent(
            JSON.stringify({ downloadSettings: { address: host, port, network: "xhttp" } }),
          );
          return link(`type=xhttp&path=/&extra=${extra}`)();
        });
        book.add(group, `hops, ${what}`, door, (port) => ({
          url: `hy2://pw@${host}:${port}?mport=${port}-${port}&insecure=1`,
        }));
        book.add(group, `a plugin's host, ${what}`, door, (port) => ({
          url: `ss://${base64("aes-256-gcm:pw")}@${at(neighbour, book.port())}/?plugin=${encodeURIComponent(`obfs-local;obfs=http;obfs-host=${host}:${port}`)}`,
        }));
      }
    }
  }
}

/** A VPN server that sends the client elsewhere before it has logged in. */
function logins(book: Book, caPem: string): void {
  const login = (status: number, to: string): Fields => ({
    protocol: "openconnect",
    host: `https://${NET.site}/r/${status}/${Buffer.from(to).toString("base64url")}`,
    username: "u",
    password: "secret-for-vectors",
    ca: caPem,
  });
  book.control("an OpenConnect redirect", "server", (port) => login(302, `https://${at(NET.neighbour, port)}/`));
  for (const [what, ip] of Object.entries(TARGETS)) {
    const moving = book.name({ A: [[ip]] });
    for (const host of [ip, moving]) {
      for (const door of ["server", "check", "public"] as const) {
        for (const status of [302, 307])
          book.add("logins that are redirected", `${status} to ${what}, ${host}, by ${door}`, door, (port) =>
            login(status, `https://${at(host, port)}/`),
          );
      }
    }
  }
}

function webhooks(book: Book): void {
  for (const [what, ip] of Object.entries(TARGETS)) {
    book.add("webhooks", `at ${what}`, "webhook", (port) => ({ url: `http://${at(ip, port)}/` }));
    const moving = book.name({ A: [[NET.site], [ip]] });
    book.add("webhooks", `at a name that moves to ${what}`, "webhook", (port) => ({
      url: `http://${moving}:${port}/`,
    }));
    book.add("webhooks", `redirected to ${what}`, "webhook", (port) => ({
      url: redirect(307, `http://${at(ip, port)}/`).url,
    }));
  }
}
