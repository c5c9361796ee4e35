import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must } from "../../testkit/must.ts";
import { assertProperty } from "../../testkit/property.ts";
import { askable, textOf } from "../tunnels/inner-probe.ts";
import {
  MOST_NAME_SERVERS,
  parseTunnelTarget,
  STANDARD_TUNNEL_TARGETS,
  TunnelTargetError,
  targetsOf,
} from "./tunnel-targets.ts";

const words = (entries: readonly ReturnType<typeof parseTunnelTarget>[]) =>
  entries.map(({ kind, address, port }) => `${kind} ${textOf(address)} ${port}`);

describe("SONDE_TUNNEL_TARGETS", () => {
  it.each([
    ["icmp:1.1.1.1", "icmp 1.1.1.1 0"],
    ["dns:9.9.9.9", "dns 9.9.9.9 53"],
    ["dns:9.9.9.9:5353", "dns 9.9.9.9 5353"],
    ["tcp:1.1.1.1:443", "tcp 1.1.1.1 443"],
    [" tcp:[2606:4700::1111]:443 ", "tcp 2606:4700::1111 443"],
    ["icmp:2606:4700::1111", "icmp 2606:4700::1111 0"],
    ["dns:[fd00::1]", "dns fd00::1 53"],
  ])("takes %j", (entry, expected) => {
    expect(words([parseTunnelTarget(entry)])).toEqual([expected]);
  });

  it.each([
    "",
    "icmp:",
    "icmp:1.1.1.1:5",
    "tcp:1.1.1.1",
    "tcp:1.1.1.1:0",
    "tcp:1.1.1.1:70000",
    "http:1.1.1.1",
    "dns:one.one",
    "dns:fe80::1%eth0",
  ])("refuses %j", (entry) => {
    expect(() => parseTunnelTarget(entry)).toThrow(TunnelTargetError);
  });

  it("takes or refuses any text", () => {
    const pieces = fc.constantFrom("icmp", "dns", "tcp", ":", "1.1.1.1", "[", "]", "fd00::1", "443", "%");
    assertProperty(
      fc.property(fc.array(fc.oneof(pieces, fc.string({ maxLength: 3 })), { maxLength: 6 }), (parts) => {
        try {
          const target = parseTunnelTarget(parts.join(""));
          must([4, 16].includes(target.address.length), "the address has another length");
        } catch (error) {
          must(error instanceof TunnelTargetError, String(error));
        }
      }),
      { numRuns: 100_000, interruptAfterTimeLimit: 30_000 },
    );
  }, 60_000);

  it("come after the tunnel's own DNS servers, none twice, and only those of its families are asked", () => {
    const all = targetsOf(["1.1.1.1", "fd00::53", "no address"], STANDARD_TUNNEL_TARGETS.map(parseTunnelTarget));
    expect(words(all)).toEqual([
      "icmp 1.1.1.1 0",
      "dns 1.1.1.1 53",
      "icmp fd00::53 0",
      "dns fd00::53 53",
      "tcp 1.1.1.1 443",
    ]);
    expect(words(askable(all, ["fd00::2"]))).toEqual(["icmp fd00::53 0", "dns fd00::53 53"]);
  });

  it("are the first of the DNS servers only, however many a file or a server names", () => {
    const many = ["9.9.9.9", ...Array.from({ length: 5_000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`)];
    const asked = words(targetsOf(["9.9.9.9", ...many], []));
    expect(asked).toHaveLength(2 * MOST_NAME_SERVERS);
    expect(asked.slice(0, 3)).toEqual(["icmp 9.9.9.9 0", "dns 9.9.9.9 53", "icmp 10.0.0.0 0"]);
  });
});
