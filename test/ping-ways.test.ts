/** The three ways to ping, each where only it is allowed, in network namespaces of their own; and replies that are not ours. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import type { PingMethod } from "../engine/transport/icmp.ts";
import type { Address, PingReport } from "../engine/transport/transport.ts";
import { describeWith } from "./prerequisites.ts";

const FIXTURE = fileURLToPath(new URL("./fixtures/ping-in-namespace.mjs", import.meta.url));
const LOOPBACK: Address = { ip: "127.0.0.1", family: 4 };
const LOOPBACK6: Address = { ip: "::1", family: 6 };
/** No host answers ARP or neighbour discovery for the first two; the third has a neighbour entry, so packets vanish. */
const UNREACHABLE: Address = { ip: "10.9.0.9", family: 4 };
const UNREACHABLE6: Address = { ip: "fd09::9", family: 6 };
const SILENT: Address = { ip: "10.9.0.7", family: 4 };
const NO_ROUTE: Address = { ip: "203.0.113.1", family: 4 };

/** A namespace with a veth pair whose far end no host uses; the given command runs in it. */
const IN_NAMESPACE = `
  ip link set lo up
  ip link add v0 type veth peer name v1
  ip addr add 10.9.0.1/24 dev v0
  ip addr add fd09::1/64 dev v0 nodad
  ip link set v1 up
  ip link set v0 up
  ip neigh add 10.9.0.7 lladdr 02:00:00:00:00:07 dev v0
  sysctl -qw net.ipv4.ping_group_range="$GROUPS_ALLOWED"
  sysctl -qw net.ipv4.icmp_echo_ignore_all="$KERNEL_SILENT"
  exec "$@"`;

const UNPRIVILEGED = [
  "setpriv",
  "--reuid",
  "65534",
  "--regid",
  "65534",
  "--clear-groups",
  "--inh-caps=-all",
  "--ambient-caps=-all",
];

interface Given {
  readonly addresses: readonly Address[];
  readonly options?: { readonly count: number; readonly spacingMs: number; readonly replyTimeoutMs: number };
  readonly only?: readonly PingMethod[];
  readonly inWorker?: boolean;
  readonly responder?: "twice" | "foreign" | "late";
}

interface Said {
  readonly method: PingMethod | null;
  readonly outcomes: readonly (Partial<PingReport> & { readonly verdict?: string; readonly message?: string })[];
}

async function pingIn(
  machine: { group: "open" | "closed"; user: "root" | "unprivileged" },
  setup: Given,
): Promise<Said> {
  const options = { count: 3, spacingMs: 20, replyTimeoutMs: 8_000, ...setup.options };
  const command = [process.execPath, FIXTURE, JSON.stringify({ ...setup, options })];
  const whole = machine.user === "root" ? command : [...UNPRIVILEGED, ...command];
  const child = spawn("unshare", ["-n", "sh", "-ec", IN_NAMESPACE, "sh", ...whole], {
    env: {
      PATH: process.env.PATH,
      GROUPS_ALLOWED: machine.group === "open" ? "0 2147483647" : "1 0",
      KERNEL_SILENT: setup.responder === undefined ? "0" : "1",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  if (stdout === "") throw new Error(`the namespace said nothing: ${stderr}`);
  return JSON.parse(stdout) as Said;
}

beforeAll(() => {
  if (!existsSync(new URL("../dist/engine/transport/icmp.js", import.meta.url))) {
    throw new Error("dist is missing: run `npm run build` first");
  }
});

describeWith(["network namespaces", "unshare", "setpriv", "system ping"], "ways to ping", () => {
  const threeRoundTrips = [expect.any(Number), expect.any(Number), expect.any(Number)];

  describe.each([
    ["icmp-datagram", { group: "open", user: "unprivileged" }],
    ["icmp-raw", { group: "closed", user: "root" }],
    ["system-ping", { group: "closed", user: "unprivileged" }],
  ] as const)("%s is found where it is what is allowed", (method, machine) => {
    it.each([false, true])("and measures both families (in a worker: %s)", async (inWorker) => {
      const { method: found, outcomes } = await pingIn(machine, { addresses: [LOOPBACK, LOOPBACK6], inWorker });
      expect(found).toBe(method);
      const answered = { sent: 3, roundTripsMs: threeRoundTrips, method };
      expect(outcomes).toEqual([answered, answered]);
    });

    it("tells unreachable from silent", async () => {
      const addresses = [UNREACHABLE, UNREACHABLE6, NO_ROUTE];
      const { outcomes } = await pingIn(machine, { addresses });
      expect(outcomes.map(({ verdict, message }) => [verdict, message])).toEqual([
        ["unreachable", "Host unreachable"],
        ["unreachable", "Host unreachable"],
        ["unreachable", "Network unreachable"],
      ]);
      const silent = await pingIn(machine, {
        addresses: [SILENT],
        options: { count: 2, spacingMs: 20, replyTimeoutMs: 500 },
      });
      expect(silent.outcomes).toEqual([{ sent: 2, roundTripsMs: [], method }]);
    });
  });

  it("the unprivileged way comes first, for root too", async () => {
    const { method } = await pingIn({ group: "open", user: "root" }, { addresses: [LOOPBACK] });
    expect(method).toBe("icmp-datagram");
  });

  describe.each(["icmp-datagram", "icmp-raw"] as const)("%s", (method) => {
    const machine = { group: "open", user: "root" } as const;
    const options = { count: 2, spacingMs: 10, replyTimeoutMs: 200 };

    it("counts a reply that comes twice once", async () => {
      const { outcomes } = await pingIn(machine, {
        addresses: [LOOPBACK],
        only: [method],
        responder: "twice",
        options,
      });
      expect(outcomes[0]?.roundTripsMs).toHaveLength(2);
    });

    it("takes no reply with another token, number, identifier or checksum, or one cut short", async () => {
      const { outcomes } = await pingIn(machine, {
        addresses: [LOOPBACK],
        only: [method],
        responder: "foreign",
        options,
      });
      expect(outcomes).toEqual([{ sent: 2, roundTripsMs: [], method }]);
    });

    it("takes no reply that comes too late", async () => {
      const { outcomes } = await pingIn(machine, { addresses: [LOOPBACK], only: [method], responder: "late", options });
      expect(outcomes).toEqual([{ sent: 2, roundTripsMs: [], method }]);
    });
  });
});
