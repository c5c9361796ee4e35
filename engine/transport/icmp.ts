/**
 * Pings, by the first method that works on this machine. The methods are tried in this order at the first ping, and again after one fails.
 *
 * 1. `icmp-datagram`: unprivileged sockets, where net.ipv4.ping_group_range lets this process.
 * 2. `icmp-raw`: with CAP_NET_RAW.
 * 3. `system-ping`: the system's own program, run by the main thread (native/system-ping.ts).
 */
import type { IcmpSocketKind } from "../../native/icmp-socket.ts";
import { loadLibc } from "../../native/libc.ts";
import { openReadiness } from "../../native/readiness.ts";
import { openSystemPing, type SystemPing } from "../../native/system-ping.ts";
import { faultOfAbort, NetworkFault } from "../net/fault.ts";
import { ourOwnWay } from "./connect-race.ts";
import { EchoSockets } from "./echo-sockets.ts";
import { METHOD_WORDS, PingRun } from "./ping-run.ts";
import type { Address, DialContext, PingOptions, PingReport } from "./transport.ts";

export type PingMethod = PingReport["method"];

export interface Ping {
  /** @throws NetworkFault `unreachable` when nothing answered and ICMP said why, `unsupported` when there is no way to ping here */
  ping(address: Address, options: PingOptions, context: DialContext): Promise<PingReport>;
  /** Null until the first ping, and while no way works. */
  readonly method: PingMethod | null;
  /** Finds the way now. */
  ready(): Promise<PingMethod | null>;
  close(): void;
}

/** While no way works, it is looked for at most this often; a way that failed is tried again no sooner, ms. */
const LOOK_AGAIN_AFTER_MS = 10_000;

const HOW_TO_ALLOW =
  "open net.ipv4.ping_group_range to this process's group, give it CAP_NET_RAW, or install the system's ping";

type Way =
  | { readonly method: "icmp-datagram" | "icmp-raw"; readonly sockets: EchoSockets }
  | { readonly method: "system-ping"; readonly system: SystemPing };

/** @param only the ways to try, for tests; all of them by default */
export function createPing(only: readonly PingMethod[] = ["icmp-datagram", "icmp-raw", "system-ping"]): Ping {
  const failedAtMs = new Map<PingMethod, number>();
  let way: Way | null = null;
  let looking: Promise<Way | null> | null = null;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let isOpen = true;

  function isLongAgo(atMs: number | undefined): boolean {
    return atMs === undefined || performance.now() - atMs >= LOOK_AGAIN_AFTER_MS;
  }
  function look(): Promise<Way | null> {
    if (way !== null) return Promise.resolve(way);
    if (looking === null && !isLongAgo(lookedAtMs)) return Promise.resolve(null);
    looking ??= find(only.filter((method) => isLongAgo(failedAtMs.get(method)))).then((found) => {
      looking = null;
      lookedAtMs = performance.now();
      if (isOpen) way = found;
      else closeWay(found);
      return way;
    });
    return looking;
  }
  /** The way no longer works: the next ping looks for another, and for this one a while later. */
  function drop(failed: Way): void {
    if (way !== failed) return;
    failedAtMs.set(way.method, performance.now());
    lookedAtMs = Number.NEGATIVE_INFINITY;
    closeWay(way);
    way = null;
  }

  return {
    async ping(address, options, context) {
      const found = way ?? (await look());
      if (found === null) throw noWay();
      context.tried(address.ip);
      try {
        return await (found.method === "system-ping"
          ? pingBySystem(found.system, address, options, context)
          : new PingRun(found.sockets, found.method, address, options, context).start());
      } catch (error) {
        if (isNoLongerAllowed(error)) drop(found);
        throw error instanceof Error ? ourOwnWay(error, address) : error;
      }
    },
    get method() {
      return way?.method ?? null;
    },
    async ready() {
      return (await look())?.method ?? null;
    },
    close() {
      isOpen = false;
      closeWay(way);
      way = null;
    },
  };
}

async function find(among: readonly PingMethod[]): Promise<Way | null> {
  const libc = loadLibc();
  const readiness = libc === null ? null : await openReadiness(libc);
  if (libc !== null && readiness !== null) {
    for (const [method, kind] of SOCKET_WAYS) {
      const sockets = among.includes(method) ? EchoSockets.open(libc, readiness, kind) : null;
      if (sockets !== null) return { method, sockets };
    }
    readiness.close();
  }
  if (!among.includes("system-ping")) return null;
  const system = openSystemPing();
  if (await system.isThere()) return { method: "system-ping", system };
  system.close();
  return null;
}

const SOCKET_WAYS: readonly (readonly ["icmp-datagram" | "icmp-raw", IcmpSocketKind])[] = [
  ["icmp-datagram", "datagram"],
  ["icmp-raw", "raw"],
];

async function pingBySystem(
  system: SystemPing,
  address: Address,
  { count, spacingMs, replyTimeoutMs }: PingOptions,
  context: DialContext,
): Promise<PingReport> {
  const request = { ip: address.ip, family: address.family, count, spacingMs, replyTimeoutMs };
  const answer = await system.run(request, context.signal).catch(() => {
    throw faultOfAbort(context.signal);
  });
  if (answer.type === "busy")
    throw new NetworkFault("unfit", "This checker has too many pings waiting for the system's ping");
  if (answer.type === "broken") throw new SystemPingBroken(answer.reason);
  if (answer.type === "failed") {
    throw new NetworkFault("unsupported", `This checker cannot ping ${address.ip}: ${answer.reason}`);
  }
  const { roundTripsMs, transmitted, problem } = answer.output;
  if (roundTripsMs.length > 0) context.answered();
  else if (problem !== null) {
    const words = problem === "network-unreachable" ? "Network unreachable" : "Host unreachable";
    throw new NetworkFault("unreachable", words, { hint: METHOD_WORDS["system-ping"] });
  }
  const inTime = roundTripsMs.filter((ms) => ms <= replyTimeoutMs);
  return { sent: transmitted ?? count, roundTripsMs: inTime, method: "system-ping" };
}

/** The system's ping could not be run, or may not open a socket either. */
class SystemPingBroken extends NetworkFault {
  constructor(reason: string) {
    super("unsupported", `This checker cannot send pings: ${reason}`, { hint: HOW_TO_ALLOW });
  }
}

function noWay(): NetworkFault {
  return new NetworkFault("unsupported", "This checker cannot send pings", { hint: HOW_TO_ALLOW });
}

/** A socket that was allowed once and is not any more, as the second family's may be; EACCES comes from connecting, too. */
function isNoLongerAllowed(error: unknown): boolean {
  if (error instanceof SystemPingBroken) return true;
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return false;
  return error.syscall === "socket" && (error.code === "EACCES" || error.code === "EPERM");
}

function closeWay(way: Way | null): void {
  if (way?.method === "system-ping") way.system.close();
  else way?.sockets.close();
}
