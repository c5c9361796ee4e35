import { createSocket } from "node:dgram";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer as DnsAnswer } from "dns-packet";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bind } from "../../demo/loopback.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { classify } from "../net/classify.ts";
import {
  type Asked,
  a,
  aaaa,
  answer,
  cname,
  type DnsPeer,
  openDnsPeer,
  type Reaction,
  truncated,
  zone,
} from "../protocols/dns/peer.suite.ts";
import { parseNameServer, ResolverEntryError } from "./name-servers.ts";
import { type Answer, createResolver, type Resolver } from "./resolver.ts";
import { parseResolvConf, SystemNames, searchedNames } from "./system-names.ts";

const NO_FILES = new SystemNames("/nonexistent/hosts", "/nonexistent/resolv.conf");
const QUICK_MS = [300, 300];

let peers: DnsPeer[] = [];
let folder = "";

beforeEach(() => {
  folder = temporaryFolder();
});

afterEach(async () => {
  for (const peer of peers) await peer.close();
  peers = [];
});

async function peerThat(react: (asked: Asked) => Reaction, host?: string): Promise<DnsPeer> {
  const peer = await openDnsPeer(react, host);
  peers.push(peer);
  return peer;
}

function entryOf(peer: DnsPeer): string {
  return peer.host.includes(":") ? `[${peer.host}]:${peer.port}` : `${peer.host}:${peer.port}`;
}

function resolverOn(...servers: DnsPeer[]): Resolver {
  return createResolver({ servers: servers.map(entryOf), system: NO_FILES, patienceMs: QUICK_MS });
}

async function ips(resolver: Resolver, name: string, family: 4 | 6 = 4): Promise<string> {
  return wordsOf(await resolver.lookup(name, false, family));
}

/** Addresses, or the verdict. */
function wordsOf({ addresses, fault }: Answer): string {
  return fault === null ? addresses.map(({ ip }) => ip).join(" ") : classify(fault, "resolve").verdict;
}

function asksOf(peer: DnsPeer): string[] {
  return peer.asked.map(({ over, type, name }) => `${over} ${type} ${name}`);
}

describe("lookup", () => {
  it("gives the addresses of the asked family, over IPv4 and IPv6", async () => {
    const records = [a("h.dev", "9.9.9.9"), a("h.dev", "9.9.9.10"), aaaa("h.dev", "2a00::1")];
    for (const host of ["127.0.0.1", "::1"]) {
      const resolver = resolverOn(await peerThat(zone(records), host));
      expect(await ips(resolver, "h.dev")).toBe("9.9.9.9 9.9.9.10");
      expect(await ips(resolver, "h.dev", 6)).toBe("2a00::1");
    }
  });

  it("tells a name that does not exist from one without an address", async () => {
    const resolver = resolverOn(await peerThat(zone([aaaa("six.dev", "2a00::1")])));
    const missing = await resolver.lookup("no.dev", false, 4);
    const other = await resolver.lookup("six.dev", false, 4);
    expect(missing.fault?.message).toBe("The name no.dev does not exist");
    expect(other.fault?.message).toBe("The name six.dev has no IPv4 address");
    expect([wordsOf(missing), wordsOf(other)]).toEqual(["unresolved", "unresolved"]);
  });

  it("asks over TCP when the answer was cut short", async () => {
    const many = Array.from({ length: 100 }, (_, index) => a("big.dev", `9.9.8.${index}`));
    const peer = await peerThat((asked) => (asked.over === "udp" ? truncated(asked) : answer(asked, many)));
    expect((await ips(resolverOn(peer), "big.dev")).split(" ")).toHaveLength(32);
    expect(asksOf(peer)).toEqual(["udp A big.dev", "tcp A big.dev"]);
  });

  it("uses a random id and a fresh port for every question", async () => {
    const peer = await peerThat(zone([]));
    const resolver = resolverOn(peer);
    for (let index = 0; index < 20; index++) await resolver.lookup(`n${index}.dev`, false, 4);
    expect(new Set(peer.asked.map(({ query }) => query.id)).size).toBeGreaterThan(15);
    expect(new Set(peer.asked.map(({ from }) => from?.port)).size).toBeGreaterThan(15);
  });

  it("never throws, whatever the name", async () => {
    const resolver = resolverOn(await peerThat(zone([])));
    for (const name of ["", "a..b", "x".repeat(70)]) expect(await ips(resolver, name)).toBe("unresolved");
  });
});

