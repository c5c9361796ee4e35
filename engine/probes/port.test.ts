import { afterEach, describe, expect, it } from "vitest";
import type { Outcome } from "../contract/probe.ts";
import { classify } from "../net/classify.ts";
import { a, aaaa, type DnsPeer, openDnsPeer, zone } from "../protocols/dns/peer.suite.ts";
import { closedPort, loopbackTransport, makeCheck, openBlackHole, openTcpPeer } from "../transport/peers.suite.ts";
import { port } from "./port.ts";

const probe = await port.load();

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

async function openNames(records: Parameters<typeof zone>[0]): Promise<DnsPeer> {
  return kept(openDnsPeer(zone(records)));
}

function checkWith(dns?: DnsPeer) {
  const resolvers = dns === undefined ? ["127.0.0.1:1"] : [`127.0.0.1:${dns.port}`];
  return makeCheck(loopbackTransport({ allowNets: ["127.0.0.0/8", "::1"], ownEndpoints: ["127.0.0.1:1"], resolvers }));
}

async function run(settings: Record<string, unknown>, check = checkWith()): Promise<Outcome> {
  try {
    return await probe.run(port.settings.parse(settings), check.context);
  } catch (error) {
    return classify(error, "connect");
  }
}

describe("a TCP port", () => {
  it.each(["127.0.0.1", "::1", "127.1"])(
    "that accepts is healthy, with the connect time as latency: %s",
    async (host) => {
      const peer = await kept(openTcpPeer(undefined, host === "127.1" ? "127.0.0.1" : host));
      const check = checkWith();
      const outcome = await run({ host, port: peer.port }, check);
      expect(outcome).toEqual({ verdict: "ok", latencyMs: expect.any(Number) });
      expect(outcome.latencyMs).toBeGreaterThan(0);
      expect(check.phases).toEqual(["resolve", "connect"]);
    },
  );

  it("is reached by name, over the asked family or any that works", async () => {
    const peer = await kept(openTcpPeer(undefined, "127.0.0.1"));
    const dns = await openNames([a("h.dev", "127.0.0.1"), aaaa("h.dev", "::1"), a("four.dev", "127.0.0.1")]);
    expect(await run({ host: "h.dev", port: peer.port }, checkWith(dns))).toMatchObject({ verdict: "ok" });
    expect(await run({ host: "h.dev", port: peer.port, ip_version: "ipv4" }, checkWith(dns))).toMatchObject({
      verdict: "ok",
    });
    expect(await run({ host: "h.dev", port: peer.port, ip_version: "ipv6" }, checkWith(dns))).toMatchObject({
      verdict: "refused",
    });
    expect(await run({ host: "four.dev", port: peer.port, ip_version: "ipv6" }, checkWith(dns))).toMatchObject({
      verdict: "unresolved",
      message: "The name four.dev has no IPv6 address",
    });
  });

  it("that refuses is down", async () => {
    expect(await run({ host: "127.0.0.1", port: await closedPort() })).toMatchObject({ verdict: "refused" });
  });

  it("that hangs is down at the deadline", async () => {
    const hole = await kept(openBlackHole());
    const check = checkWith();
    const doing = run({ host: "127.0.0.1", port: hole.port }, check);
    setImmediate(() => check.expire());
    expect(await doing).toMatchObject({ verdict: "timeout", message: "The connection attempt timed out" });
    expect(check.tried).toEqual([`127.0.0.1:${hole.port}`]);
  });

  it("that may not be reached is not dialled", async () => {
    const dns = await openNames([a("lan.dev", "192.168.1.1"), a("own.dev", "127.0.0.1")]);
    for (const [host, reason] of [
      ["lan.dev", "private"],
      ["own.dev", "Sonde's own"],
      ["169.254.169.254", "link-local"],
      ["example.org", "documentation"],
    ]) {
      const check = checkWith(dns);
      const outcome = await run({ host, port: 1 }, check);
      expect(outcome.verdict).toBe("misconfigured");
      expect(outcome.message).toContain(reason);
      expect(check.tried).toEqual([]);
    }
  });
});

describe("settings", () => {
  const parse = (settings: Record<string, unknown>) => {
    const parsed = port.settings.safeParse(settings);
    return parsed.success ? parsed.data : parsed.error.issues[0]?.message;
  };

  it("drop what they do not know and parse twice the same", () => {
    const parsed = parse({ host: " db.sonde.dev ", port: 5432, keyword: "x" });
    expect(parsed).toEqual({ host: "db.sonde.dev", port: 5432, ip_version: null });
    expect(parse({ ...Object(parsed) })).toEqual(parsed);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ port: 1 }, "Missing or invalid host"],
    [
      { host: ["a.dev"], port: 1 },
      "Missing or invalid host: host must be a name or an address, without a scheme, a port or a path.",
    ],
    [
      { host: "a.dev:80", port: 1 },
      "Missing or invalid host: host must be a name or an address, without a scheme, a port or a path.",
    ],
    [{ host: "a.dev" }, "Missing or invalid port"],
    [{ host: "a.dev", port: null }, "Missing or invalid port: port must be a whole number from 1 to 65535."],
    [{ host: "a.dev", port: -1 }, "Missing or invalid port: port must be a whole number from 1 to 65535."],
    [{ host: "a.dev", port: 1, ip_version: "4" }, "ip_version must be ipv4, ipv6 or null."],
  ])("%j: %s", (settings, message) => {
    expect(parse(settings)).toBe(message);
  });

  it.each(["a.dev", "9.9.9.9", "[2a00::1]", "2a00::1", "2130706433", "münchen.de", "_srv.a.dev"])(
    "take %s for a host",
    (host) => {
      expect(parse({ host, port: 1 })).toMatchObject({ host });
    },
  );
});
