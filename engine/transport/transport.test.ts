import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import { bind, listen } from "../../demo/loopback.ts";
import type { EngineOptions } from "../contract/options.ts";
import { classify } from "../net/classify.ts";
import { NetworkFault } from "../net/fault.ts";
import { type Asked, a, aaaa, openDnsPeer, zone } from "../protocols/dns/peer.suite.ts";
import { closedPort, loopbackTransport, makeCheck, openBlackHole, openTcpPeer, type Peer } from "./peers.suite.ts";
import type { Address, Transport } from "./transport.ts";

const LOOPBACK = ["127.0.0.0/8", "::1"];
const V4: Address = { ip: "127.0.0.1", family: 4 };
const V6: Address = { ip: "::1", family: 6 };

let peers: { close(): unknown }[] = [];

afterEach(async () => {
  for (const peer of peers) await peer.close();
  peers = [];
});

async function kept<Opened extends { close(): unknown }>(opening: Promise<Opened>): Promise<Opened> {
  const opened = await opening;
  peers.push(opened);
  return opened;
}

function transportWith(changes: Partial<EngineOptions> = {}): Transport {
  return loopbackTransport({ allowNets: LOOPBACK, resolvers: [], ...changes });
}

async function verdictOf(
  doing: Promise<unknown>,
  stage: "resolve" | "connect" | "handshake" | "request" = "connect",
): Promise<string> {
  try {
    await doing;
    return "ok";
  } catch (error) {
    const { verdict, message } = classify(error, stage);
    return `${verdict}: ${message}`;
  }
}