describe("aliases", () => {
  it("are followed in the answer", async () => {
    const peer = await peerThat(
      zone([cname("www.dev", "cdn.dev"), cname("cdn.dev", "edge.dev"), a("edge.dev", "9.9.9.9")]),
    );
    expect(await ips(resolverOn(peer), "www.dev")).toBe("9.9.9.9");
    expect(peer.asked).toHaveLength(1);
  });

  it("are asked for where the server leaves them open", async () => {
    const records = new Map<string, DnsAnswer>([
      ["www.dev", cname("www.dev", "cdn.dev")],
      ["cdn.dev", cname("cdn.dev", "edge.dev")],
      ["edge.dev", a("edge.dev", "9.9.9.9")],
    ]);
    const peer = await peerThat((asked) => answer(asked, [records.get(asked.name) ?? a("x", "1.1.1.1")]));
    expect(await ips(resolverOn(peer), "www.dev")).toBe("9.9.9.9");
    expect(peer.asked.map(({ name }) => name)).toEqual(["www.dev", "cdn.dev", "edge.dev"]);
  });

  it("without end are given up", async () => {
    const peer = await peerThat((asked) => answer(asked, [cname(asked.name, `x${asked.name}`)]));
    const found = await resolverOn(peer).lookup("www.dev", false, 4);
    expect(found.fault?.message).toBe("The name www.dev is an alias without end");
    expect(peer.asked.length).toBeLessThanOrEqual(13);
    const circle = await peerThat(zone([cname("a.dev", "b.dev"), cname("b.dev", "a.dev")]));
    expect(await ips(resolverOn(circle), "a.dev")).toBe("unresolved");
  });

  it("to something that is no name end there", async () => {
    const peer = await peerThat((asked) => answer(asked, [cname(asked.name, "a b.dev")]));
    expect(await ips(resolverOn(peer), "www.dev")).toBe("unresolved");
    expect(peer.asked).toHaveLength(1);
  });
});

describe("answers that are not to be believed", () => {
  const good = (asked: Asked) => answer(asked, [a(asked.name, "9.9.9.9")]);
  const evil = (asked: Asked, changes: Record<string, unknown>) => answer(asked, [a(asked.name, "6.6.6.6")], changes);

  it.each<[string, (asked: Asked) => Uint8Array]>([
    ["another id", (asked) => evil(asked, { id: ((asked.query.id ?? 0) + 1) % 65_536 })],
    ["another question", (asked) => evil(asked, { questions: [{ name: "evil.dev", type: "A", class: "IN" }] })],
    [
      "a question of another type",
      (asked) => evil(asked, { questions: [{ name: asked.name, type: "AAAA", class: "IN" }] }),
    ],
    ["a query instead of an answer", (asked) => evil(asked, { type: "query" })],
    ["no bytes", () => new Uint8Array()],
    ["noise", () => new Uint8Array(500).fill(0xc0)],
    ["a record that lies about its length", (asked) => cutShort(evil(asked, {}))],
  ])("%s is dropped, and the right one after it is taken", async (_, wrong) => {
    const peer = await peerThat((asked) => [wrong(asked), good(asked)]);
    expect(await ips(resolverOn(peer), "h.dev")).toBe("9.9.9.9");
  });

  it("an answer from another port is not heard", async () => {
    const elsewhere = createSocket("udp4");
    await bind(elsewhere);
    const peer = await peerThat((asked) => {
      if (asked.from !== null) elsewhere.send(evil(asked, {}), asked.from.port, asked.from.address);
      return null;
    });
    expect(await ips(resolverOn(peer), "h.dev")).toBe("unfit");
    elsewhere.close();
  });

  it("a record for another name is ignored", async () => {
    const peer = await peerThat((asked) => answer(asked, [a("other.dev", "6.6.6.6")]));
    expect(await ips(resolverOn(peer), "h.dev")).toBe("unresolved");
  });

  it("a flood of foreign datagrams ends the question", async () => {
    const noise = Array.from({ length: 300 }, () => new Uint8Array(20));
    const peer = await peerThat((asked) => (asked.name === "." ? answer(asked, []) : noise));
    expect(await ips(resolverOn(peer), "h.dev")).toMatch(/^(unresolved|unfit)$/);
  });

  it.each<[string, (asked: Asked) => Reaction]>([
    ["says nothing", () => null],
    ["sends noise", () => new Uint8Array([0, 5, 1, 2, 3, 4, 5])],
    ["promises more than we read", () => new Uint8Array([0xff, 0xff, 1])],
    ["cuts its answer short again", (asked) => truncated(asked)],
    ["stops in the middle", (asked) => cutShort(answer(asked, [a("h.dev", "6.6.6.6")]))],
  ])("a TCP side that %s is no answer", async (_, react) => {
    const peer = await peerThat((asked) => (asked.over === "udp" ? truncated(asked) : react(asked)));
    expect(await ips(resolverOn(peer), "h.dev")).toMatch(/^(unresolved|unfit)$/);
  });
});

