/** The native sweep and its twin under one suite. */

import { readdirSync } from "node:fs";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { classify } from "../net/classify.ts";
import { DeadlinePassed, NetworkFault } from "../net/fault.ts";
import { type ConnectTimer, createConnectTimer } from "./connect-time.ts";
import { closedPort, openBlackHole, openTcpPeer, type Peer } from "./peers.suite.ts";
import { connectTime as nodeConnectTime } from "./stream.ts";
import type { Address, DialContext, Transport } from "./transport.ts";

const LOOPBACK: Address = { ip: "127.0.0.1", family: 4 };
const LOOPBACK6: Address = { ip: "::1", family: 6 };

function contextOf(signal: AbortSignal = new AbortController().signal): DialContext & { readonly seen: string[] } {
  const seen: string[] = [];
  return { signal, seen, phase: () => {}, answered: () => {}, tried: (address) => seen.push(address) };
}

function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

async function codeOf(connecting: Promise<unknown>): Promise<unknown> {
  return connecting.then(
    () => "connected",
    (error) => error.code,
  );
}

describe.each(["native", "node"] as const)("%s", (way) => {
  let timer: ConnectTimer;
  let connectTime: Transport["connectTime"];
  const peers: Peer[] = [];

  beforeAll(async () => {
    timer = createConnectTimer();
    if (way === "native") expect(await timer.ready()).toBe("native");
    connectTime = way === "native" ? timer.connectTime : nodeConnectTime;
  });
  afterAll(() => timer.close());
  afterEach(async () => {
    for (const peer of peers.splice(0)) await peer.close();
  });

  async function target(host = "127.0.0.1", onSocket?: (socket: Socket) => void): Promise<number> {
    const peer = await openTcpPeer(onSocket, host);
    peers.push(peer);
    return peer.port;
  }

  it.each([LOOPBACK, LOOPBACK6])("connects to $ip and says how long it took", async (address) => {
    const port = await target(address.ip);
    const context = contextOf();
    const time = await connectTime([address], port, context);
    expect(time.address).toEqual(address);
    expect(time.connectMs).toBeGreaterThan(0);
    expect(context.seen).toEqual([address.family === 4 ? `127.0.0.1:${port}` : `[::1]:${port}`]);
  });

  it("closes by reset", async () => {
    const codes: unknown[] = [];
    const port = await target("127.0.0.1", (socket) => {
      socket
        .on("error", (error) => codes.push("code" in error ? error.code : error))
        .on("end", () => codes.push("end"));
      socket.resume();
    });
    await connectTime([LOOPBACK], port, contextOf());
    await expect.poll(() => codes).toEqual(["ECONNRESET"]);
  });

  it("gives Node's errors", async () => {
    const port = await closedPort();
    const error = await connectTime([LOOPBACK], port, contextOf()).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "ECONNREFUSED", syscall: "connect", address: "127.0.0.1", port });
    expect(error.message).toBe(`connect ECONNREFUSED 127.0.0.1:${port}`);
    expect(classify(error, "connect").verdict).toBe("refused");
    // A broadcast address without SO_BROADCAST; TCP knows none anyway.
    expect(await codeOf(connectTime([{ ip: "255.255.255.255", family: 4 }], port, contextOf()))).toBe("ENETUNREACH");
  });

  it("counts a connection that is reset at once as standing", async () => {
    const port = await target("127.0.0.1", (socket) => socket.resetAndDestroy());
    const times = await Promise.allSettled(
      Array.from({ length: 50 }, () => connectTime([LOOPBACK], port, contextOf())),
    );
    const codes = times.map((time) => (time.status === "fulfilled" ? "connected" : time.reason.code));
    // Node reports a reset that came before its callback; the kernel knows that the handshake was over.
    for (const code of codes) expect(["connected", "ECONNRESET"]).toContain(code);
    if (way === "native") expect(new Set(codes)).toEqual(new Set(["connected"]));
  });

  it("goes on to the next address when one refuses", async () => {
    const port = await target("127.0.0.1");
    const context = contextOf();
    const time = await connectTime([LOOPBACK6, LOOPBACK], port, context);
    expect(time.address).toEqual(LOOPBACK);
    expect(context.seen).toEqual([`[::1]:${port}`, `127.0.0.1:${port}`, `127.0.0.1:${port}`]);
  });

  it("tells all faults when no address connects", async () => {
    const port = await closedPort();
    const error = await connectTime([LOOPBACK, LOOPBACK6], port, contextOf()).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(AggregateError);
    expect(error.errors.map((each: { code: string }) => each.code)).toEqual(["ECONNREFUSED", "ECONNREFUSED"]);
    expect(classify(error, "connect").verdict).toBe("refused");
  });

  it("has nothing to do without an address", async () => {
    await expect(connectTime([], 80, contextOf())).rejects.toMatchObject({ verdict: "unresolved" });
  });

  it("ends with the check, and leaves no descriptor behind", async () => {
    const silent = await openBlackHole();
    await connectTime([LOOPBACK], await target(), contextOf());
    const before = openDescriptors();
    const checks = Array.from({ length: 20 }, () => new AbortController());
    const connecting = checks.map(({ signal }) =>
      connectTime([LOOPBACK, LOOPBACK], silent.port, contextOf(signal)).catch((error) => error),
    );
    // One half before it listens for the abort, the other while it does.
    for (const check of checks.slice(10)) check.abort(new NetworkFault("cancelled", "stopping"));
    await delay(30);
    for (const check of checks) check.abort(new DeadlinePassed());
    const verdicts = (await Promise.all(connecting)).map((error) => classify(error, "connect").verdict);
    expect(verdicts).toEqual([...Array(10).fill("timeout"), ...Array(10).fill("cancelled")]);
    await expect(connectTime([LOOPBACK], silent.port, contextOf(AbortSignal.abort()))).rejects.toThrow("deadline");
    await expect.poll(openDescriptors).toBeLessThanOrEqual(before);
    await silent.close();
  });

  it("takes the address that answers when an earlier one is silent", async () => {
    const silent = await openBlackHole();
    peers.push(await openTcpPeer(undefined, "::1", silent.port));
    const time = await connectTime([LOOPBACK, LOOPBACK6], silent.port, contextOf());
    expect(time.address).toEqual(LOOPBACK6);
    await silent.close();
  });

  it("leaves no descriptor behind after a thousand connects of every kind", async () => {
    const port = await target();
    const closed = await closedPort();
    await connectTime([LOOPBACK], port, contextOf());
    await expect.poll(() => peers.length).toBe(1);
    const before = openDescriptors();
    for (let round = 0; round < 5; round++) {
      const all = Array.from({ length: 200 }, (_, index) =>
        codeOf(connectTime([index % 5 === 0 ? LOOPBACK6 : LOOPBACK], index % 2 === 0 ? port : closed, contextOf())),
      );
      expect(new Set(await Promise.all(all))).toEqual(new Set(["connected", "ECONNREFUSED"]));
    }
    await expect.poll(openDescriptors).toBeLessThanOrEqual(before);
  });
});