describe("resolve", () => {
  async function resolving(records: Parameters<typeof zone>[0], changes: Partial<EngineOptions> = {}) {
    const dns = await kept(openDnsPeer(zone(records)));
    const transport = transportWith({ resolvers: [`127.0.0.1:${dns.port}`], allowNets: [], ...changes });
    return {
      dns,
      resolve: (host: string, port = 443, preference: "ipv4" | "ipv6" | "both" = "both") =>
        resolveWith(transport, host, port, preference),
    };
  }

  async function resolveWith(
    transport: Transport,
    host: string,
    port: number,
    preference: "ipv4" | "ipv6" | "both",
  ): Promise<string> {
    try {
      const found = await transport.resolve(host, port, preference, makeCheck(transport).context);
      return found.map(({ ip }) => ip).join(" ");
    } catch (error) {
      const { verdict, message } = classify(error, "resolve");
      return `${verdict}: ${message}`;
    }
  }

  it("passes addresses through, in any spelling, without a DNS question", async () => {
    const { dns, resolve } = await resolving([]);
    expect(await resolve("9.9.9.9")).toBe("9.9.9.9");
    expect(await resolve("0x09.0x09.2313")).toBe("9.9.9.9");
    expect(await resolve("[2A00:1450:0::5]")).toBe("2a00:1450::5");
    expect(await resolve("::ffff:9.9.9.9")).toBe("9.9.9.9");
    expect(await resolve("9.9.9.9", 443, "ipv6")).toBe("misconfigured: 9.9.9.9 is not an IPv6 address");
    expect(dns.asked).toHaveLength(0);
  });

  it.each([
    ["127.0.0.1", "misconfigured: Refused: 127.0.0.1 is a loopback address"],
    ["2130706433", "misconfigured: 2130706433 is refused: 127.0.0.1 is a loopback address"],
    ["localhost", "misconfigured: localhost is refused: 127.0.0.1 is a loopback address"],
    ["192.0.2.7", "misconfigured: Refused: 192.0.2.7 is an address reserved for documentation"],
    ["fe80::1%lo", "misconfigured: fe80::1%lo names an interface of this machine"],
    ["www.example.com", "misconfigured: www.example.com is reserved for documentation"],
    ["a b", "misconfigured: a b is neither a name nor an address"],
    ["", "misconfigured: is neither a name nor an address"],
    ["private.dev", "misconfigured: private.dev is refused: 10.0.0.1 is a private address"],
    ["mapped.dev", "misconfigured: mapped.dev is refused: ::ffff:127.0.0.1 is a loopback address"],
    ["none.dev", "unresolved: The name none.dev does not exist"],
    ["bare.dev", "unresolved: The name bare.dev has no address"],
  ])("%s", async (host, expected) => {
    const records = [
      a("private.dev", "10.0.0.1"),
      a("private.dev", "127.0.0.1"),
      aaaa("mapped.dev", "::ffff:127.0.0.1"),
      { type: "TXT" as const, name: "bare.dev", data: "x" },
    ];
    const { resolve } = await resolving(records);
    expect(await resolve(host)).toBe(expected);
  });

  it("keeps the allowed among several addresses, families in turn", async () => {
    const records = [
      a("mix.dev", "10.0.0.1"),
      a("mix.dev", "9.9.9.9"),
      a("mix.dev", "9.9.9.10"),
      aaaa("mix.dev", "2a00::1"),
      aaaa("mix.dev", "fc00::1"),
    ];
    const { resolve } = await resolving(records);
    expect((await resolve("mix.dev")).split(" ").sort()).toEqual(["2a00::1", "9.9.9.10", "9.9.9.9"]);
    expect((await resolve("mix.dev")).split(" ").indexOf("2a00::1")).toBeLessThan(2);
    expect(await resolve("mix.dev", 443, "ipv4")).toBe("9.9.9.9 9.9.9.10");
    expect(await resolve("MIX.dev.", 443, "ipv6")).toBe("2a00::1");
  });

  it("judges the port with the address, every time", async () => {
    const { resolve } = await resolving([a("lan.dev", "192.168.0.5")], {
      allowNets: ["192.168.0.0/16:8080"],
      ownEndpoints: ["192.168.0.5:8080", "127.0.0.1:9"],
    });
    expect(await resolve("lan.dev", 8081)).toContain("private address");
    expect(await resolve("lan.dev", 8080)).toContain("Sonde's own");
    expect(await resolve("192.168.0.6", 8080)).toBe("192.168.0.6");
  });

  it("a name that turns private between two checks is refused", async () => {
    const { dns, resolve } = await resolving([]);
    const turns = ["9.9.9.9", "10.0.0.1"];
    dns.react = (asked: Asked) =>
      zone(asked.type === "A" ? [a("turn.dev", turns.shift() ?? "127.0.0.1", 0)] : [aaaa("turn.dev", "fc00::1", 0)])(
        asked,
      );
    expect(await resolve("turn.dev")).toBe("9.9.9.9");
    expect(await resolve("turn.dev")).toMatch(
      /^misconfigured: turn\.dev is refused: (10\.0\.0\.1|fc00::1) is a private address$/,
    );
  });

  it("waits for IPv4 although IPv6 has addresses, until a lost question is sent again", async () => {
    const { dns, resolve } = await resolving([]);
    const lost: string[] = [];
    dns.react = (asked: Asked) => {
      if (asked.type === "A" && lost.push(asked.name) === 1) return null;
      return zone([a("late.dev", "9.9.9.9"), aaaa("late.dev", "2a00::9")])(asked);
    };
    expect((await resolve("late.dev")).split(" ").sort()).toEqual(["2a00::9", "9.9.9.9"]);
  });

  it("does not wait for a family that stays silent once the other has addresses", async () => {
    const { dns, resolve } = await resolving([]);
    dns.react = (asked: Asked) => (asked.type === "A" ? zone([a("half.dev", "9.9.9.9")])(asked) : null);
    expect(await resolve("half.dev")).toBe("9.9.9.9");
  });

  it("ends with the check, not with the lookup that others share", async () => {
    const { dns } = await resolving([]);
    dns.react = () => null;
    const transport = transportWith({ resolvers: [`127.0.0.1:${dns.port}`] });
    const check = makeCheck(transport);
    const doing = verdictOf(transport.resolve("slow.dev", 80, "both", check.context), "resolve");
    check.expire();
    expect(await doing).toBe("unresolved: The DNS servers did not answer in time");
    const cancelled = makeCheck(transport);
    cancelled.expire(new NetworkFault("cancelled", "stopping"));
    expect(await verdictOf(transport.resolve("slow.dev", 80, "ipv4", cancelled.context))).toBe("cancelled: stopping");
  });

  it("settings that cannot be used are named at the start", () => {
    expect(() => transportWith({ allowNets: ["10.0.0.0/99"] })).toThrow('"10.0.0.0/99"');
    expect(() => transportWith({ resolvers: ["dns"] })).toThrow('"dns"');
    expect(() => transportWith({ ownEndpoints: ["nowhere"] })).toThrow('"nowhere"');
    expect(() => transportWith({ extraCaPem: "no certificate" })).toThrow("SONDE_EXTRA_CA");
  });
});

