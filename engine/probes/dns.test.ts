import type { Answer } from "dns-packet";
import { afterEach, describe, expect, it } from "vitest";
import type { Outcome } from "../contract/probe.ts";
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
import { type CheckRig, closedPort, loopbackTransport, makeCheck } from "../transport/peers.suite.ts";
import type { Address } from "../transport/transport.ts";
import { dns } from "./dns.ts";

const probe = await dns.load();

const transport = loopbackTransport({ allowNets: ["127.0.0.0/8", "::1"] });

let peers: DnsPeer[] = [];

afterEach(async () => {
  for (const peer of peers) await peer.close();
  peers = [];
});

async function peerThat(react: (asked: Asked) => Reaction, host?: string): Promise<DnsPeer> {
  const peer = await openDnsPeer(react, host);
  peers.push(peer);
  return peer;
}

interface Changes {
  readonly domain?: string;
  readonly keyword?: string | null;
  readonly host?: string;
  readonly record_type?: string;
  readonly expected?: readonly string[];
  readonly check?: CheckRig;
}

/** What the runner would make of it. */
async function run(peer: { port: number; host?: string }, changes: Changes = {}): Promise<Outcome> {
  const check = changes.check ?? makeCheck(transport);
  const settings = dns.settings.parse({
    domain: changes.domain ?? "h.dev",
    host: changes.host ?? peer.host,
    port: peer.port,
    keyword: changes.keyword,
    record_type: changes.record_type,
    expected: changes.expected,
  });
  try {
    return await probe.run(settings, check.context);
  } catch (error) {
    return classify(error, "request");
  }
}

/** Ends the check once the peer was asked so often: what it has said by then has been heard, as both come over loopback in order. */
function expiring(peer: DnsPeer, questions: number, react: (asked: Asked) => Reaction): CheckRig {
  const check = makeCheck(transport);
  peer.react = (asked) => {
    if (peer.asked.length >= questions) setTimeout(() => check.expire(), 50);
    return react(asked);
  };
  return check;
}

const BOTH = [a("h.dev", "9.9.9.9"), aaaa("h.dev", "2a00::9")];

const DOMAIN_REFUSED =
  "Missing or invalid domain: domain must be a name, such as www.test-site.org; an address needs record_type PTR.";
const HOST_REFUSED = "Missing or invalid host: host must be a name or an address, without a scheme, a port or a path.";
const PORT_REFUSED = "Missing or invalid port: port must be a whole number from 1 to 65535.";

