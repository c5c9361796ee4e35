/** Each way to ping that this machine allows, under one suite; test/ping-ways.test.ts brings the others in a namespace. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SystemPingService, startSystemPingService } from "../../native/system-ping.ts";
import { describeWith, insteadOf } from "../../test/prerequisites.ts";
import { classify } from "../net/classify.ts";
import { createPing, type Ping, type PingMethod } from "./icmp.ts";
import { makeCheck } from "./peers.suite.ts";
import type { Address, Transport } from "./transport.ts";

const LOOPBACK: Address = { ip: "127.0.0.1", family: 4 };
const LOOPBACK6: Address = { ip: "::1", family: 6 };
const OPTIONS = { count: 3, spacingMs: 5, replyTimeoutMs: 5_000 };

/** A check that needs no transport. */
function check() {
  return makeCheck({} as Transport);
}

let service: SystemPingService;
beforeAll(() => {
  service = startSystemPingService();
});
afterAll(() => service.close());

const allowed: PingMethod[] = [];
for (const method of ["icmp-datagram", "icmp-raw"] as const) {
  const ping = createPing([method]);
  if ((await ping.ready()) === method) allowed.push(method);
  ping.close();
}

function suiteOf(method: PingMethod): void {
  let ping: Ping;

  beforeAll(async () => {
    ping = createPing([method]);
    expect(await ping.ready()).toBe(method);
  });
  afterAll(() => ping.close());

  it.each([LOOPBACK, LOOPBACK6])("measures every round trip to $ip", async (address) => {
    const { context, tried } = check();
    const report = await ping.ping(address, OPTIONS, context);
    expect(report).toEqual({
      sent: 3,
      roundTripsMs: [expect.any(Number), expect.any(Number), expect.any(Number)],
      method,
    });
    for (const ms of report.roundTripsMs) {
      expect(ms).toBeGreaterThan(0);
      expect(ms).toBeLessThan(1_000);
    }
    expect(tried).toEqual([address.ip]);
  });

  it("tells the check that the target has answered", async () => {
    const rig = check();
    await ping.ping(LOOPBACK, { ...OPTIONS, count: 1 }, rig.context);
    expect(rig.answers).toBe(1);
  });

  it("keeps many pings in flight apart", async () => {
    const addresses = Array.from({ length: 40 }, (_, index) => ({ ip: `127.0.1.${index + 1}`, family: 4 as const }));
    const reports = await Promise.all(addresses.map((address) => ping.ping(address, OPTIONS, check().context)));
    for (const report of reports) expect(report.roundTripsMs).toHaveLength(3);
  });

  it("says that an address cannot be reached", async () => {
    // Class E (RFC 1112 section 4): the kernel has no route to it.
    const error = await ping
      .ping({ ip: "255.255.255.255", family: 4 }, OPTIONS, check().context)
      .catch((thrown) => thrown);
    expect(["unreachable", "unfit", "unsupported"]).toContain(classify(error, "request").verdict);
  });

  it("ends with the check", async () => {
    const rig = check();
    const pinging = ping.ping(LOOPBACK, { count: 3, spacingMs: 60_000, replyTimeoutMs: 60_000 }, rig.context);
    rig.expire();
    const error = await pinging.catch((thrown) => thrown);
    expect(classify(error, "request").verdict).toBe("timeout");
    const late = check();
    late.expire();
    await expect(ping.ping(LOOPBACK, OPTIONS, late.context)).rejects.toThrow("deadline");
  });
}

for (const method of allowed) describe(method, () => suiteOf(method));
describeWith(["system ping"], "system-ping", () => suiteOf("system-ping"));

if (allowed.length === 0)
  insteadOf("ICMP sockets", "this needs root, CAP_NET_RAW or an open net.ipv4.ping_group_range");

describe.each(allowed)("%s", (method) => {
  it("carries thousands of echoes at once", async () => {
    const ping = createPing([method]);
    const reports = await Promise.all(
      Array.from({ length: 2_000 }, (_, index) =>
        ping.ping(
          { ip: `127.0.${index % 250}.${1 + (index >> 8)}`, family: 4 },
          { ...OPTIONS, count: 2 },
          check().context,
        ),
      ),
    );
    expect(reports.flatMap(({ roundTripsMs }) => roundTripsMs)).toHaveLength(4_000);
    ping.close();
  });
});

describe("without any way", () => {
  it("the check says what would help", async () => {
    const ping = createPing([]);
    expect(await ping.ready()).toBeNull();
    expect(ping.method).toBeNull();
    const error = await ping.ping(LOOPBACK, OPTIONS, check().context).catch((thrown) => thrown);
    expect(classify(error, "request")).toMatchObject({
      verdict: "unsupported",
      message: "This checker cannot send pings",
      hint: expect.stringContaining("ping_group_range"),
    });
    ping.close();
  });
});