describe("connectTcp and connectTime", () => {
  const transport = transportWith();
  const both = [
    [
      "connectTcp",
      (addresses: readonly Address[], port: number, check = makeCheck(transport)) =>
        transport.connectTcp(addresses, port, check.context).then((socket) => void socket.destroy()),
    ],
    [
      "connectTime",
      (addresses: readonly Address[], port: number, check = makeCheck(transport)) =>
        transport.connectTime(addresses, port, check.context).then(() => {}),
    ],
  ] as const;

  it.each(both)("%s reaches a listener, over IPv4 and IPv6", async (_, dial) => {
    for (const address of [V4, V6]) {
      const peer = await kept(openTcpPeer(undefined, address.ip));
      const check = makeCheck(transport);
      await dial([address], peer.port, check);
      expect(check.tried).toEqual([address === V4 ? `127.0.0.1:${peer.port}` : `[::1]:${peer.port}`]);
      expect(check.answers).toBe(0);
    }
  });

  it.each(both)("%s says refused, and nothing about no addresses", async (_, dial) => {
    expect(await verdictOf(dial([V4], await closedPort()))).toBe("refused: Connection refused");
    expect(await verdictOf(dial([], 80))).toContain("unresolved");
  });

  it.each(both)("%s ends with the check when no answer comes", async (_, dial) => {
    const hole = await kept(openBlackHole());
    const check = makeCheck(transport);
    const doing = verdictOf(dial([V4], hole.port, check));
    setImmediate(() => check.expire());
    expect(await doing).toBe("timeout: The connection attempt timed out");
    expect(await verdictOf(dial([V4], hole.port, check))).toContain("timeout");
    expect(await verdictOf(dial([V4, V6], hole.port, check))).toContain("timeout");
  });

  it.each(both)("%s goes on to the next address when one refuses", async (_, dial) => {
    const peer = await kept(openTcpPeer(undefined, "::1"));
    const check = makeCheck(transport);
    await dial([V4, V6], peer.port, check);
    expect(check.tried.at(-1)).toBe(`[::1]:${peer.port}`);
  });

  it.each(both)("%s goes on to the next address when one is silent", async (_, dial) => {
    const hole = await kept(openBlackHole("127.0.0.1"));
    await kept(openTcpPeer(undefined, "::1", hole.port));
    const check = makeCheck(transport);
    await dial([V4, V6], hole.port, check);
    expect(check.tried).toEqual([`127.0.0.1:${hole.port}`, `[::1]:${hole.port}`, `[::1]:${hole.port}`]);
  });

  it.each(both)("%s tells of every address when all fail", async (_, dial) => {
    const port = await closedPort();
    expect(await verdictOf(dial([V4, { ip: "127.0.0.2", family: 4 }], port))).toBe("refused: Connection refused");
  });

  it("connectTime measures the address that won, and leaves nothing open", async () => {
    const closed: Promise<unknown>[] = [];
    const peer = await kept(
      openTcpPeer((socket) => closed.push(new Promise((resolve) => socket.once("close", resolve)))),
    );
    const { address, connectMs } = await transport.connectTime([V4], peer.port, makeCheck(transport).context);
    expect(address).toEqual(V4);
    expect(connectMs).toBeGreaterThan(0);
    await Promise.all(closed);
  });

  it("a connected socket ends with the check", async () => {
    const peer = await kept(openTcpPeer());
    for (const addresses of [[V4], [V4, V6]]) {
      const check = makeCheck(transport);
      const socket = await transport.connectTcp(addresses, peer.port, check.context);
      check.expire();
      expect(socket.destroyed).toBe(true);
      expect(classify(socket.errored, "request").verdict).toBe("timeout");
    }
  });

  it("ends with a check that never made a signal", async () => {
    const peer = await kept(openTcpPeer());
    const { context } = makeCheck(transport);
    const listeners: ((fault: Error) => void)[] = [];
    const signalless = {
      ...context,
      onAbort: (listener: (fault: Error) => void) => listeners.push(listener),
      get signal(): AbortSignal {
        throw new Error("asked for");
      },
    };
    const socket = await transport.connectTcp([V4], peer.port, signalless);
    for (const listener of listeners) listener(new NetworkFault("cancelled", "stopping"));
    expect(socket.destroyed).toBe(true);
    expect(classify(socket.errored, "request").verdict).toBe("cancelled");
  });

  it("a reset without an error listener is not uncaught, and not lost", async () => {
    const peer = await kept(openTcpPeer((socket) => socket.once("data", () => socket.resetAndDestroy())));
    const socket = await transport.connectTcp([V4], peer.port, makeCheck(transport).context);
    socket.write("question");
    await new Promise((resolve) => socket.once("close", resolve));
    expect(classify(socket.errored, "request").verdict).toBe("closed");
  });

  it("a port that is none is our mistake", async () => {
    expect(await verdictOf(transport.connectTcp([V4], 70_000, makeCheck(transport).context))).toContain(
      "internal-error",
    );
  });
});