describe("healthy", () => {
  it.each(["127.0.0.1", "::1"])("asks A and AAAA at once, over UDP, of %s", async (host) => {
    const peer = await peerThat(zone(BOTH), host);
    const check = makeCheck(transport);
    const outcome = await run(peer, { check });
    expect(outcome.verdict).toBe("ok");
    expect(outcome.latencyMs).toBeGreaterThan(0);
    expect(peer.asked.map(({ over, type, name }) => `${over} ${type} ${name}`).sort()).toEqual([
      "udp A h.dev",
      "udp AAAA h.dev",
    ]);
    expect(new Set(peer.asked.map(({ from }) => from?.port)).size).toBe(2);
    expect(check.phases).toEqual(["resolve", "request"]);
    expect(check.answers).toBe(2);
  });

  it("asks for one type where it is named, and compares what is expected", async () => {
    const mx = (preference: number, exchange: string): Answer => ({
      type: "MX",
      name: "h.dev",
      data: { preference, exchange },
    });
    const peer = await peerThat(zone([...BOTH, mx(10, "mx.h.dev"), mx(20, "backup.h.dev")]));
    expect(await run(peer, { record_type: "MX", expected: ["20 backup.h.dev.", "10 MX.h.dev"] })).toMatchObject({
      verdict: "ok",
      latencyMs: expect.any(Number),
    });
    expect(peer.asked.map(({ type }) => type)).toEqual(["MX"]);
    expect(await run(peer, { record_type: "MX", expected: ["10 other.h.dev"] })).toEqual({
      verdict: "rejected",
      message: "h.dev does not have the expected record 10 other.h.dev",
      peer: "10 mx.h.dev, 20 backup.h.dev",
    });
    expect(await run(peer, { record_type: "MX", keyword: "BACKUP" })).toMatchObject({ verdict: "ok" });
    expect(await run(peer, { record_type: "SRV" })).toEqual({
      verdict: "rejected",
      message: "The DNS server has no SRV record for h.dev",
    });
    expect(await run(peer, { expected: ["9.9.9.9", "2A00:0::9"] })).toMatchObject({ verdict: "ok" });
  });

  it("asks for the alias itself", async () => {
    const peer = await peerThat(zone([cname("h.dev", "edge.h.dev"), a("edge.h.dev", "9.9.9.9")]));
    expect(await run(peer, { record_type: "CNAME", expected: ["edge.h.dev"] })).toMatchObject({ verdict: "ok" });
  });

  it("asks for the name of an address", async () => {
    const name = "7.2.0.192.in-addr.arpa";
    const peer = await peerThat(zone([{ type: "PTR", name, data: "mail.h.dev" }]));
    const outcome = await run(peer, { domain: "192.0.2.7", record_type: "PTR", expected: ["mail.h.dev"] });
    expect(outcome).toMatchObject({ verdict: "ok" });
    expect(peer.asked.map((asked) => asked.name)).toEqual([name]);
  });

  it("takes an empty answer to one question for an answer", async () => {
    const outcome = await run(await peerThat(zone([a("h.dev", "9.9.9.9")])));
    expect(outcome).toMatchObject({ verdict: "ok", latencyMs: expect.any(Number) });
  });

  it("latency is that of the slower answer", async () => {
    const peer = await peerThat(zone(BOTH));
    let clock = 0;
    const check = makeCheck(transport);
    // Both questions start at 0; the first answer is timed at 10, the second at 20.
    const now = () => {
      if (check.answers > 0) clock += 10;
      return clock;
    };
    const settings = dns.settings.parse({ domain: "h.dev", host: "127.0.0.1", port: peer.port });
    expect(await probe.run(settings, { ...check.context, now })).toEqual({ verdict: "ok", latencyMs: 20 });
  });

  it("asks over TCP for what does not fit", async () => {
    const many = Array.from({ length: 60 }, (_, index) => a("h.dev", `9.9.9.${index}`));
    const peer = await peerThat((asked) => (asked.over === "udp" ? truncated(asked) : zone(many)(asked)));
    expect(await run(peer, { keyword: "9.9.9.59" })).toMatchObject({ verdict: "ok", latencyMs: expect.any(Number) });
    expect(peer.asked.filter(({ over }) => over === "tcp")).toHaveLength(2);
  });

  it("sends a lost question again", async () => {
    const lost = new Set<string>();
    const peer = await peerThat((asked) => {
      if (lost.has(asked.type)) return zone(BOTH)(asked);
      lost.add(asked.type);
      return null;
    });
    expect(await run(peer)).toMatchObject({ verdict: "ok", latencyMs: expect.any(Number) });
    expect(peer.asked).toHaveLength(4);
  });

  it("asks a server at its IPv4 address when that of IPv6 is silent", async () => {
    const silent = await peerThat(() => null, "::1");
    const peer = await peerThat(zone(BOTH));
    const both: readonly Address[] = [
      { ip: "::1", family: 6 },
      { ip: "127.0.0.1", family: 4 },
    ];
    const check = makeCheck({
      ...transport,
      resolve: () => Promise.resolve(both),
      exchangeUdp: (address, port, ...more) =>
        transport.exchangeUdp(address, address.family === 6 ? silent.port : port, ...more),
    });
    const settings = dns.settings.parse({ domain: "h.dev", host: "ns.dev", port: peer.port });
    // Half of this is over at the first resend.
    const outcome = await probe.run(settings, { ...check.context, deadlineAtMs: Date.now() + 1_500 });
    expect(outcome).toMatchObject({ verdict: "ok", latencyMs: expect.any(Number) });
    expect(silent.asked).toHaveLength(2);
    expect(check.tried.at(-1)).toBe(`127.0.0.1:${peer.port}`);
  });

  it.each<[string, (asked: Asked) => Reaction]>([
    ["stays silent", () => null],
    ["fails", (asked) => answer(asked, [], { rcode: "SERVFAIL" })],
    ["is garbled", (asked) => answer(asked, [aaaa("h.dev", "2a00::9")]).subarray(0, 50)],
  ])("without latency when the other question %s", async (_, react) => {
    const peer = await peerThat((asked) => (asked.type === "A" ? zone(BOTH)(asked) : react(asked)));
    expect(await run(peer)).toEqual({ verdict: "ok", latencyMs: null });
  });

  it("also when its deadline ends the wait for the other question", async () => {
    const peer = await peerThat(() => null);
    const check = expiring(peer, 2, (asked) => (asked.type === "AAAA" ? zone(BOTH)(asked) : null));
    expect(await run(peer, { check })).toEqual({ verdict: "ok", latencyMs: null });
  });
});

