/**
 * Canaries: addresses of our own network that show whether it works (docs/decisions/0003-whose-fault.md); by default the gateway and the resolvers. They are
 * configured by the operator, so the address guard does not apply to them. network-fitness.ts judges their results.
 */

import { randomInt } from "node:crypto";
import { getServers } from "node:dns";
import { readFile } from "node:fs/promises";
import { performance } from "node:perf_hooks";
import { withoutBrackets } from "../../model/url.ts";
import type { EngineOptions } from "../contract/options.ts";
import { decodeReply, encodeQuery } from "../protocols/dns/message.ts";
import { createPing } from "../transport/icmp.ts";
import { createTransport, type TransportDeps } from "../transport/index.ts";
import { parseNameServer } from "../transport/name-servers.ts";
import type { Address, DialContext, Transport } from "../transport/transport.ts";
import { type CanaryKind, type CanaryReport, isPrivate } from "./network-fitness.ts";

/** How often canaries are asked when nothing is wrong, ms. */
const ASK_EVERY_MS = 5_000;
/** How long a canary may take to answer, and the pause before one that did not answer is asked again, ms: two failures fit into HOLD_MS of suspect-buffer.ts. */
const ANSWER_TIMEOUT_MS = 500;
const ASK_AGAIN_MS = 200;
/** At the shortest between two askings while targets fail and the canaries answer, ms. */
const ASK_SOONEST_MS = 1_000;

export interface Canary {
  /** As it is written in SONDE_CANARIES. */
  readonly name: string;
  readonly kind: CanaryKind;
  readonly host: string;
  readonly port: number;
}

export interface CanaryWatch {
  readonly names: readonly string[];
  /** Something has failed: asks at once, unless it was asked just now. */
  ask(): void;
  close(): void;
}

export interface CanaryWatchOptions {
  readonly canaries: readonly Canary[];
  readonly engine: EngineOptions;
  readonly ping?: TransportDeps["ping"];
  readonly onReport: (report: CanaryReport) => void;
}

/** An entry of SONDE_CANARIES that cannot be used; the message names it. */
export class CanaryError extends Error {
  override readonly name = "CanaryError";
}

/** `icmp:host`, `dns:ip[:port]`, `tcp:host:port`; IPv6 in brackets where a port follows. */
export function parseCanary(entry: string): Canary {
  const name = entry.trim();
  const separator = name.indexOf(":");
  const kind = name.slice(0, Math.max(0, separator));
  const rest = name.slice(separator + 1);
  if (kind === "icmp" && rest !== "") return { name, kind, host: withoutBrackets(rest), port: 0 };
  if (kind === "dns" && rest !== "") {
    try {
      const { address, port } = parseNameServer(rest);
      return { name, kind, host: address.ip, port };
    } catch {
      throw unusable(entry);
    }
  }
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(rest) ?? [];
  const host = bracketed ?? plain;
  if (kind !== "tcp" || host === undefined || Number(port) < 1 || Number(port) > 65_535) throw unusable(entry);
  return { name, kind, host, port: Number(port) };
}

/** The settings' canaries, or this machine's gateway and resolvers. @throws CanaryError */
export async function findCanaries(
  engine: EngineOptions,
  systemResolvers: readonly string[] = getServers(),
): Promise<Canary[]> {
  if (engine.canaries !== null) return engine.canaries.map(parseCanary);
  const routes = await readFile("/proc/net/route", "utf8").catch(() => "");
  const gateways = gatewaysOf(routes).map((ip) => `icmp:${ip}`);
  const resolvers = (engine.resolvers.length > 0 ? engine.resolvers : systemResolvers).map((ip) => `dns:${ip}`);
  return [...gateways, ...resolvers].map(parseCanary);
}

/** Default gateways of /proc/net/route: `Iface Destination Gateway Flags …`, addresses as hexadecimal in the machine's byte order (proc(5)). */
export function gatewaysOf(routes: string): string[] {
  const found = new Set<string>();
  for (const line of routes.split("\n").slice(1)) {
    const [, destination, gateway] = line.trim().split(/\s+/);
    if (destination !== "00000000" || gateway === undefined || !/^[0-9A-F]{8}$/i.test(gateway)) continue;
    // Both machines we run on (x64, arm64) are little-endian.
    const bytes = [6, 4, 2, 0].map((at) => Number.parseInt(gateway.slice(at, at + 2), 16));
    if (bytes.some((byte) => byte !== 0)) found.add(bytes.join("."));
  }
  return [...found];
}

export function watchCanaries({ canaries, engine, ping, onReport }: CanaryWatchOptions): CanaryWatch {
  const transport = createTransport(engine, {
    guard: {
      judge: () => ({ allowed: true }),
      judgePorts: () => ({ allowed: true }),
      judgeLiteral: () => undefined,
    },
    ping: ping ?? createPing().ping,
  });
  let isAsking = false;
  let isClosed = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  async function askAll(): Promise<void> {
    if (isAsking || isClosed) return;
    isAsking = true;
    askedAt = performance.now();
    const reached = await Promise.all(canaries.map((canary) => askOne(transport, canary, onReport)));
    isAsking = false;
    askIn(reached.includes(false) ? ASK_AGAIN_MS : ASK_EVERY_MS);
  }

  function askIn(delayMs: number): void {
    clearTimeout(timer);
    if (!isClosed) timer = setTimeout(() => void askAll(), delayMs);
  }

  if (canaries.length > 0) void askAll();
  return {
    names: canaries.map(({ name }) => name),
    ask() {
      if (canaries.length === 0 || isAsking) return;
      const sinceMs = performance.now() - askedAt;
      if (sinceMs >= ASK_SOONEST_MS) void askAll();
      else askIn(Math.min(ASK_AGAIN_MS, ASK_SOONEST_MS - sinceMs));
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

async function askOne(
  transport: Transport,
  canary: Canary,
  onReport: (report: CanaryReport) => void,
): Promise<boolean> {
  const context: DialContext = {
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    phase: () => {},
    tried: () => {},
    answered: () => {},
  };
  let isFar = false;
  let reached = false;
  try {
    const [address] = await transport.resolve(canary.host, canary.port, "both", context);
    isFar = address !== undefined && !isPrivate(address.ip);
    reached = address !== undefined && (await ask(transport, canary, address, context));
  } catch {
    // Any error means that the canary was not reached.
  }
  onReport({ name: canary.name, kind: canary.kind, isFar, reached });
  return reached;
}

async function ask(transport: Transport, canary: Canary, address: Address, context: DialContext): Promise<boolean> {
  switch (canary.kind) {
    case "icmp": {
      const report = await transport.ping(
        address,
        { count: 1, spacingMs: 0, replyTimeoutMs: ANSWER_TIMEOUT_MS },
        context,
      );
      return report.roundTripsMs.length > 0;
    }
    case "dns": {
      // Any answer counts. The question is about a root server because every resolver can answer it.
      const query = encodeQuery("a.root-servers.net", "A", randomInt(65_536));
      const accept = (datagram: Uint8Array) => decodeReply(datagram, query);
      await transport.exchangeUdp(address, canary.port, query.bytes, accept, context, { resendAfterMs: [200] });
      return true;
    }
    case "tcp":
      await transport.connectTime([address], canary.port, context);
      return true;
  }
}

function unusable(entry: string): CanaryError {
  return new CanaryError(`"${entry}" is not a canary such as icmp:192.0.2.1, dns:192.0.2.53 or tcp:192.0.2.1:443`);
}