describe("connectTls", () => {
  const authority = makeAuthority();
  const leaf = makeCertificate({ commonName: "h.dev", names: ["h.dev"], issuer: authority });

  async function openTls(
    onSecure: (socket: TLSSocket) => void = () => {},
    options: Parameters<typeof createTlsServer>[0] = {},
  ): Promise<Peer> {
    const server = createTlsServer({ key: leaf.keyPem, cert: leaf.certPem, ...options }, onSecure);
    const sockets = new Set<Socket>();
    server.on("connection", (socket) => sockets.add(socket));
    server.on("tlsClientError", () => {});
    const port = await listen(server);
    return {
      port,
      close() {
        for (const socket of sockets) socket.destroy();
        return new Promise((resolve) => server.close(() => resolve()));
      },
    };
  }

  async function secured(
    transport: Transport,
    port: number,
    options: Record<string, unknown> = {},
    check = makeCheck(transport),
  ): Promise<TLSSocket> {
    return transport.connectTls([V4], port, { servername: "h.dev", ...options }, check.context);
  }

  it("trusts SONDE_EXTRA_CA beside the built-in roots, and without it does not", async () => {
    const peer = await kept(openTls((socket) => socket.end("hello")));
    const trusting = transportWith({ extraCaPem: authority.certPem });
    const check = makeCheck(trusting);
    const socket = await secured(trusting, peer.port, {}, check);
    expect([socket.authorized, check.answers]).toEqual([true, 1]);
    expect(String(await once(socket, "data"))).toBe("hello");
    expect((await secured(trusting, peer.port, { minVersion: "TLSv1.3" })).authorized).toBe(true);
    expect(await verdictOf(secured(transportWith(), peer.port), "handshake")).toMatch(/^cert-invalid: /);
    expect(await verdictOf(secured(trusting, peer.port, { servername: "other.dev" }), "handshake")).toBe(
      "cert-invalid: The certificate is for another name",
    );
  });

  it("leaves the judgement to callers who ask for it, and never resumes a session", async () => {
    const peer = await kept(openTls());
    const transport = transportWith();
    for (let turn = 0; turn < 3; turn++) {
      const socket = await secured(transport, peer.port, { rejectUnauthorized: false });
      expect([socket.authorized, socket.isSessionReused()]).toEqual([false, false]);
      expect(socket.getPeerX509Certificate()?.subject).toContain("h.dev");
      socket.destroy();
    }
  });

  it("checks the certificate of an address", async () => {
    const trusting = transportWith({ extraCaPem: authority.certPem });
    const peer = await kept(openTls());
    const options = { servername: undefined, host: "127.0.0.1" };
    expect(await verdictOf(secured(trusting, peer.port, options), "handshake")).toBe(
      "cert-invalid: The certificate is for another name",
    );
  });

  it("says what a server that is not TLS did", async () => {
    const transport = transportWith();
    const plain = await kept(openTcpPeer((socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n")));
    const closing = await kept(openTcpPeer((socket) => socket.end()));
    const resetting = await kept(openTcpPeer((socket) => socket.once("data", () => socket.resetAndDestroy())));
    const old = await kept(openTls(undefined, { maxVersion: "TLSv1.2" }));
    expect(await verdictOf(secured(transport, plain.port), "handshake")).toBe(
      "handshake-failed: The server does not speak TLS on this port",
    );
    expect(await verdictOf(secured(transport, closing.port), "handshake")).toBe(
      "closed: The server closed the connection during the TLS handshake",
    );
    expect(await verdictOf(secured(transport, resetting.port), "handshake")).toMatch(/^closed: /);
    expect(await verdictOf(secured(transport, old.port, { minVersion: "TLSv1.3" }), "handshake")).toMatch(
      /^handshake-failed: /,
    );
  });

  it("ends with the check, in the handshake and after it", async () => {
    const transport = transportWith();
    const check = makeCheck(transport);
    const silent = await kept(openTcpPeer((socket) => socket.once("data", () => check.expire())));
    expect(await verdictOf(secured(transport, silent.port, {}, check), "handshake")).toBe(
      "timeout: The handshake timed out",
    );
    expect(await verdictOf(secured(transport, silent.port, {}, check), "handshake")).toContain("timeout");

    const peer = await kept(openTls());
    const later = makeCheck(transport);
    const secure = await secured(transport, peer.port, { rejectUnauthorized: false }, later);
    later.expire();
    expect(secure.destroyed).toBe(true);
  });
});

describe("exchangeUdp", () => {
  const transport = transportWith();

  async function openUdp(
    react: (bytes: Buffer, send: (reply: string) => void, turn: number) => void,
    host = "127.0.0.1",
  ): Promise<Peer> {
    const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
    let turns = 0;
    socket.on("message", (bytes, { port, address }) =>
      react(bytes, (reply) => socket.send(reply, port, address), ++turns),
    );
    const port = await bind(socket, host);
    return {
      port,
      close: () => new Promise((resolve) => socket.close(() => resolve())),
    };
  }

  const exchange = (port: number, options = {}, check = makeCheck(transport), address = V4) =>
    transport.exchangeUdp(
      address,
      port,
      Buffer.from("question"),
      (bytes) => (bytes.toString() === "answer" ? "accepted" : undefined),
      check.context,
      options,
    );

  it.each([V4, V6])("takes the first datagram that is accepted, $ip", async (address) => {
    const peer = await kept(openUdp((_, send) => ["noise", "", "answer"].forEach(send), address.ip));
    const check = makeCheck(transport);
    expect(await exchange(peer.port, {}, check, address)).toBe("accepted");
    expect(check.tried).toHaveLength(1);
  });

  it("sends again when told to, as long as it is wanted", async () => {
    const peer = await kept(openUdp((_, send, turn) => turn === 3 && send("answer")));
    expect(await exchange(peer.port, { resendAfterMs: [10, 20, 30] })).toBe("accepted");
    const silent = await kept(openUdp(() => {}));
    let resends = 0;
    const isWanted = () => ++resends < 3;
    expect(await verdictOf(exchange(silent.port, { resendAfterMs: [10, 20, 30, 40], isWanted }))).toContain("timeout");
    expect(resends).toBe(3);
  });

  it("says refused, and ends with the check or after a flood", async () => {
    const gone = await openUdp(() => {});
    await gone.close();
    expect(await verdictOf(exchange(gone.port))).toBe("refused: Connection refused");
    const silent = await kept(openUdp(() => {}));
    const check = makeCheck(transport);
    const doing = verdictOf(exchange(silent.port, {}, check), "request");
    check.expire();
    expect(await doing).toBe("timeout: No answer in time");
    expect(await verdictOf(exchange(silent.port, {}, check), "request")).toContain("timeout");
    const flood = await kept(openUdp((_, send) => Array.from({ length: 300 }, () => send("noise"))));
    expect(await verdictOf(exchange(flood.port, { resendAfterMs: [50, 100, 150, 200] }))).toContain("protocol-error");
  });

  it("what accept throws is thrown", async () => {
    const peer = await kept(openUdp((_, send) => send("x")));
    const check = makeCheck(transport);
    const throwing = () => {
      throw new RangeError("mine");
    };
    expect(await verdictOf(transport.exchangeUdp(V4, peer.port, Buffer.from("q"), throwing, check.context))).toBe(
      "internal-error: RangeError: mine",
    );
  });
});

it("without a way to ping says so", async () => {
  const transport = transportWith();
  const options = { count: 1, spacingMs: 1, replyTimeoutMs: 1 };
  expect(await verdictOf(transport.ping(V4, options, makeCheck(transport).context))).toContain("unsupported");
});