describe("keyword", () => {
  const records: Answer[] = [
    cname("h.dev", "Edge.CDN.dev"),
    a("Edge.CDN.dev", "93.184.216.34"),
    aaaa("Edge.CDN.dev", "2606:2800::1"),
  ];

  it.each(["93.184.", "2606:2800::1", "edge.cdn.dev", "Edge.CDN", "34"])("%s is in a record", async (keyword) => {
    expect(await run(await peerThat(zone(records)), { keyword })).toMatchObject({ verdict: "ok" });
  });

  it.each(["93.185.", "h.dev ", "none"])("%s is in none", async (keyword) => {
    expect(await run(await peerThat(zone(records)), { keyword })).toEqual({
      verdict: "rejected",
      message: "The keyword is in none of the records for h.dev",
      peer: "93.184.216.34, 2606:2800::1",
    });
  });

  it("empty is none", async () => {
    expect(await run(await peerThat(zone(records)), { keyword: "" })).toMatchObject({ verdict: "ok" });
  });
});

describe("down", () => {
  it.each(["SERVFAIL", "REFUSED", "NOTIMP", "FORMERR"] as const)("%s is told", async (rcode) => {
    const outcome = await run(await peerThat((asked) => answer(asked, [], { rcode })));
    expect(outcome).toMatchObject({ verdict: "rejected", message: `The DNS server answered ${rcode} for h.dev (A)` });
  });

  it("that only names other servers, and asks none of them", async () => {
    const authorities: Answer[] = [{ type: "NS", name: "dev", data: "ns.dev", ttl: 60 }];
    expect(await run(await peerThat((asked) => answer(asked, [], { authorities })))).toMatchObject({
      verdict: "rejected",
      message: "The DNS server only names other servers for h.dev: it is not recursive and does not have the zone",
    });
  });

  it("no such name, and a name without addresses", async () => {
    const peer = await peerThat(
      zone([{ type: "TXT", name: "bare.dev", data: "x" }, cname("dangling.dev", "gone.dev")]),
    );
    expect((await run(peer)).message).toBe("The DNS server answered NXDOMAIN: h.dev does not exist");
    for (const [domain, more] of [
      ["bare.dev", ""],
      ["dangling.dev", ", only an alias that leads to gone.dev"],
    ] as const) {
      expect(await run(peer, { domain })).toMatchObject({
        verdict: "rejected",
        message: `The DNS server has no A or AAAA record for ${domain}${more}`,
      });
    }
  });

  it("records of other names and aliases in a circle are no record", async () => {
    expect(await run(await peerThat((asked) => answer(asked, [a("other.dev", "9.9.9.9")])))).toMatchObject({
      verdict: "rejected",
    });
    const circle = await peerThat((asked) =>
      answer(asked, [cname("h.dev", "b.dev"), cname("b.dev", "h.dev"), a("b.dev", "9.9.9.9")]),
    );
    expect(await run(circle)).toMatchObject({
      verdict: "rejected",
      message: expect.stringMatching(/, only aliases without end$/),
    });
  });

  it("a closed port", async () => {
    expect(await run({ port: await closedPort(), host: "127.0.0.1" })).toMatchObject({ verdict: "refused" });
  });

  it("silence until the deadline", async () => {
    const peer = await peerThat(() => null);
    const check = expiring(peer, 2, () => null);
    expect(await run(peer, { check })).toMatchObject({ verdict: "timeout", message: "No answer in time" });
    expect(check.answers).toBe(0);
  });

  it("an error code is told although the other question stayed silent", async () => {
    const peer = await peerThat(() => null);
    const check = expiring(peer, 2, (asked) => (asked.type === "A" ? answer(asked, [], { rcode: "REFUSED" }) : null));
    expect(await run(peer, { check })).toMatchObject({
      verdict: "rejected",
      message: expect.stringContaining("REFUSED"),
    });
  });

  it.each<[string, (asked: Asked) => Uint8Array]>([
    ["another id", (asked) => answer(asked, BOTH, { id: ((asked.query.id ?? 0) + 1) % 65_536 })],
    ["another question", (asked) => answer(asked, BOTH, { questions: [{ name: "x.dev", type: "A", class: "IN" }] })],
    ["a query", (asked) => answer(asked, BOTH, { type: "query" })],
  ])("an answer with %s is silence", async (_, react) => {
    const peer = await peerThat(() => null);
    const check = expiring(peer, 2, react);
    expect(await run(peer, { check })).toMatchObject({ verdict: "timeout" });
    expect(check.answers).toBe(0);
  });

  it("an answer that lies about its lengths is told when nothing better comes", async () => {
    const peer = await peerThat(() => null);
    const check = expiring(peer, 2, (asked) => {
      const bytes = Buffer.from(answer(asked, [a("h.dev", "9.9.9.9")]));
      bytes.writeUInt16BE(9_999, bytes.length - 6);
      return bytes;
    });
    expect(await run(peer, { check })).toMatchObject({
      verdict: "protocol-error",
      message: "The answer is not valid DNS: a record is longer than the message",
    });
  });

  it("cut short with no TCP behind it", async () => {
    const peer = await peerThat(truncated);
    await peer.closeTcp();
    expect(await run(peer)).toMatchObject({
      verdict: "refused",
      message: "The answer is too long for UDP, and over TCP: Connection refused",
    });
  });

  it("cut short over TCP as well, or silent there", async () => {
    expect(await run(await peerThat(truncated))).toMatchObject({
      verdict: "protocol-error",
      message: expect.stringMatching(/over TCP: .*it is cut short there too$/),
    });
    const peer = await peerThat(() => null);
    const check = expiring(peer, 4, (asked) => (asked.over === "udp" ? truncated(asked) : null));
    expect(await run(peer, { check })).toMatchObject({
      verdict: "timeout",
      message: "The answer is too long for UDP, and over TCP: No answer in time",
    });
  });

  it("a server that may not be asked", async () => {
    expect(await run({ port: 53 }, { host: "10.0.0.53" })).toMatchObject({
      verdict: "misconfigured",
      message: "Refused: 10.0.0.53 is a private address",
    });
    expect(await run({ port: 53 }, { host: "192.0.2.53" })).toMatchObject({ verdict: "misconfigured" });
    expect(await run({ port: 53 }, { host: "ns.example.com" })).toMatchObject({ verdict: "misconfigured" });
  });

  it("a server whose name our own servers do not answer for is not called down", async () => {
    expect(await run({ port: 53 }, { host: "ns.sonde.dev" })).toMatchObject({ verdict: "unfit" });
  });
});

