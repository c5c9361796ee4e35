import { describe, expect, it } from "vitest";
import { NetworkFault } from "../net/fault.ts";
import { anonymousTransport } from "./anonymous.ts";
import { createTransport } from "./index.ts";
import type { DialContext } from "./transport.ts";

const OPTIONS = {
  allowNets: [],
  ownEndpoints: ["9.9.9.9:8080"],
  resolvers: [],
  extraCaPem: null,
  rdapBootstrapUrl: null,
  canaries: null,
};
const context: DialContext = { signal: new AbortController().signal, phase() {}, tried() {}, answered() {} };

function transportWith(fault: NetworkFault) {
  const resolver = { lookup: async () => ({ addresses: [], fault }), close() {} };
  return anonymousTransport(createTransport(OPTIONS, { resolver: resolver as never, isAnonymous: true }));
}

async function wordsOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof NetworkFault ? `${error.verdict}: ${error.message} ${error.hint ?? ""}` : String(error);
}

describe("anonymousTransport", () => {
  const none = transportWith(new NetworkFault("unresolved", "The name a.dev has no IPv4 address"));

  it("refuses own ports, private and loopback addresses in one text without a hint", async () => {
    const texts = new Set<string>();
    for (const [host, port] of [
      ["9.9.9.9", 8_080],
      ["127.0.0.1", 5_432],
      ["10.0.0.1", 443],
      ["fe80::1%eth0", 443],
      ["vpn.example.com", 443],
    ] as const) {
      texts.add(await wordsOf(none.resolve(host, port, "both", context)));
    }
    expect([...texts]).toEqual(["misconfigured: The target is refused: it is private, reserved or for documentation "]);
    expect(() => none.judgePorts("9.9.9.9", 8_000, 9_000)).toThrow(
      "The target is refused: it is private, reserved or for documentation",
    );
    expect(() => none.judgePorts("9.9.9.9", 9_000, 9_100)).not.toThrow();
  });

  it("names neither name servers nor what they said", async () => {
    const silent = new NetworkFault(
      "unresolved",
      "The name a.dev could not be resolved: the DNS servers (10.0.0.53) gave no answer",
    );
    expect(await wordsOf(transportWith(silent).resolve("a.dev", 443, "ipv4", context))).toBe(
      "unresolved: The name has no address ",
    );
    const cut = new NetworkFault("unfit", "This checker's DNS servers (10.0.0.53) do not answer", {
      hint: "resolv.conf",
    });
    expect(await wordsOf(transportWith(cut).resolve("a.dev", 443, "ipv4", context))).toBe(
      "unfit: The checker could not resolve the name ",
    );
  });
});