function cutShort(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, bytes.length - 2);
}

describe("servers", () => {
  const silent = () => null;

  it("the next one is asked when one is silent, and first from then on", async () => {
    const dead = await peerThat(silent);
    const alive = await peerThat(zone([a("h.dev", "9.9.9.9"), a("i.dev", "9.9.9.10")]));
    const resolver = resolverOn(dead, alive);
    expect(await ips(resolver, "h.dev")).toBe("9.9.9.9");
    const asked = dead.asked.length;
    expect(await ips(resolver, "i.dev")).toBe("9.9.9.10");
    expect(dead.asked).toHaveLength(asked);
  });

  it("the next one is asked when one refuses or fails", async () => {
    for (const rcode of ["SERVFAIL", "REFUSED", "NOTIMP", "FORMERR"] as const) {
      const bad = await peerThat((asked) => answer(asked, [], { rcode }));
      const good = await peerThat(zone([a("h.dev", "9.9.9.9")]));
      expect(await ips(resolverOn(bad, good), "h.dev")).toBe("9.9.9.9");
      const failed = await resolverOn(bad).lookup("h.dev", false, 4);
      expect(failed.fault?.message).toContain(rcode);
      expect(wordsOf(failed)).toBe("unresolved");
    }
  });

  it("a lost datagram is sent again", async () => {
    let turns = 0;
    const peer = await peerThat((asked) =>
      ++turns === 1 ? null : asked.name === "." ? null : answer(asked, [a("h.dev", "9.9.9.9")]),
    );
    expect(await ips(resolverOn(peer), "h.dev")).toBe("9.9.9.9");
  });

  it("that answer nothing at all are our own trouble", async () => {
    const resolver = resolverOn(await peerThat(silent));
    const found = await resolver.lookup("h.dev", false, 4);
    expect(wordsOf(found)).toBe("unfit");
    expect(found.fault?.message).toMatch(/^This checker's DNS servers \(127\.0\.0\.1:\d+\) do not answer$/);
  });

  it("that are not there are our own trouble", async () => {
    const gone = await openDnsPeer(silent);
    await gone.close();
    expect(await ips(resolverOn(gone), "h.dev")).toBe("unfit");
  });

  it("that know the root but are silent about a name say something about the name", async () => {
    const peer = await peerThat((asked) => (asked.name === "." ? answer(asked, []) : null));
    expect(await ips(resolverOn(peer), "dead.dev")).toBe("unresolved");
    expect(asksOf(peer)).toContain("udp NS .");
  });

  it.each([
    ["9.9.9.9", "9.9.9.9", 53],
    ["9.9.9.9:5353", "9.9.9.9", 5353],
    ["[2a00::53]", "2a00::53", 53],
    ["[2a00::53]:5353", "2a00::53", 5353],
    ["2a00::53", "2a00::53", 53],
    ["fe80::1%eth0", "fe80::1%eth0", 53],
    [" 9.9.9.9 ", "9.9.9.9", 53],
  ])("%s is a server", (entry, ip, port) => {
    expect(parseNameServer(entry)).toMatchObject({ address: { ip }, port });
  });

  it.each(["", "dns.sonde.dev", "9.9.9.9:0", "9.9.9.9:70000", "9.9.9.9:dns", "[9.9.9.9", "1", "127.1", "2a00::zz"])(
    "%j is none, and is named",
    (entry) => {
      expect(() => createResolver({ servers: [entry] })).toThrow(ResolverEntryError);
      expect(() => parseNameServer(entry)).toThrow(`"${entry}"`);
    },
  );
});

describe("what is kept", () => {
  it("many checks of one host are one question", async () => {
    const peer = await peerThat(zone([a("h.dev", "9.9.9.9")]));
    const resolver = resolverOn(peer);
    const all = await Promise.all(Array.from({ length: 5_000 }, () => ips(resolver, "h.dev")));
    expect(new Set(all)).toEqual(new Set(["9.9.9.9"]));
    expect(await ips(resolver, "h.dev")).toBe("9.9.9.9");
    expect(peer.asked).toHaveLength(1);
  });

  it("is kept for its TTL and never beyond five seconds, and nothing for a second", async () => {
    let nowMs = 0;
    const peer = await peerThat(
      zone([a("short.dev", "9.9.9.9", 2), a("long.dev", "9.9.9.9", 3_600), a("never.dev", "9.9.9.9", 0)]),
    );
    const resolver = createResolver({
      servers: [entryOf(peer)],
      system: NO_FILES,
      now: () => nowMs,
      patienceMs: QUICK_MS,
    });
    const asksAt = async (name: string, atMs: number) => {
      nowMs = atMs;
      const before = peer.asked.length;
      await resolver.lookup(name, false, 4);
      return peer.asked.length - before;
    };
    expect([await asksAt("short.dev", 0), await asksAt("short.dev", 1_999), await asksAt("short.dev", 2_000)]).toEqual([
      1, 0, 1,
    ]);
    expect([
      await asksAt("long.dev", 10_000),
      await asksAt("long.dev", 14_999),
      await asksAt("long.dev", 15_000),
    ]).toEqual([1, 0, 1]);
    expect([await asksAt("never.dev", 20_000), await asksAt("never.dev", 20_000)]).toEqual([1, 1]);
  });

  it("that there is nothing is kept a second at most, and only when the server says how long", async () => {
    let nowMs = 0;
    const authorities: DnsAnswer[] = [
      { type: "SOA", name: "dev", ttl: 600, data: { mname: "a.b", rname: "c.d", minimum: 600 } },
    ];
    const peer = await peerThat((asked) =>
      answer(asked, [], { rcode: "NXDOMAIN", ...(asked.name === "soa.dev" ? { authorities } : {}) }),
    );
    const resolver = createResolver({ servers: [entryOf(peer)], system: NO_FILES, now: () => nowMs });
    for (const [name, atMs, asks] of [
      ["soa.dev", 0, 1],
      ["soa.dev", 999, 1],
      ["soa.dev", 1_000, 2],
      ["bare.dev", 2_000, 3],
      ["bare.dev", 2_000, 4],
    ] as const) {
      nowMs = atMs;
      expect(await ips(resolver, name)).toBe("unresolved");
      expect(peer.asked).toHaveLength(asks);
    }
  });

  it("a failure is asked again", async () => {
    const peer = await peerThat((asked) => answer(asked, [], { rcode: "SERVFAIL" }));
    const resolver = resolverOn(peer);
    expect(await ips(resolver, "h.dev")).toBe("unresolved");
    peer.react = zone([a("h.dev", "9.9.9.9")]);
    expect(await ips(resolver, "h.dev")).toBe("9.9.9.9");
  });

  it("a thousand names at once all get their answer", async () => {
    const peer = await peerThat((asked) => answer(asked, [a(asked.name, "9.9.9.9")]));
    const resolver = createResolver({ servers: [entryOf(peer)], system: NO_FILES });
    const all = await Promise.all(Array.from({ length: 1_000 }, (_, index) => ips(resolver, `n${index}.dev`)));
    expect(new Set(all)).toEqual(new Set(["9.9.9.9"]));
  });

  it("dead names do not hold living ones up", async () => {
    const peer = await peerThat((asked) =>
      asked.name.startsWith("dead") ? null : answer(asked, [a(asked.name, "9.9.9.9")]),
    );
    // Twice as many at once as have a place: the second half, and the living name, wait until the first has given up its places.
    const resolver = createResolver({ servers: [entryOf(peer)], system: NO_FILES });
    const dead = Promise.all(Array.from({ length: 256 }, (_, index) => ips(resolver, `dead${index}.dev`)));
    expect(await ips(resolver, "alive.dev")).toBe("9.9.9.9");
    expect(new Set(await dead)).toEqual(new Set(["unresolved"]));
  });
});

describe("this machine's files", () => {
  it("hosts answers alone for the names it has, localhost always, and changes are seen", async () => {
    let nowMs = 0;
    const hostsPath = join(folder, "hosts");
    writeFileSync(
      hostsPath,
      "# comment\n9.9.9.9 Box.dev box # tail\n2a00::1 box.dev\nfe80::1%eth0 zoned\nnonsense here\n127.0.1.1 other\n",
    );
    const peer = await peerThat(zone([a("box.dev", "6.6.6.6"), aaaa("box", "2a00::6")]));
    const system = new SystemNames(hostsPath, "/nonexistent/resolv.conf");
    const resolver = createResolver({ servers: [entryOf(peer)], system, now: () => nowMs, patienceMs: QUICK_MS });
    expect(await ips(resolver, "box.dev")).toBe("9.9.9.9");
    expect(await ips(resolver, "box.dev", 6)).toBe("2a00::1");
    expect(await ips(resolver, "box", 6)).toBe("unresolved");
    expect([await ips(resolver, "localhost"), await ips(resolver, "a.localhost", 6)]).toEqual(["127.0.0.1", "::1"]);
    expect(peer.asked).toHaveLength(0);
    writeFileSync(hostsPath, "9.9.9.10 box.dev\n");
    nowMs = 5_000;
    expect(await ips(resolver, "box.dev")).toBe("9.9.9.10");
    rmSync(hostsPath);
    nowMs = 10_000;
    expect(await ips(resolver, "box.dev")).toBe("6.6.6.6");
  });

  it("resolv.conf names the servers and the search list, and changes are seen", async () => {
    let nowMs = 0;
    // resolv.conf has no ports, so only the search list and the change of servers can be seen here.
    const resolvConfPath = join(folder, "resolv.conf");
    writeFileSync(resolvConfPath, "nameserver 127.0.0.53\nsearch a.dev\n");
    const system = new SystemNames("/nonexistent/hosts", resolvConfPath);
    expect(system.resolvConf(nowMs)).toEqual({ nameservers: ["127.0.0.53"], search: ["a.dev"], ndots: 1 });
    writeFileSync(resolvConfPath, "nameserver 127.0.0.54\n");
    expect(system.resolvConf(4_999).nameservers).toEqual(["127.0.0.53"]);
    nowMs = 5_000;
    expect(system.resolvConf(nowMs).nameservers).toEqual(["127.0.0.54"]);
  });

  it("the search list is tried in order, for short names only, and not with servers of our own", async () => {
    const conf = parseResolvConf(
      "search a.dev b.dev\noptions timeout:1 ndots:2\nnameserver 1.1.1.1 # x\nnameserver bad\nnameserver fe80::1%eth0\n",
    );
    expect(conf).toEqual({ nameservers: ["1.1.1.1", "fe80::1%eth0"], search: ["a.dev", "b.dev"], ndots: 2 });
    expect(searchedNames("h", false, conf)).toEqual(["h.a.dev", "h.b.dev", "h"]);
    expect(searchedNames("h.svc", false, conf)).toEqual(["h.svc.a.dev", "h.svc.b.dev", "h.svc"]);
    expect(searchedNames("h.svc.x", false, conf)).toEqual(["h.svc.x"]);
    expect(searchedNames("h", true, conf)).toEqual(["h"]);
    const peer = await peerThat(zone([]));
    writeFileSync(join(folder, "resolv.conf"), "search a.dev\n");
    const resolver = createResolver({
      servers: [entryOf(peer)],
      system: new SystemNames("/nonexistent", join(folder, "resolv.conf")),
    });
    expect(await ips(resolver, "h")).toBe("unresolved");
    expect(asksOf(peer)).toEqual(["udp A h"]);
  });
});
