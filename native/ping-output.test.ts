import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must, mustEqual } from "../testkit/must.ts";
import { property } from "../testkit/property.ts";
import { parsePingOutput } from "./ping-output.ts";

const IPUTILS = `PING 127.0.0.1 (127.0.0.1) 56(84) bytes of data.
64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.042 ms
64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.9 ms (DUP!)
64 bytes from 127.0.0.1: icmp_seq=3 ttl=64 time=12.5 ms

--- 127.0.0.1 ping statistics ---
3 packets transmitted, 2 received, +1 duplicates, 33.3333% packet loss, time 402ms
rtt min/avg/max/mdev = 0.042/6.271/12.500/0.002 ms
`;
const BUSYBOX = `PING ::1 (::1): 56 data bytes
64 bytes from ::1: seq=0 ttl=64 time=0.081 ms
64 bytes from ::1: seq=1 ttl=64 time=0.120 ms

--- ::1 ping statistics ---
2 packets transmitted, 2 packets received, 0% packet loss
round-trip min/avg/max = 0.081/0.100/0.120 ms
`;

describe("what ping prints", () => {
  it("of iputils", () => {
    expect(parsePingOutput(IPUTILS)).toEqual({ transmitted: 3, roundTripsMs: [0.042, 12.5], problem: null });
  });

  it("of BusyBox", () => {
    expect(parsePingOutput(BUSYBOX)).toEqual({ transmitted: 2, roundTripsMs: [0.081, 0.12], problem: null });
  });

  it.each([
    ["From 10.9.0.1 icmp_seq=1 Destination Host Unreachable", "host-unreachable"],
    ["From 10.9.0.1 icmp_seq=1 Destination Net Unreachable", "network-unreachable"],
    ["From 10.9.0.1 icmp_seq=2 Time to live exceeded", "host-unreachable"],
    ["From 10.9.0.1 icmp_seq=2 Packet filtered", "host-unreachable"],
    ["From fd09::1: icmp_seq=1 Destination unreachable: No route", "network-unreachable"],
    ["From fd09::1 icmp_seq=1 Destination unreachable: Address unreachable", "host-unreachable"],
    ["From fd09::1 icmp_seq=1 Destination unreachable: Administratively prohibited", "host-unreachable"],
    ["ping: connect: Network is unreachable", "network-unreachable"],
    ["ping: sendmsg: No route to host", "host-unreachable"],
    ["ping: socket: Operation not permitted", "not-permitted"],
    ["ping: permission denied (are you root?)", "not-permitted"],
    ["ping: unknown host example", null],
  ])("%s", (line, problem) => {
    expect(parsePingOutput(`${line}\n`)).toEqual({ transmitted: null, roundTripsMs: [], problem });
  });
});

/** Lines of real output with characters changed, and any text. */
const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc
    .tuple(
      fc.constantFrom(...IPUTILS.split("\n"), ...BUSYBOX.split("\n")),
      fc.array(fc.tuple(fc.nat(80), fc.string({ maxLength: 3 })), { maxLength: 3 }),
    )
    .map(([line, changes]) =>
      changes.reduce((text, [at, piece]) => text.slice(0, at) + piece + text.slice(at + 1), line),
    ),
);

describe("any text", () => {
  property([fc.array(hostile, { maxLength: 4 })], { numRuns: 100_000 })("gives finite numbers", (lines) => {
    const { transmitted, roundTripsMs } = parsePingOutput(lines.join("\n"));
    mustEqual(transmitted === null || Number.isSafeInteger(transmitted), true);
    must(roundTripsMs.length <= lines.join("\n").split("\n").length, "there are more round trips than lines");
    for (const ms of roundTripsMs) mustEqual(ms >= 0 && ms < 1e9, true);
  });

  it("of any length is read in time that grows with it", () => {
    const endless = `64 bytes from x: icmp_seq=1 ${"time=".repeat(50_000)}\n`.repeat(20);
    expect(parsePingOutput(endless).roundTripsMs).toEqual([]);
  });
});