describe("settings", () => {
  const parse = (settings: Record<string, unknown>) => {
    const parsed = dns.settings.safeParse(settings);
    return parsed.success ? parsed.data : parsed.error.issues[0]?.message;
  };

  it("have the contract's defaults, drop what they do not know, and parse twice the same", () => {
    const parsed = parse({ domain: " sonde.dev ", foreign: 1 });
    expect(parsed).toEqual({
      domain: "sonde.dev",
      host: "1.1.1.1",
      port: 53,
      keyword: null,
      record_type: null,
      expected: null,
    });
    expect(parse({ ...Object(parsed) })).toEqual(parsed);
    expect(parse({ domain: "münchen.de", keyword: "", host: "dns.sonde.dev", port: 5353 })).toEqual({
      domain: "münchen.de",
      keyword: null,
      record_type: null,
      expected: null,
      host: "dns.sonde.dev",
      port: 5353,
    });
  });

  it.each<[Record<string, unknown>, string]>([
    [{}, "Missing or invalid domain"],
    [{ domain: null }, DOMAIN_REFUSED],
    [{ domain: 7 }, DOMAIN_REFUSED],
    [{ domain: "" }, DOMAIN_REFUSED],
    [{ domain: "a..b" }, DOMAIN_REFUSED],
    [{ domain: "9.9.9.9" }, DOMAIN_REFUSED],
    [{ domain: `${"a".repeat(64)}.dev` }, DOMAIN_REFUSED],
    [{ domain: "h.dev", host: "" }, HOST_REFUSED],
    [{ domain: "h.dev", host: null }, HOST_REFUSED],
    [{ domain: "h.dev", host: "a b" }, HOST_REFUSED],
    [{ domain: "h.dev", host: "http://a.dev" }, HOST_REFUSED],
    [{ domain: "h.dev", port: 0 }, PORT_REFUSED],
    [{ domain: "h.dev", port: 65_536 }, PORT_REFUSED],
    [{ domain: "h.dev", port: "53" }, PORT_REFUSED],
    [{ domain: "h.dev", port: 53.5 }, PORT_REFUSED],
    [{ domain: "h.dev", keyword: 7 }, "Missing or invalid keyword"],
    [{ domain: "h.dev", keyword: "ü".repeat(256) }, "keyword must be at most 255 characters."],
  ])("%j: %s", (settings, message) => {
    expect(parse(settings)).toBe(message);
  });

  it("count a keyword in characters, not in code units", () => {
    expect(parse({ domain: "h.dev", keyword: "😀".repeat(255) })).toMatchObject({ keyword: "😀".repeat(255) });
  });
});

