import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import dnsPacket from "dns-packet";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { bind, listen } from "../../demo/loopback.ts";
import { must, mustEqual } from "../../testkit/must.ts";
import { assertProperty } from "../../testkit/property.ts";
import type { EngineOptions } from "../contract/options.ts";
import { CanaryError, findCanaries, gatewaysOf, parseCanary, watchCanaries } from "./canary.ts";
import type { CanaryReport } from "./network-fitness.ts";

const ENGINE: EngineOptions = {
  allowNets: [],
  ownEndpoints: [],
  resolvers: [],
  extraCaPem: null,
  rdapBootstrapUrl: null,
  canaries: null,
};

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

describe("parseCanary", () => {
  test.each([
    ["icmp:192.0.2.1", { kind: "icmp", host: "192.0.2.1", port: 0 }],
    ["icmp:2001:db8::1", { kind: "icmp", host: "2001:db8::1", port: 0 }],
    ["icmp:[2001:db8::1]", { kind: "icmp", host: "2001:db8::1", port: 0 }],
    ["dns:192.0.2.53", { kind: "dns", host: "192.0.2.53", port: 53 }],
    ["dns:192.0.2.53:5353", { kind: "dns", host: "192.0.2.53", port: 5353 }],
    ["dns:[2001:db8::53]:54", { kind: "dns", host: "2001:db8::53", port: 54 }],
    [" tcp:status.example:443 ", { kind: "tcp", host: "status.example", port: 443 }],
    ["tcp:[2001:db8::1]:443", { kind: "tcp", host: "2001:db8::1", port: 443 }],
  ])("%s", (entry, expected) => expect(parseCanary(entry)).toEqual({ name: entry.trim(), ...expected }));

  test.each([
    "",
    "icmp",
    "icmp:",
    "dns:",
    "dns:name",
    "tcp:host",
    "tcp:host:0",
    "tcp:host:65536",
    "tcp:2001:db8::1:443",
    "http://x",
  ])("refuses %j by its text", (entry) => expect(() => parseCanary(entry)).toThrow(`"${entry}" is not a canary`));

  test("never throws anything else", { timeout: 120_000 }, () => {
    const entry = fc.oneof(
      fc.string(),
      fc
        .tuple(fc.constantFrom("icmp", "dns", "tcp"), fc.string({ unit: fc.constantFrom(..."0123456789abcdef:.[]%x") }))
        .map(([kind, rest]) => `${kind}:${rest}`),
    );
    assertProperty(
      fc.property(entry, (text) => {
        try {
          const { port } = parseCanary(text);
          mustEqual(port >= 0 && port <= 65_535, true);
        } catch (error) {
          must(error instanceof CanaryError, String(error));
        }
      }),
      { numRuns: 100_000 },
    );
  });
});

describe("gatewaysOf", () => {
  const HEAD = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
  test("reads default routes only", () => {
    const routes = `${HEAD}eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\neth0\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\nwg0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0\n`;
    expect(gatewaysOf(routes)).toEqual(["192.168.1.1"]);
  });

  test("takes any text", () => {
    assertProperty(
      fc.property(fc.string(), (text) => Array.isArray(gatewaysOf(HEAD + text))),
      { numRuns: 20_000 },
    );
    expect(gatewaysOf("")).toEqual([]);
  });
});

test("findCanaries: the settings' own, or gateway and resolvers", async () => {
  expect(await findCanaries({ ...ENGINE, canaries: [] }, ["192.0.2.53"])).toEqual([]);
  expect((await findCanaries({ ...ENGINE, canaries: ["tcp:a:1"] }, [])).map(({ name }) => name)).toEqual(["tcp:a:1"]);
  expect((await findCanaries(ENGINE, ["192.0.2.53"])).map(({ name }) => name)).toContain("dns:192.0.2.53");
  const own = await findCanaries({ ...ENGINE, resolvers: ["192.0.2.54:5353"] }, ["192.0.2.53"]);
  expect(own.map(({ name }) => name)).toContain("dns:192.0.2.54:5353");
  expect(own.map(({ name }) => name)).not.toContain("dns:192.0.2.53");
});

test("asks real peers, past the guard, and again soon when one is silent", async () => {
  const dns = createSocket("udp4");
  let isSilent = false;
  dns.on("message", (message, peer) => {
    const { id, questions } = dnsPacket.decode(message);
    const answer = dnsPacket.encode({ type: "response", id: id ?? 0, flags: 0, questions: questions ?? [] });
    if (!isSilent) dns.send(answer, peer.port, peer.address);
  });
  const tcp = createServer((socket) => socket.destroy());
  const addresses = [`dns:127.0.0.1:${await bind(dns)}`, `tcp:127.0.0.1:${await listen(tcp)}`];
  const reports: CanaryReport[] = [];
  let wake = () => {};
  const watch = watchCanaries({
    canaries: addresses.map(parseCanary),
    engine: { ...ENGINE, allowNets: [] },
    onReport: (report) => {
      reports.push(report);
      wake();
    },
  });
  open.push(
    () => watch.close(),
    () => dns.close(),
    () => tcp.close(),
  );
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve) => {
      wake = () => {
        if (holds()) resolve();
      };
      wake();
    });
  const failures = (kind: string) => reports.filter((report) => report.kind === kind && !report.reached).length;
  await until(() => reports.length >= 2);
  expect(reports.every(({ reached, isFar }) => reached && !isFar)).toBe(true);
  isSilent = true;
  tcp.close();
  await new Promise((resolve) => tcp.once("close", resolve));
  watch.ask();
  await until(() => failures("dns") >= 2 && failures("tcp") >= 2);
  isSilent = false;
  await until(() => reports.at(-1)?.kind === "dns" && reports.at(-1)?.reached === true);
});
