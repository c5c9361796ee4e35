import { describe, expect, it } from "vitest";
import type { Outcome } from "../contract/probe.ts";
import { classify } from "../net/classify.ts";
import { NetworkFault } from "../net/fault.ts";
import { createPing } from "../transport/icmp.ts";
import { createTransport } from "../transport/index.ts";
import { makeCheck } from "../transport/peers.suite.ts";
import type { Address, PingOptions, PingReport, Transport } from "../transport/transport.ts";
import { ping } from "./ping.ts";

const probe = await ping.load();

const V4: Address = { ip: "192.0.2.1", family: 4 };
const V6: Address = { ip: "2001:db8::1", family: 6 };

type Answer = readonly number[] | Error;

/** A network in which each address answers as it is told. */
function network(addresses: readonly Address[], answers: Readonly<Record<string, Answer>>) {
  const asked: { readonly address: Address; readonly options: PingOptions }[] = [];
  const transport: Partial<Transport> = {
    resolve: () => Promise.resolve(addresses),
    ping(address, options): Promise<PingReport> {
      asked.push({ address, options });
      const answer = answers[address.ip] ?? [];
      if (answer instanceof Error) return Promise.reject(answer);
      return Promise.resolve({ sent: options.count, roundTripsMs: answer, method: "icmp-raw" });
    },
  };
  return { asked, check: makeCheck(transport as Transport) };
}

async function run(check: ReturnType<typeof makeCheck>, settings: Record<string, unknown> = {}): Promise<Outcome> {
  try {
    return await probe.run(ping.settings.parse({ host: "h.dev", ...settings }), check.context);
  } catch (error) {
    return classify(error, "request");
  }
}

describe("a host", () => {
  it("that answers is healthy, with the average round trip as latency", async () => {
    const { asked, check } = network([V4], { [V4.ip]: [10, 20, 60] });
    expect(await run(check)).toEqual({ verdict: "ok", latencyMs: 30 });
    expect(check.phases).toEqual(["resolve", "request"]);
    expect(asked).toEqual([{ address: V4, options: { count: 3, spacingMs: 200, replyTimeoutMs: expect.any(Number) } }]);
    // 10 s are the rig's; two gaps and the margin go off.
    expect(asked[0]?.options.replyTimeoutMs).toBeGreaterThan(9_000);
    expect(asked[0]?.options.replyTimeoutMs).toBeLessThanOrEqual(9_550);
  });

  it("that answers once of three is healthy", async () => {
    expect(await run(network([V4], { [V4.ip]: [7.5] }).check)).toEqual({ verdict: "ok", latencyMs: 7.5 });
  });

  it("that is silent times out, and the explanation says how it was asked", async () => {
    const { check } = network([V4], {});
    expect(await run(check)).toEqual({
      verdict: "timeout",
      message: "No answer to 3 echo requests",
      hint: "raw socket",
    });
    expect(check.answers).toBe(0);
  });

  it("that cannot be reached is unreachable", async () => {
    const fault = new NetworkFault("unreachable", "Host unreachable", { hint: "raw socket" });
    expect(await run(network([V4], { [V4.ip]: fault }).check)).toMatchObject({
      verdict: "unreachable",
      message: "Host unreachable",
      hint: "raw socket",
    });
  });

  it("of both families is asked over the second when the first is silent or not to be had", async () => {
    const silent = network([V6, V4], { [V4.ip]: [5] });
    expect(await run(silent.check)).toEqual({ verdict: "ok", latencyMs: 5 });
    expect(silent.asked.map(({ address }) => address)).toEqual([V6, V4]);
    // Half of what is left for the first, all of it for the second.
    expect(silent.asked[0]?.options.replyTimeoutMs).toBeLessThanOrEqual(4_600);
    expect(silent.asked[1]?.options.replyTimeoutMs).toBeGreaterThan(9_000);
    const missing = network([V6, V4], { [V6.ip]: new NetworkFault("unsupported", "no IPv6"), [V4.ip]: [5] });
    expect(await run(missing.check)).toEqual({ verdict: "ok", latencyMs: 5 });
  });

  it("is judged by the family that could be asked", async () => {
    const unsupported = new NetworkFault("unsupported", "no IPv6");
    const unreachable = new NetworkFault("unreachable", "Host unreachable");
    const outcome = (first: Answer, second: Answer) =>
      run(network([V6, V4], { [V6.ip]: first, [V4.ip]: second }).check).then(({ verdict }) => verdict);
    expect(await outcome(unsupported, unreachable)).toBe("unreachable");
    expect(await outcome(unsupported, [])).toBe("timeout");
    expect(await outcome([], unreachable)).toBe("timeout");
    expect(await outcome(unsupported, unsupported)).toBe("unsupported");
  });

  it("is explained with the address whose failure is told", async () => {
    const unreachable = new NetworkFault("unreachable", "Host unreachable");
    const named = async (first: Answer, second: Answer): Promise<string | undefined> => {
      const { check } = network([V6, V4], { [V6.ip]: first, [V4.ip]: second });
      await run(check);
      return check.tried.at(-1);
    };
    expect(await named([], unreachable)).toBe(V6.ip);
    expect(await named(unreachable, [])).toBe(V4.ip);
    expect(await named(unreachable, new NetworkFault("unsupported", "no IPv4"))).toBe(V6.ip);
  });

  it("with many addresses is asked at one of each family", async () => {
    const { asked, check } = network([V4, { ip: "192.0.2.2", family: 4 }, V6, { ip: "2001:db8::2", family: 6 }], {});
    await run(check);
    expect(asked.map(({ address }) => address)).toEqual([V4, V6]);
  });

  it("that may not be reached is not asked", async () => {
    const engine = { ownEndpoints: [], resolvers: [], extraCaPem: null, rdapBootstrapUrl: null, canaries: null };
    const pinger = createPing();
    const check = makeCheck(createTransport({ allowNets: ["127.0.0.2"], ...engine }, { ping: pinger.ping }));
    for (const host of ["10.0.0.1", "127.0.0.1", "::ffff:10.0.0.1", "example.com"]) {
      expect((await run(check, { host })).verdict).toBe("misconfigured");
    }
    expect(check.tried).toEqual([]);
    expect(pinger.method).toBeNull();
    pinger.close();
  });
});

describe("settings", () => {
  const parse = (settings: Record<string, unknown>) => {
    const parsed = ping.settings.safeParse(settings);
    return parsed.success ? parsed.data : parsed.error.issues[0]?.message;
  };

  it("drop what they do not know and parse twice the same", () => {
    const parsed = parse({ host: " h.dev ", port: 1, ip_version: "ipv6" });
    expect(parsed).toEqual({ host: "h.dev", ip_version: "ipv6" });
    expect(parse({ ...Object(parsed) })).toEqual(parsed);
  });

  it.each<[Record<string, unknown>, string]>([
    [{}, "Missing or invalid host"],
    [{ host: 5 }, "Missing or invalid host: host must be a name or an address, without a scheme, a port or a path."],
    [{ host: "" }, "Missing or invalid host: host must be a name or an address, without a scheme, a port or a path."],
    [
      { host: "-c 1 h.dev" },
      "Missing or invalid host: host must be a name or an address, without a scheme, a port or a path.",
    ],
    [
      { host: "http://h.dev" },
      "Missing or invalid host: host must be a name or an address, without a scheme, a port or a path.",
    ],
    [{ host: "h.dev", ip_version: "both" }, "ip_version must be ipv4, ipv6 or null."],
  ])("%j: %s", (settings, message) => {
    expect(parse(settings)).toBe(message);
  });
});