describe("settings", () => {
  it.each<[string, Record<string, unknown>, string]>([
    ["an address without PTR", { domain: "192.0.2.7" }, DOMAIN_REFUSED],
    ["an address with another type", { domain: "192.0.2.7", record_type: "MX" }, DOMAIN_REFUSED],
    [
      "a type that is none",
      { domain: "h.dev", record_type: "ANY" },
      "record_type must be one of A, AAAA, CNAME, MX, NS, TXT, SOA, SRV, PTR, CAA or null.",
    ],
    [
      "a text instead of a list",
      { domain: "h.dev", expected: "9.9.9.9" },
      "expected must be a list of at most 20 records of up to 2048 characters.",
    ],
    [
      "too many",
      { domain: "h.dev", expected: Array(21).fill("9.9.9.9") },
      "expected must be a list of at most 20 records of up to 2048 characters.",
    ],
  ])("refuse %s", (_, settings, message) => {
    expect(dns.settings.safeParse(settings).error?.issues[0]?.message).toBe(message);
  });

  it("are the same when they are read again, and no record is none", () => {
    const once = dns.settings.parse({ domain: "h.dev", record_type: "TXT", expected: [] });
    expect(once).toMatchObject({ record_type: "TXT", expected: null });
    expect(dns.settings.parse(once)).toEqual(once);
  });
});
